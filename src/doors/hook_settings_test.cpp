// An agent's settings with the hook in them, and without it again: byte for byte what they were.
#include "doors/hook_settings.hpp"

#include <gtest/gtest.h>

#include "base/json_text.hpp"

namespace cloche {
namespace {

const std::string command = hook_command_line("/opt/cloche/bin/cloche", {});

TEST(HookSettings, AFailureOfTheProgramItselfIsANo) {
  EXPECT_EQ(command, "/opt/cloche/bin/cloche hook || exit 2");
}

TEST(HookSettings, ANewFile) {
  EXPECT_EQ(with_hook("", command).value(),
            "{\n"
            "  \"hooks\": {\n"
            "    \"PreToolUse\": [\n"
            "      {\n"
            "        \"matcher\": \"*\",\n"
            "        \"hooks\": [\n"
            "          {\n"
            "            \"type\": \"command\",\n"
            "            \"command\": \"/opt/cloche/bin/cloche hook || exit 2\",\n"
            "            \"timeout\": 60\n"
            "          }\n"
            "        ]\n"
            "      }\n"
            "    ]\n"
            "  }\n"
            "}\n");
}

TEST(HookSettings, WhiteSpaceAloneIsANewFileToo) {
  for (const char* blank : {"\n", " \t\r\n", "  "}) {
    EXPECT_TRUE(is_blank(blank));
    const auto with = with_hook(blank, command);
    ASSERT_TRUE(with.ok()) << with.error().what;
    EXPECT_EQ(with.value(), with_hook("", command).value());
    EXPECT_TRUE(is_empty_object(without_hook(with.value(), command).value()));
  }
  EXPECT_FALSE(is_blank("{}"));
  EXPECT_FALSE(is_empty_object(R"({"a": 1})"));
}

TEST(HookSettings, InAndOutAgain) {
  const char* rows[] = {
      "{}",
      "{ }\n",
      "{\n}\n",
      R"({"model": "x"})",
      "{\n\t\"model\": \"a \\\" } ] hooks\",\r\n\t\"n\": -1.5e3, \"t\": true\n}\n",
      R"({"hooks": {}})",
      R"({"a": [1, {"hooks": 1}], "hooks": { "Stop": [] }, "z": null})",
      R"({"hooks": {"PreToolUse": []}})",
      R"({"hooks": {"PreToolUse": [ ], "x": 1}})",
      R"({
  "hooks": {
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [{"type": "command", "command": "other"}]}
    ]
  }
}
)",
      R"({"x":{"hooks":{"PreToolUse":[]}},"hooks":{"y":"]}","PreToolUse":[{"hooks":[]}]}})",
  };
  for (const char* before : rows) {
    const auto with = with_hook(before, command);
    ASSERT_TRUE(with.ok()) << before << with.error().what;
    EXPECT_TRUE(has_hook(with.value(), command));
    EXPECT_TRUE(read_json(with.value(), "").ok()) << with.value();
    const auto without = without_hook(with.value(), command);
    ASSERT_TRUE(without.ok()) << with.value();
    EXPECT_EQ(without.value(), before);
    EXPECT_FALSE(with_hook(with.value(), command).ok()) << "it is there already";
  }
}

TEST(HookSettings, WhatIsNotUnderstoodStaysAsItIs) {
  const char* rows[] = {"[]",
                        "nonsense",
                        "{",
                        R"({"hooks": []})",
                        R"({"hooks": null})",
                        R"({"hooks": {"PreToolUse": {}}})",
                        "{/* mine */}",
                        "{\"\\u0068ooks\": {}}",
                        R"({"hooks": {}, "hooks": {}})"};
  for (const char* text : rows) EXPECT_FALSE(with_hook(text, command).ok()) << text;
  EXPECT_FALSE(without_hook("{}", command).ok());
}

// An agent saves its settings anew when one of them changes.
TEST(HookSettings, OutAgainWhoeverHasWrittenItAnew) {
  const char* rows[] = {
      R"({})",
      R"({"model":"x"})",
      R"({"hooks":{"Stop":[]},"model":"x"})",
      R"({"model":"x","hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"command":"other"}]}]}})",
      R"({"model":"x","hooks":{"PreToolUse":[{"hooks":[]},{"hooks":[{"command":"}]"}]}],"Stop":[1]},"z":"\""})",
  };
  for (const char* before : rows) {
    const std::string saved = to_json(read_json(with_hook(before, command).value(), "").value());
    const auto without = without_hook(saved, command);
    ASSERT_TRUE(without.ok()) << saved << without.error().what;
    EXPECT_EQ(without.value(), before) << saved;
  }
}

TEST(HookSettings, OutAgainFromWhereSomebodyHasPutIt) {
  const std::string hook = R"({"type": "command", "command": ")" + command + R"("})";
  const std::pair<std::string, const char*> rows[] = {
      {R"({"hooks": {"PreToolUse": [{"hooks": [ {"command": "a"}, )" + hook + R"( ]}]}})",
       R"({"hooks": {"PreToolUse": [{"hooks": [ {"command": "a"} ]}]}})"},
      {R"({"hooks": {"PreToolUse": [{"hooks": [)" + hook + R"(, {"command": "a"}]}]}})",
       R"({"hooks": {"PreToolUse": [{"hooks": [{"command": "a"}]}]}})"},
      {R"({"a": 1, "hooks": {"PreToolUse": [{"matcher": "Read", "hooks": [)" + hook + R"(]}, {"hooks": [)" +
           hook + R"(]}]}})",
       R"({"a": 1})"},
      {R"({"hooks": {"PreToolUse": [{"hooks": [)" + hook + "," + hook + R"(]}], "Stop": []}})",
       R"({"hooks": {"Stop": []}})"},
  };
  for (const auto& [with, without] : rows) {
    const auto made = without_hook(with, command);
    ASSERT_TRUE(made.ok()) << with << made.error().what;
    EXPECT_EQ(made.value(), without);
  }
  EXPECT_FALSE(
      without_hook("{\"\\u0068ooks\": {\"PreToolUse\": [{\"hooks\": [" + hook + "]}]}}", command).ok());
}

// It would look set up and judge less than every call.
TEST(HookSettings, HalfAHookIsNone) {
  const std::string words = R"("type": "command", "command": ")" + command + R"(")";
  const std::string rows[] = {
      R"({"hooks": {"PreToolUse": [{"matcher": "Read", "hooks": [{)" + words + R"(, "timeout": 60}]}]}})",
      R"({"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{)" + words + R"(, "timeout": 1}]}]}})",
      R"({"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{)" + words +
          R"(, "timeout": 60, "async": true}]}]}})",
  };
  for (const auto& text : rows) {
    const auto with = with_hook(text, command);
    ASSERT_FALSE(with.ok()) << text;
    EXPECT_NE(with.error().what.find("not whole"), std::string::npos) << with.error().what;
  }
}

TEST(HookSettings, NotWhereNoHookRuns) {
  EXPECT_FALSE(with_hook(R"({"disableAllHooks": true})", command).ok());
  EXPECT_FALSE(with_hook(R"({"disableAllHooks": "yes"})", command).ok());
  EXPECT_TRUE(with_hook(R"({"disableAllHooks": false})", command).ok());
}

}  // namespace
}  // namespace cloche
