// What the tests of the gates share: a row of theirs is a case and its answer.
#pragma once

#include "policy/gates/gates.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/sys/path.hpp"
#include "policy/shapes/shapes_fixture.hpp"

namespace cloche::gates_fixture {

using Words = std::vector<std::string>;

inline const Shapes& shapes() { return shipped_shapes(); }

// What this host has in its root.
inline constexpr const char* top_directories[] = {"/etc", "/run", "/usr", "/var", "/ws"};

// The facts of the case's own words.
inline void look_around(Case& c) {
  c.facts.operands.clear();
  for (const auto& path : paths_to_observe(c.intent, c.ceilings, shapes())) {
    OperandFact fact{.written = path, .resolved = tidied("/ws", path), .kind = FileFact::Kind::file};
    fact.rooted =
        std::ranges::any_of(top_directories, [&](const char* top) { return is_beneath(top, fact.resolved); });
    if (path == "link") fact.resolved = "/etc/passwd";
    if (path == "loop") fact.problem = "it goes through too many links";
    if (path == "pipe") fact.kind = FileFact::Kind::other;
    if (path.starts_with("folder")) fact.kind = FileFact::Kind::directory;
    c.facts.operands.push_back(fact);
  }
}

// The same case with other words.
inline void ask_about(Case& c, Words argv) {
  c.intent.argv = std::move(argv);
  look_around(c);
}

// A command as `cmd`, with paths that lead where they say: /ws is the workspace, "link" leaves it.
inline Case case_of(const std::string& cmd, CommandProfile profile = CommandProfile::passive) {
  Case c;
  c.call.tool = "run_shell";
  c.intent.tool = "run_shell";
  c.intent.form = Intent::Form::text;
  SplitWords split = split_words(cmd);
  c.intent.problem = split.problem;
  c.intent.argv = split.words;
  c.intent.operators = split.operators;
  c.ceilings.commands = c.ceilings.unasked = profile;
  c.ceilings.loadout = std::nullopt;
  c.ceilings.level = Autonomy::supervised;
  c.facts.workspace = "/ws";
  look_around(c);
  return c;
}

}  // namespace cloche::gates_fixture
