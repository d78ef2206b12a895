// The fixture of the tools suite: tool calls by the command line and by one Gateway, as one of the
// identities, with skills, executors and a home that the test writes.
#pragma once

#include <string>
#include <vector>

#include "everyday/support.hpp"
#include "run/fixture.hpp"
#include "run/json.hpp"

namespace cloche::test {

using Words = std::vector<std::string>;

// One call's JSON, and how the process that printed it went.
struct Answer {
  Json json;
  Ran ran;

  std::string text(const std::string& key) const { return json[key].string; }
  std::string result() const { return text("result"); }
  int exit_code() const { return static_cast<int>(json["exit_code"].number); }
};

struct Call {
  std::string tool;
  std::string arguments = "{}";
};

// What a manifest says beside the name and the program.
struct Manifest {
  std::string capabilities = "[]";
  std::string limits = "{}";
  std::string output_schema = R"({"type": "object"})";
};

class Tools : public Everyday {
 protected:
  Tools();

  fs::path home() const { return scene_root() / "home"; }
  fs::path executors() const { return scene_root() / "executors"; }
  fs::path scene_root() const { return workspace().parent_path(); }

  // A command of Cloche's in the workspace, with a home and a state directory of the test's own.
  Command words(Words words, Command how = {}) const;
  Ran cloche_words(const Words& words, const Command& how = {}) const;
  // `cloche call TOOL ARGUMENTS FLAGS --json`. What is no JSON fails the test.
  Answer call(const Call& call, const Words& flags = {}, const Command& how = {}) const;
  // Each call through one Gateway, in this order.
  std::vector<Answer> session(const std::vector<Call>& calls, const Words& flags = {});
  Command session_command(const std::vector<Call>& calls, const Words& flags);

  // A tool of the user's own below executors(); the program is Python.
  void executor(const std::string& name, const std::string& python, const Manifest& manifest = {});
  Words with_executors() const { return {"--executors", executors()}; }
  // A SKILL.md with these lines between the dashes, outside of the workspace: the operator's.
  std::string skill(const std::string& frontmatter);
  // The same inside of it: a project's.
  std::string project_skill(const std::string& frontmatter);

  // `cloche log verify RUN` says so.
  ::testing::AssertionResult verified(const std::string& run) const;
};

// A JSON string with its quotes.
std::string quoted(const std::string& text);
std::string script(const std::string& code,
                   const std::string& interpreter = "bash");  // run_script's arguments
std::string code(const std::string& python);                  // run_python's arguments

::testing::AssertionResult ended(const Answer& answer, const std::string& outcome);
::testing::AssertionResult ended_by_limit(const Answer& answer, const std::string& limit);
// By this gate, with a sentence that has these words.
::testing::AssertionResult refused_by(const Answer& answer, const std::string& gate,
                                      const std::string& words = {});
// The one line of the record that is about a call.
std::vector<Json> json_lines(const fs::path& file);

}  // namespace cloche::test
