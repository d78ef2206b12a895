// What agents send, and everything that is none of it.
#include "doors/hook/hook_input.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

constexpr const char* claudes =
    R"({"session_id": "7f3a", "transcript_path": "/x.jsonl", "cwd": "/p", "permission_mode": "default",
        "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": {"command": "ls", "description": "d"}, "tool_use_id": "t"})";
constexpr const char* codexs =
    R"({"session_id": "7f3a", "turn_id": "1", "transcript_path": null, "cwd": "/p", "model": "m",
        "permission_mode": "default", "hook_event_name": "PreToolUse", "tool_name": "apply_patch",
        "tool_input": {"command": "*** Begin Patch"}, "tool_use_id": "t"})";

TEST(HookInput, OfBothAgents) {
  const auto claude = read_hook_call(claudes);
  ASSERT_TRUE(claude.ok()) << claude.error().what;
  EXPECT_EQ(claude.value().agent, Agent::claude);
  EXPECT_EQ(claude.value().tool, "Bash");
  EXPECT_EQ(claude.value().directory, "/p");
  EXPECT_EQ(claude.value().session, "7f3a");
  EXPECT_EQ(to_json(claude.value().input), R"({"command":"ls","description":"d"})");
  EXPECT_FALSE(claude.value().plans_only);
  std::string planning = claudes;
  EXPECT_TRUE(read_hook_call(planning.replace(planning.find("default"), 7, "plan")).value().plans_only);
  const auto codex = read_hook_call(codexs);
  ASSERT_TRUE(codex.ok()) << codex.error().what;
  EXPECT_EQ(codex.value().agent, Agent::codex);
}

TEST(HookInput, WhoPutsAQuestionToItsPerson) {
  const std::pair<const char*, bool> rows[] = {
      {"default", true},  {"acceptEdits", true}, {"plan", true},      {"bypassPermissions", false},
      {"dontAsk", false}, {"auto", false},       {"whatever", false}, {"", false}};
  for (const auto& [mode, asks] : rows) {
    std::string text = claudes;
    EXPECT_EQ(read_hook_call(text.replace(text.find("default"), 7, mode)).value().puts_questions, asks)
        << mode;
  }
  EXPECT_FALSE(read_hook_call(codexs).value().puts_questions);
}

TEST(HookInput, WhatIsNotUnderstoodIsRefused) {
  const std::string good = claudes;
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  const std::string rows[] = {
      "",
      " ",
      "null",
      "[]",
      "1e999999",
      "{",
      good.substr(0, good.size() - 1),
      good + "x",
      good + good,
      with("PreToolUse", "PostToolUse"),
      with("\"hook_event_name\": \"PreToolUse\",", ""),
      with("\"Bash\"", "5"),
      with("\"Bash\"", "\"\""),
      with("\"Bash\"", "\"" + std::string(201, 'x') + "\""),
      with("\"tool_name\": \"Bash\",", ""),
      with("\"tool_name\": \"Bash\",", "\"tool_name\": \"Read\", \"tool_name\": \"Bash\","),
      with(R"({"command": "ls", "description": "d"})", "\"ls\""),
      with(R"({"command": "ls", "description": "d"})", "null"),
      with(R"({"command": "ls", "description": "d"})", R"({"command": "ls", "command": "rm"})"),
      with("\"/p\"", "\"p\""),
      with("\"/p\"", "\"/p/../q\""),
      with("\"/p\"", "\"/p\\u0000q\""),
      with("\"/p\"", "null"),
      with("\"7f3a\"", "7"),
      with("ls", "\xff"),
      with("ls", std::string("\0", 1)),
      with("ls", "\\ud800"),
      with(R"("ls")", std::string(10'000, '[') + std::string(10'000, ']')),
      std::string(10'000, '['),
      std::string(most_hook_bytes + 1, ' '),
  };
  for (const auto& text : rows) EXPECT_FALSE(read_hook_call(text).ok()) << text.substr(0, 300);
  EXPECT_TRUE(read_hook_call(good).ok()) << "the control";
}

}  // namespace
}  // namespace cloche
