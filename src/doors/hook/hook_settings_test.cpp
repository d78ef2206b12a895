// An agent's settings with the hook in them, and without it again: byte for byte what they were.
#include "doors/hook/hook_settings.hpp"

#include <gtest/gtest.h>

#include "base/json/json_text.hpp"

namespace cloche {
namespace {

const std::string cloche = "/opt/cloche/bin/cloche";
const std::string command = hook_command_line(cloche);

TEST(HookSettings, AFailureOfTheProgramItselfIsANo) {
  EXPECT_EQ(command, "/opt/cloche/bin/cloche hook || exit 2");
}

TEST(HookSettings, ANewFile) {
  EXPECT_EQ(with_hook("", cloche, command).value(),
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
    const auto with = with_hook(blank, cloche, command);
    ASSERT_TRUE(with.ok()) << with.error().what;
    EXPECT_EQ(with.value(), with_hook("", cloche, command).value());
    EXPECT_TRUE(is_empty_object(without_hook(with.value(), cloche).value()));
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
    const auto with = with_hook(before, cloche, command);
    ASSERT_TRUE(with.ok()) << before << with.error().what;
    EXPECT_TRUE(has_hook(with.value(), cloche));
    EXPECT_TRUE(read_json(with.value(), "").ok()) << with.value();
    const auto without = without_hook(with.value(), cloche);
    ASSERT_TRUE(without.ok()) << with.value();
    EXPECT_EQ(without.value(), before);
    EXPECT_FALSE(with_hook(with.value(), cloche, command).ok()) << "it is there already";
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
  for (const char* text : rows) EXPECT_FALSE(with_hook(text, cloche, command).ok()) << text;
  EXPECT_FALSE(without_hook("{}", cloche).ok());
}

// An agent saves its settings anew when one of them changes.
TEST(HookSettings, OutAgainAfterTheAgentHasRewrittenIt) {
  const char* rows[] = {
      R"({})",
      R"({"model":"x"})",
      R"({"hooks":{"Stop":[]},"model":"x"})",
      R"({"model":"x","hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"command":"other"}]}]}})",
      R"({"model":"x","hooks":{"PreToolUse":[{"hooks":[]},{"hooks":[{"command":"}]"}]}],"Stop":[1]},"z":"\""})",
  };
  for (const char* before : rows) {
    const std::string saved = to_json(read_json(with_hook(before, cloche, command).value(), "").value());
    const auto without = without_hook(saved, cloche);
    ASSERT_TRUE(without.ok()) << saved << without.error().what;
    EXPECT_EQ(without.value(), before) << saved;
  }
}

TEST(HookSettings, OutAgainFromWhereTheUserHasPutIt) {
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
    const auto made = without_hook(with, cloche);
    ASSERT_TRUE(made.ok()) << with << made.error().what;
    EXPECT_EQ(made.value(), without);
  }
  EXPECT_FALSE(
      without_hook("{\"\\u0068ooks\": {\"PreToolUse\": [{\"hooks\": [" + hook + "]}]}}", cloche).ok());
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
    const auto with = with_hook(text, cloche, command);
    ASSERT_FALSE(with.ok()) << text;
    EXPECT_NE(with.error().what.text().find("but changed"), std::string::npos) << with.error().what;
  }
}

TEST(HookSettings, NotWhereNoHookRuns) {
  EXPECT_FALSE(with_hook(R"({"disableAllHooks": true})", cloche, command).ok());
  EXPECT_FALSE(with_hook(R"({"disableAllHooks": "yes"})", cloche, command).ok());
  EXPECT_TRUE(with_hook(R"({"disableAllHooks": false})", cloche, command).ok());
}

TEST(HookSettings, EveryLineThatCanBeInstalledIsKnown) {
  const std::vector<std::vector<std::string>> rows = {{},
                                                      {"--workspace", "/home/me/proj"},
                                                      {"--workspace", "/home/me/it's a $project"},
                                                      {"--timeout", "20s"}};
  for (const auto& flags : rows) {
    const std::string line = hook_command_line(cloche, flags);
    EXPECT_TRUE(is_hook_line(line, cloche)) << line;
    const std::string before = "{\n  \"model\": \"x\"\n}";
    const std::string with = with_hook(before, cloche, line).value();
    EXPECT_FALSE(with_hook(with, cloche, command).ok()) << "another line of the same hook";
    EXPECT_EQ(without_hook(with, cloche).value(), before) << line;
  }
}

TEST(HookSettings, OtherLinesAreNotOurs) {
  for (const char* line :
       {"/opt/cloche/bin/cloche hook", "/opt/cloche/bin/cloche hook || exit 0",
        "/opt/cloche/bin/cloche hook --workspace /a; rm x || exit 2",
        "/opt/cloche/bin/cloche hook x || exit 2", "/opt/cloche/bin/cloche hooks || exit 2",
        "/opt/other/cloche hook || exit 2", "/opt/cloche/bin/cloche hook|| exit 2", ""})
    EXPECT_FALSE(is_hook_line(line, cloche)) << line;
}

}  // namespace
}  // namespace cloche
