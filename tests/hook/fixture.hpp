// The fixture of the hook suite: an agent that calls the hook, and does what it is told.
#pragma once

#include <string>

#include "tools/fixture.hpp"

namespace cloche::test {

// What the hook said to one call.
struct HookSaid {
  Ran ran;
  std::string decision;  // empty: no objection
  std::string reason;
  std::string command;  // what the agent is to run instead
};

class Hook : public Tools {
 protected:
  // Questions and calls of other tests are gone; what was proven of this host is kept.
  Hook();

  fs::path state() const { return fs::path(state_home(as())) / "cloche"; }
  Ran cloche_in_state(const Words& words) const { return cloche_words(words); }

  // The JSON that an agent sends. `input` is JSON.
  std::string call_of(const std::string& tool, const std::string& input) const;
  // The same with this first, as `"turn_id": "1", `.
  std::string call_with(const std::string& more, const std::string& tool, const std::string& input) const;

  // `hook` with the flags of the installed line.
  Words judge_words(const Command& given) const;
  Ran hook_bytes(const std::string& bytes, const Words& flags = {}, Command given = {}) const;
  // An answer that is none fails the test.
  HookSaid hook(const std::string& tool, const std::string& input, const Command& given = {}) const;
  HookSaid said_to(const std::string& bytes, const Command& given = {}) const;
  HookSaid bash(const std::string& command) const;
  // What is answered where a person sits before Claude Code's terminal program, as bytes.
  std::string in_terminal_program(const std::string& call, Command given = {}) const;

  // As an agent does it: by a shell, where it stands.
  Ran carry_out(const std::string& command) const;
  // The command through hook and shell.
  Ran agent_runs(const std::string& command) const;

  // The id in "... run --call ID ...".
  static std::string call_id(const std::string& line);
  // The id in "waiting for approval ID: ...".
  static std::string waiting_id(const std::string& reason);

  void rules(const std::string& json);  // of the user's own configuration
};

// "/.../cloche run --call ID" with an id of letters and digits, and the flags of places, and nothing else.
::testing::AssertionResult is_call_line(const std::string& command);

}  // namespace cloche::test
