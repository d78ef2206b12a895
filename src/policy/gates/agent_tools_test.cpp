#include "policy/gates/agent_tools.hpp"

#include <gtest/gtest.h>

#include "base/sys/sys.hpp"

namespace cloche {
namespace {

Result<AgentToolTable> shipped() {
  const std::string path = std::string(CLOCHE_SOURCE_DIR) + "/share/agent_tools.json";
  return read_agent_tools(sys::read_file(path).value(), "share/agent_tools.json");
}

std::string with_row(const std::string& row) {
  return R"({"tools": [)" + row + R"(], "builtin_subagents": [], "skill_keys": [], "subagent_keys": []})";
}

std::string row_of(const std::string& more) {
  return R"({"agent": "claude", "tool": "T", "reason": "r", )" + more + "}";
}

// Its own examples are checked by reading it.
TEST(AgentTools, TheShippedTableHolds) {
  const auto table = shipped();
  ASSERT_TRUE(table.ok()) << describe(table.error());
  EXPECT_GT(table.value().rows.size(), 20U);
}

TEST(AgentTools, EachRowSaysNoToAnArgumentThatItDoesNotName) {
  const auto table = shipped();
  ASSERT_TRUE(table.ok());
  for (const auto& row : table.value().rows) {
    if (row.tool == "StructuredOutput") continue;  // its arguments are the caller's own
    const auto odd = read_json(R"({"an_argument_of_tomorrow": 1})", "");
    EXPECT_TRUE(row.arguments.check(odd.value())) << row.tool;
  }
}

TEST(AgentTools, WhatStartsSomethingIsNotInIt) {
  const auto table = shipped();
  ASSERT_TRUE(table.ok());
  for (const char* tool :
       {"Bash",          "Monitor",      "PowerShell",   "REPL",           "Workflow",   "LSP",
        "EnterWorktree", "ExitWorktree", "CronCreate",   "ScheduleWakeup", "Write",      "Edit",
        "Read",          "WebFetch",     "WebSearch",    "SendUserFile",   "Artifact",   "PushNotification",
        "RemoteTrigger", "mcp__a__b",    "SlashCommand", "exec_command",   "apply_patch"}) {
    EXPECT_EQ(find_agent_tool(table.value(), "claude", tool), nullptr) << tool;
    EXPECT_EQ(find_agent_tool(table.value(), "codex", tool), nullptr) << tool;
  }
}

TEST(AgentTools, ANameIsExactAndOfOneAgent) {
  const auto table = shipped();
  ASSERT_TRUE(table.ok());
  EXPECT_NE(find_agent_tool(table.value(), "claude", "TaskList"), nullptr);
  for (const char* tool : {"tasklist", "TaskList ", "TaskLis", "", "get_goal"})
    EXPECT_EQ(find_agent_tool(table.value(), "claude", tool), nullptr) << tool;
  EXPECT_EQ(find_agent_tool(table.value(), "codex", "TaskList"), nullptr);
}

TEST(AgentTools, WhatIsWrongInAFileIsSaid) {
  const std::pair<std::string, std::string> rows[] = {
      {"[]", "an object is expected"},
      {R"({"tools": [], "other": 1})", "other"},
      {with_row(row_of(R"("arguments": {"type": "object"}, "pass": [{}])")), "ask is no list"},
      {with_row(row_of(R"("arguments": {"typ": "object"}, "pass": [], "ask": [])")), "typ"},
      {with_row(row_of(R"("arguments": {"type": "object"}, "pass": [], "ask": [{}])")), "T takes {}"},
      {with_row(row_of(R"("arguments": {"type": "array"}, "pass": [{}], "ask": [])")), "T does not take {}"},
      {with_row(row_of(R"("check": "no", "arguments": {"type": "object"}, "pass": [], "ask": [])")),
       "check is"},
      {with_row(R"({"agent": "other", "tool": "T", "reason": "r", "arguments": {}, "pass": [], "ask": []})"),
       "claude or codex"},
      {with_row(R"({"agent": "claude", "tool": "T", "arguments": {}, "pass": [], "ask": []})"), "reason"},
  };
  for (const auto& [text, words] : rows) {
    const auto table = read_agent_tools(text, "f.json");
    ASSERT_FALSE(table.ok()) << text;
    EXPECT_NE(describe(table.error()).find(words), std::string::npos) << describe(table.error());
  }
  const std::string one = row_of(R"("arguments": {}, "pass": [], "ask": [])");
  EXPECT_FALSE(read_agent_tools(with_row(one + ", " + one), "f.json").ok()) << "two rows for one name";
  EXPECT_TRUE(read_agent_tools(with_row(one), "f.json").ok());
}

}  // namespace
}  // namespace cloche
