// JSON of the C interface, in and out.
#include "doors/library/read_values.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

using Words = std::vector<std::string>;

TEST(ValuesOfTheCInterface, EveryOptionIsRead) {
  const auto read = read_options(
      R"({"workspace": "w", "run": "r", "task": "t", "record": false, "profile": "p", "autonomy": "a",
          "commands": "c", "writes": "s", "isolation": "i", "skill": "k", "executors": "e",
          "read_only": ["/a"], "writable": ["/b"], "hide": ["*.key"], "pass_env": ["CI"], "net": ["x.org"],
          "limits": {"timeout": "30s", "pids": 64}, "flags": ["--net-any"], "asked": "operators",
          "programs": "/p", "environment": {"A": "1", "B": ""}, "home": "/h", "config_home": "/c",
          "state_home": "/s"})");
  ASSERT_TRUE(read.ok()) << describe(read.error());
  const v1::Options& options = read.value();
  const std::optional<std::string> texts[] = {
      options.workspace, options.run,    options.task,        options.profile,   options.autonomy,
      options.commands,  options.writes, options.isolation,   options.skill,     options.executors,
      options.programs,  options.home,   options.config_home, options.state_home};
  std::string all;
  for (const auto& text : texts) all += text.value_or("-") + " ";
  EXPECT_EQ(all, "w r t p a c s i k e /p /h /c /s ");
  EXPECT_FALSE(options.record);
  EXPECT_EQ(options.read_only, Words{"/a"});
  EXPECT_EQ(options.writable, Words{"/b"});
  EXPECT_EQ(options.hide, Words{"*.key"});
  EXPECT_EQ(options.pass_env, Words{"CI"});
  EXPECT_EQ(options.net, Words{"x.org"});
  EXPECT_EQ(options.flags, Words{"--net-any"});
  ASSERT_EQ(options.limits.size(), 2U);
  EXPECT_EQ(options.limits[0].name + options.limits[0].value, "timeout30s");
  EXPECT_EQ(options.limits[1].name + options.limits[1].value, "pids64");
  EXPECT_EQ(options.asked, v1::Asked::operators);
  EXPECT_EQ(options.environment, (Words{"A=1", "B="}));
}

TEST(ValuesOfTheCInterface, WhatIsNoOptionIsRefused) {
  for (const char* json : {"",
                           "[]",
                           "null",
                           "3",
                           "{",
                           R"({"workspace": 1})",
                           R"({"workspace": null})",
                           R"({"worksapce": "x"})",
                           R"({"run": "a", "run": "b"})",
                           R"({"read_only": "/a"})",
                           R"({"read_only": [1]})",
                           R"({"limits": []})",
                           R"({"limits": {"timeout": true}})",
                           R"({"asked": "me"})",
                           R"({"asked": 1})",
                           R"({"record": "no"})",
                           R"({"environment": ["A=1"]})",
                           R"({"environment": {"A": 1}})",
                           R"({"functions": []})",
                           "{} // options",
                           "{\"home\": \"\xff\"}"}) {
    const auto read = read_options(json);
    EXPECT_FALSE(read.ok()) << json;
  }
  EXPECT_FALSE(read_options(std::string(100'000, '[')).ok());
  EXPECT_TRUE(read_options("{}").ok());
}

TEST(ValuesOfTheCInterface, ACallHasItsArgumentsAsTheyCame) {
  struct Row {
    const char* json;
    const char* arguments;
  };
  const Row rows[] = {
      {R"({"tool": "x"})", "{}"},
      {R"({"tool": "x", "arguments": {"b": 1e2, "a": [true, null]}})", R"({"b":1e2,"a":[true,null]})"},
      {R"({"tool": "x", "arguments": "{\"cmd\": "})", R"({"cmd": )"},
      {R"({"tool": "x", "arguments": []})", "[]"},
  };
  for (const auto& row : rows) {
    const auto read = read_call(row.json);
    ASSERT_TRUE(read.ok()) << row.json << describe(read.error());
    EXPECT_EQ(read.value().arguments, row.arguments);
    EXPECT_EQ(read.value().cancel, -1);
  }
  const auto read = read_call(R"({"tool": "x", "task": "T", "role": "r", "cancel": 7})");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read.value().task, "T");
  EXPECT_EQ(read.value().role, "r");
  EXPECT_EQ(read.value().cancel, 7);
  for (const char* json : {"", "{}", R"({"tool": ""})", R"({"tool": 1})", R"({"tool": "x", "task": 1})",
                           R"({"tool": "x", "cancel": -1})", R"({"tool": "x", "cancel": 1.5})",
                           R"({"tool": "x", "cancel": 4294967296})", R"({"tool": "x", "json": true})"})
    EXPECT_FALSE(read_call(json).ok()) << json;
}

TEST(ValuesOfTheCInterface, AnErrorAndAQuestionAsJson) {
  v1::Error error;
  error.kind = v1::Error::Kind::missing_layer;
  error.what = "a \"b\"";
  EXPECT_EQ(error_json(error), R"({"error":{"kind":"missing_layer","message":"a \"b\"","fix":""}})");
  v1::Question question;
  question.digest = "sha256:0";
  question.text = "why\n";
  EXPECT_EQ(question_json(question), R"({"digest":"sha256:0","text":"why\n","afterwards":false})");
}

}  // namespace
}  // namespace cloche
