// What run_shell makes of its arguments.
#include "tools/commands/run_shell.hpp"

#include <gtest/gtest.h>

#include "tools/registry_fixture.hpp"

#include <set>

#include "base/json/json_text.hpp"
#include "policy/gates/tool_arguments.hpp"
#include "tools/commands/scripts.hpp"

namespace cloche {
namespace {

using Words = std::vector<std::string>;

Intent intent_of(const std::string& arguments) { return understand({"run_shell", arguments}); }

TEST(RunShell, BothNamesAndBothForms) {
  for (const std::string tool : {"run_shell", "run_shell_command"}) {
    for (const std::string arguments :
         {R"({"cmd": "ls 'a b'"})", R"({"command": "ls 'a b'"})", R"({"argv": ["ls", "a b"]})"}) {
      const Intent intent = understand({tool, arguments});
      EXPECT_EQ(intent.problem, "") << arguments;
      EXPECT_EQ(intent.tool, "run_shell");
      EXPECT_EQ(intent.argv, (Words{"ls", "a b"}));
      EXPECT_EQ(normalised_arguments(intent).at("cmd"), "ls 'a b'");
    }
  }
}

TEST(RunShell, TheOtherArguments) {
  const Intent intent = intent_of(R"({"cmd": "ls", "profile": "full", "timeout_s": 5, "stdin": "x"})");
  EXPECT_EQ(intent.problem, "");
  EXPECT_EQ(intent.profile, CommandProfile::full);
  EXPECT_EQ(intent.timeout_ms, 5000U);
  EXPECT_EQ(intent.input, "x");
  const auto normal = normalised_arguments(intent);
  EXPECT_EQ(normal.at("profile"), "full");
  EXPECT_EQ(normal.at("timeout_s"), "5");
  EXPECT_EQ(normal.at("stdin"), "x");
  EXPECT_EQ(normal.at("cwd"), ".") << "where it starts, said or not";
  EXPECT_EQ(normal.size(), 5U);
}

TEST(RunShell, WhatOnlyAShellRunsIsKeptAsText) {
  const std::pair<const char*, const char*> rows[] = {
      {R"({"cmd": "ls | wc"})", "ls | wc"},
      {R"({"cmd": "echo \"$X\""})", R"(echo "$X")"},
      {R"({"cmd": "cd py"})", "cd py"},
      {R"({"argv": ["cd", "a b"]})", "cd 'a b'"},
      {R"({"cmd": "a\nb"})", "a\nb"},
      {R"({"command": "source x"})", "source x"},
      {R"({"cmd": "cat << E\nx\nE"})", "cat << E\nx\nE"},
      {R"({"cmd": "A=1 b"})", "A=1 b"},
      {R"({"cmd": "export A"})", "export A"},
      {R"({"cmd": "mkdir -p {src,tests}/unit"})", "mkdir -p {src,tests}/unit"},
      {R"({"cmd": "ls -la # list"})", "ls -la # list"},
      {R"({"cmd": "printf '%s' 'a\tb'"})", "printf '%s' 'a\tb'"},
      {R"({"argv": ["printf", "%s", "a\tb"]})", "printf %s 'a\tb'"},
      {R"({"cmd": "echo a\r\necho b\r\n"})", "echo a\r\necho b\r\n"},
      {R"({"cmd": "ls\r"})", "ls\r"},
  };
  for (const auto& [arguments, text] : rows) {
    Intent intent = intent_of(arguments);
    EXPECT_EQ(intent.problem, "") << arguments;
    ASSERT_EQ(intent.shell_text, text) << arguments;
    EXPECT_FALSE(intent.opaque || intent.launch) << "nothing runs it unless `any` makes a script of it";
    EXPECT_EQ(normalised_arguments(intent).at("cmd"), text);
    run_as_script(intent);
    EXPECT_TRUE(intent.opaque && intent.shells);
    EXPECT_EQ(normalised_arguments(intent).at("cmd"), text);
    EXPECT_EQ(intent.launch->argv.front(), "bash");
  }
  for (const char* arguments :
       {R"({"cmd": "ls 'a|b'"})", R"({"argv": ["ls", "a|b", "$X"]})", R"({"cmd": "true"})"})
    EXPECT_FALSE(intent_of(arguments).shell_text) << arguments;
}

TEST(RunShell, TextWithPartsRunsInOurSpelling) {
  Intent intent = intent_of(R"({"cmd": "git status && make", "stdin": "x", "cwd": "a/b"})");
  EXPECT_EQ(normalised_arguments(intent).at("cwd"), "a/b");
  run_as_script(intent);
  EXPECT_EQ(intent.launch->script->code, "'git' 'status' && 'make'");
  EXPECT_EQ(intent.launch->input, "x");
  EXPECT_EQ(intent.parts, (std::vector<Words>{{"git", "status"}, {"make"}}));
  EXPECT_EQ(intent.launch->named_files, (Words{"git", "status", "make"}));
  Intent opaque = intent_of(R"({"cmd": "X=1 make $X"})");
  run_as_script(opaque);
  EXPECT_EQ(opaque.launch->script->code, "X=1 make $X") << "as it was sent";
  EXPECT_FALSE(opaque.parts);
  const Intent script = understand({"run_script", R"({"interpreter": "bash", "code": "a; b"})"});
  EXPECT_EQ(script.launch->script->code, "'a'; 'b'");
  const Intent python = understand({"run_script", R"({"interpreter": "python3", "code": "a; b"})"});
  EXPECT_EQ(python.launch->script->code, "a; b");
  EXPECT_FALSE(python.parts || python.shells);
}

TEST(RunShell, WhatMakesNoSenseIsTheIntentsProblem) {
  const std::pair<std::string, std::string> rows[] = {
      {"", "arguments"},
      {"{", "arguments"},
      {"[]", "not an object"},
      {"{}", "neither cmd nor argv"},
      {R"({"cmd": "ls", "argv": ["ls"]})", "give one of them"},
      {R"({"cmd": "ls", "command": "ls"})", "give one of them"},
      {R"({"cmd": "ls", "cmd": "rm"})", "cmd"},
      {R"({"cmd": 1})", "cmd is not a text"},
      {R"({"cmd": ["ls"]})", "cmd is not a text"},
      {R"({"cmd": null})", "cmd is not a text"},
      {R"({"argv": "ls"})", "argv is not a list"},
      {R"({"argv": []})", "no command"},
      {R"({"argv": [""]})", "empty"},
      {R"({"argv": ["ls", 1]})", "argv is not a list"},
      {R"({"argv": ["ls", "a\u0000b"]})", "NUL"},
      {R"({"argv": ["ls", "a\nb"]})", "line break"},
      {R"({"cmd": "ls\u202e"})", "bidirectional"},
      {R"({"cmd": "ls\nx\u202e"})", "bidirectional"},
      {R"({"cmd": "ls\nx\u0000"})", "NUL"},
      {R"({"cmd": "ls", "cwd": ""})", "cwd"},
      {R"({"cmd": "ls", "cwd": 1})", "cwd"},
      {R"({"cmd": "ls", "cwd": "a\u0000b"})", "cwd"},
      {R"({"cmd": "cat 'x"})", "single quote"},
      {R"({"cmd": "ls", "profile": "everything"})", "profile is not"},
      {R"({"cmd": "ls", "profile": 1})", "profile is not"},
      {R"({"cmd": "ls", "timeout_s": 0})", "timeout_s"},
      {R"({"cmd": "ls", "timeout_s": -1})", "timeout_s"},
      {R"({"cmd": "ls", "timeout_s": 1.5})", "timeout_s"},
      {R"({"cmd": "ls", "timeout_s": 1e9})", "timeout_s"},
      {R"({"cmd": "ls", "timeout_s": "5"})", "timeout_s"},
      {R"({"cmd": "ls", "stdin": 1})", "stdin"},
      {R"({"cmd": "ls", "dangerouslyDisableSandbox": true})", "unknown argument"},
      {R"({"cmd": "ls"} x)", "arguments"},
      {R"({"cmd": "ls"} // x)", "arguments"},
  };
  for (const auto& [arguments, problem] : rows) {
    const Intent intent = intent_of(arguments);
    EXPECT_NE(intent.problem.find(problem), std::string::npos) << arguments << ": " << intent.problem;
  }
}

TEST(RunShell, ToolNamesAreExact) {
  EXPECT_EQ(tool_name("run_shell"), "run_shell");
  EXPECT_EQ(tool_name("run_shell_command"), "run_shell");
  EXPECT_EQ(tool_name("write_artifact"), "write_artifact");
  for (const std::string name : {"", "Run_shell", "run_shell ", "run-shell", "shell", "run_shell\n"})
    EXPECT_EQ(tool_name(name), "");
  EXPECT_NE(understand({"nothing", "{}"}).problem, "");
}

TEST(RunShell, RulesKnowItsArgumentsByTheNamesItGivesThem) {
  const auto schema = read_json(run_shell_spec().input_schema, "schema");
  ASSERT_TRUE(schema.ok());
  std::set<std::string> names;
  for (const auto& member : schema.value().find("properties")->members)
    names.insert(member.name == "command" || member.name == "argv" ? "cmd" : member.name);
  std::set<std::string> known;
  for (const auto& argument : tool_arguments().front().arguments) known.emplace(argument.name);
  EXPECT_EQ(known, names);
  EXPECT_EQ(tool_arguments().front().tool, "run_shell");
}

TEST(RunShell, EveryCallHasTheArgumentsThatRulesExpect) {
  for (const char* sent : {R"({"cmd":"ls"})", R"({"argv":["a b",""],"profile":"any"})",
                           R"({"argv":["x=y"],"stdin":"\u0000"})"}) {
    const Intent intent = understand({"run_shell", sent});
    ASSERT_EQ(intent.problem, "") << sent;
    const auto arguments = normalised_arguments(intent);
    for (const auto& known : tool_arguments().front().arguments)
      EXPECT_TRUE(!known.always || arguments.contains(known.name)) << known.name;
  }
}

}  // namespace
}  // namespace cloche
