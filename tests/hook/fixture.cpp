#include "hook/fixture.hpp"

#include <regex>

namespace cloche::test {

Hook::Hook() {
  for (const char* shelf : {"approvals", "calls", "agent-sessions"}) fs::remove_all(state() / shelf);
}

std::string Hook::call_of(const std::string& tool, const std::string& input) const {
  return call_with("", tool, input);
}

std::string Hook::call_with(const std::string& more, const std::string& tool,
                            const std::string& input) const {
  return "{" + more + R"("session_id": "s-1", "transcript_path": "/x", "cwd": )" + quoted(workspace()) +
         R"(, "permission_mode": "default", "hook_event_name": "PreToolUse", "tool_name": )" + quoted(tool) +
         R"(, "tool_input": )" + input + R"(, "tool_use_id": "t"})";
}

Ran Hook::hook_bytes(const std::string& bytes, const Words& flags, Command given) const {
  given.input = bytes;
  // As Claude Code does; Codex does not.
  if (!contains(bytes, "turn_id")) given.env.emplace("CLAUDE_PROJECT_DIR", workspace());
  Words words = judge_words(given);
  words.insert(words.end(), flags.begin(), flags.end());
  return cloche_words(words, std::move(given));
}

// As --install writes it for an operator whose home is the scene's: the hook takes no place from a variable.
Words Hook::judge_words(const Command& given) const {
  const auto state = given.env.find("XDG_STATE_HOME");
  return {"hook", "--home", home(), "--state-home",
          state == given.env.end() ? state_home(as()) : state->second};
}

HookSaid Hook::hook(const std::string& tool, const std::string& input, const Command& given) const {
  return said_to(call_of(tool, input), given);
}

HookSaid Hook::said_to(const std::string& bytes, const Command& given) const {
  HookSaid said{.ran = hook_bytes(bytes, {}, given)};
  EXPECT_TRUE(exited(said.ran, 0));
  const auto json = parse_json(said.ran.out);
  EXPECT_TRUE(json) << said.ran.out;
  if (!json || !json->has("hookSpecificOutput")) return said;
  const Json& output = (*json)["hookSpecificOutput"];
  EXPECT_EQ(output["hookEventName"].string, "PreToolUse");
  said.decision = output["permissionDecision"].string;
  said.reason = output["permissionDecisionReason"].string;
  said.command = output["updatedInput"]["command"].string;
  return said;
}

HookSaid Hook::bash(const std::string& command) const {
  return hook("Bash", R"({"command": )" + quoted(command) + R"(, "description": "d", "timeout": 1000})");
}

std::string Hook::in_terminal_program(const std::string& call, Command given) const {
  given.env.emplace("CLAUDE_CODE_ENTRYPOINT", "cli");
  return hook_bytes(call, {}, std::move(given)).out;
}

Ran Hook::carry_out(const std::string& command) const {
  Command shell = words({});
  shell.argv = {"sh", "-c", command};
  return run(shell);
}

Ran Hook::agent_runs(const std::string& command) const {
  const HookSaid said = bash(command);
  EXPECT_EQ(said.decision, "allow") << said.reason;
  EXPECT_TRUE(is_call_line(said.command));
  return carry_out(said.command);
}

std::string Hook::call_id(const std::string& line) {
  std::smatch found;
  const bool has_one = std::regex_search(line, found, std::regex("run --call ([a-z0-9]+)"));
  EXPECT_TRUE(has_one) << line;
  return has_one ? found[1].str() : "";
}

std::string Hook::waiting_id(const std::string& reason) {
  std::smatch found;
  const bool waits =
      std::regex_search(reason, found, std::regex("waiting for approval ([a-z0-9-]+): the user"));
  EXPECT_TRUE(waits) << reason;
  return waits ? found[1].str() : "";
}

void Hook::rules(const std::string& json) {
  scene().write("home/.config/cloche/config.json", R"({"permissions": )" + json + "}");
}

::testing::AssertionResult is_call_line(const std::string& command) {
  if (std::regex_match(command, std::regex("/[A-Za-z0-9/._+-]+/cloche run --call [a-z0-9-]+"
                                           "( --home [A-Za-z0-9/._-]+)?( --state-home [A-Za-z0-9/._-]+)?")))
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << command;
}

}  // namespace cloche::test
