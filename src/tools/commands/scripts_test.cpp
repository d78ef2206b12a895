// What run_python and run_script make of their arguments.
#include "tools/commands/scripts.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

using Words = std::vector<std::string>;

Intent understood(void (*understand)(const JsonValue&, Intent&), const std::string& arguments) {
  Intent intent;
  const auto value = read_json(arguments, "arguments", call_limits);
  EXPECT_TRUE(value.ok()) << arguments;
  if (value.ok()) understand(value.value(), intent);
  return intent;
}

TEST(RunPython, ComputesInAnEmptyDirectoryWithSmallLimits) {
  const Intent intent = understood(understand_python, R"({"code": "x = 1", "timeout_s": 3})");
  ASSERT_EQ(intent.problem, "");
  ASSERT_TRUE(intent.launch);
  EXPECT_EQ(intent.launch->argv, (Words{"python3", "-I", "/run/cloche/main.py"}));
  EXPECT_EQ(intent.launch->script->code, "x = 1");
  EXPECT_EQ(intent.launch->workspace, WorkspaceUse::hidden);
  EXPECT_EQ(intent.launch->directory, "/tmp");
  EXPECT_TRUE(intent.launch->fresh_home);
  EXPECT_TRUE(intent.launch->noexec);
  EXPECT_TRUE(intent.launch->system_programs);
  EXPECT_EQ(intent.launch->narrower->cpu_s, 2U);
  EXPECT_EQ(intent.launch->narrower->memory_bytes, 256U << 20);
  EXPECT_EQ(intent.launch->narrower->file_bytes, 1U << 20);
  EXPECT_EQ(intent.launch->narrower->processes, 1U);
  EXPECT_EQ(intent.timeout_ms, 3000U);
  EXPECT_FALSE(intent.opaque);
}

TEST(RunScript, IsOpaqueAndStartsNoProfile) {
  const std::pair<std::string, Words> rows[] = {
      {"bash", {"bash", "--noprofile", "--norc", "/run/cloche/script.sh"}},
      {"python3", {"python3", "/run/cloche/script.py"}},
      {"node", {"node", "/run/cloche/script.js"}},
  };
  for (const auto& [interpreter, argv] : rows) {
    const Intent intent =
        understood(understand_script, R"({"code": "1", "interpreter": ")" + interpreter + R"("})");
    EXPECT_EQ(intent.problem, "");
    EXPECT_TRUE(intent.opaque);
    ASSERT_TRUE(intent.launch);
    EXPECT_EQ(intent.launch->argv, argv);
    EXPECT_EQ(intent.launch->workspace, WorkspaceUse::shown);
  }
}

TEST(Scripts, WhatMakesNoSenseIsTheIntentsProblem) {
  const std::pair<std::string, std::string> rows[] = {
      {R"([])", "not an object"},
      {R"({})", "code is missing"},
      {R"({"code": 1})", "code is not a text"},
      {R"({"code": "a\u0000b"})", "NUL"},
      {R"({"code": "1", "timeout_s": 0})", "timeout_s"},
      {R"({"code": "1", "timeout_s": 1.5})", "timeout_s"},
      {R"({"code": "1", "timeout_s": 86401})", "timeout_s"},
      {R"({"code": "1", "sandbox": "off"})", "unknown argument sandbox"},
  };
  for (const auto& [arguments, problem] : rows) {
    const Intent intent = understood(understand_python, arguments);
    EXPECT_NE(intent.problem.find(problem), std::string::npos) << arguments << ": " << intent.problem;
    EXPECT_FALSE(intent.launch);
  }
  EXPECT_NE(understood(understand_script, R"({"code": "1"})").problem, "");
  EXPECT_NE(understood(understand_script, R"({"code": "1", "interpreter": "perl"})").problem, "");
  EXPECT_NE(
      understood(understand_python, R"({"code": ")" + std::string((1 << 20) - 20, 'x') + R"("})").launch,
      std::nullopt);
}

}  // namespace
}  // namespace cloche
