// An agent's settings with the hook in them, and without it again: byte for byte what they were.
#include "doors/hook_settings.hpp"

#include <gtest/gtest.h>

#include "base/json_text.hpp"

namespace cloche {
namespace {

const std::string command = hook_command_line("/opt/cloche/bin/cloche");

TEST(HookSettings, AFailureOfTheProgramItselfIsANo) {
  EXPECT_EQ(command, "/opt/cloche/bin/cloche hook || exit 2");
}

TEST(HookSettings, ANewFile) {
  EXPECT_EQ(
      with_hook("", command).value(),
      "{\n"
      "  \"hooks\": {\n"
      "    \"PreToolUse\": [\n"
      "      {\n"
      "        \"matcher\": \"*\",\n"
      "        \"hooks\": [{\"type\": \"command\", \"command\": \"/opt/cloche/bin/cloche hook || exit 2\", "
      "\"timeout\": 60}]\n"
      "      }\n"
      "    ]\n"
      "  }\n"
      "}\n");
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
  const std::string reformatted = to_json(read_json(with_hook("{}", command).value(), "").value());
  EXPECT_FALSE(without_hook(reformatted, command).ok()) << "somebody has worked on it";
}

}  // namespace
}  // namespace cloche
