// What an agent does itself: judged by the gates, never allowed outright, and written down as advisory.
#include <regex>

#include "everyday/conversation.hpp"
#include "hook/fixture.hpp"

namespace cloche::test {
namespace {

class HookJudged : public Hook {
 protected:
  std::string at(const std::string& name) const { return quoted((workspace() / name).string()); }
};

// Its author relies on it. The model reads what the hook prints, and hears nothing of it.
TEST_P(HookJudged, ARuleThatNeverDecidesIsSaidAtEveryFrontEnd) {
  rules(R"({"rules": [{"tool": "run_shel", "action": "deny"}], "default": "allow"})");
  const std::string note = "no tool of the name run_shel is known; did you mean run_shell?";
  for (const Words& front : {Words{"run", "--", "true"}, Words{"call", "run_shell", R"({"cmd": "ls"})"},
                             Words{"mcp"}, Words{"doctor"}, Words{"explain", "run", "--", "true"}}) {
    Command how;
    how.input = "";
    const Ran ran = cloche_words(front, how);
    const bool shows = front[0] == "doctor" || front[0] == "explain";
    EXPECT_TRUE(contains(shows ? ran.out : ran.err, note)) << front[0] << ": " << ran.out << ran.err;
    EXPECT_TRUE(front[0] != "call" || !contains(ran.out, "run_shel ")) << ran.out;
  }
  const HookSaid said = bash("ls");
  EXPECT_TRUE(contains(said.ran.err, note)) << said.ran.err;
  EXPECT_FALSE(contains(said.ran.out, "did you mean")) << said.ran.out;
  rules(R"({"rules": [{"tool": "my_own_tool", "action": "deny"}], "default": "allow"})");
  EXPECT_EQ(bash("ls").ran.err, "") << "it may be an executor's";
}

TEST_P(HookJudged, TheGatesAnswerForEachTool) {
  file("a.txt", "x");
  EXPECT_TRUE(exited(
      outside("ln -s /etc/passwd out; ln -s /etc/nowhere dangling; mkdir -p sub/deep; ln -s sub/deep down; "
              "ln -s /etc @etc"),
      0));
  struct Row {
    std::string tool;
    std::string input;
    std::string decision;
    std::string words;
  };
  const Row rows[] = {
      {"Read", R"({"file_path": )" + at("a.txt") + "}", "", ""},
      {"Read", R"({"file_path": "a.txt"})", "", ""},
      {"Read", R"({"file_path": )" + at("not/there") + "}", "", ""},
      {"Read", R"({"file_path": "/etc/passwd"})", "deny", "not in the workspace"},
      {"Read", R"({"file_path": )" + at("sub/../../x") + "}", "deny", "not in the workspace"},
      {"Read", R"({"file_path": )" + at("out") + "}", "deny", "not in the workspace"},
      {"Write", R"({"file_path": )" + at("new.txt") + R"(, "content": "x"})", "", ""},
      {"Write", R"({"file_path": )" + at("out") + R"(, "content": "x"})", "deny", "absolute path"},
      {"Write", R"({"file_path": )" + at("dangling") + R"(, "content": "x"})", "deny", "leads nowhere"},
      {"Write", R"({"file_path": )" + at("none/../../x") + R"(, "content": "x"})", "deny", "goes up"},
      {"Write", R"({"file_path": )" + at(".git/hooks/x") + R"(, "content": "x"})", "deny", "protected"},
      {"Edit", R"({"file_path": )" + at("a.txt") + R"(, "old_string": "x", "new_string": "y"})", "", ""},
      {"Edit", R"({"file_path": )" + at(".envrc") + R"(, "old_string": "x", "new_string": "y"})", "deny", ""},
      {"NotebookEdit", R"({"notebook_path": )" + at("n.ipynb") + R"(, "new_source": ""})", "", ""},
      {"NotebookEdit", R"({"notebook_path": "/n.ipynb", "new_source": ""})", "deny", ""},
      {"Grep", R"({"pattern": "x"})", "", ""},
      {"Grep", R"({"pattern": "x", "path": "/etc"})", "deny", "not in the workspace"},
      {"Read", R"({"file_path": "down/../out"})", "deny", "goes up from behind a link"},
      {"Read", R"({"file_path": "sub/../a.txt"})", "", ""},
      {"Read", R"({"file_path": "~/.ssh/id_rsa"})", "deny", "begins with ~"},
      {"Read", R"({"file_path": " /etc/passwd"})", "deny", "white space"},
      {"Write", R"({"file_path": "\u00a0/etc/x", "content": "x"})", "deny", "white space"},
      {"Glob", R"({"pattern": "**/*.txt"})", "", ""},
      {"Glob", R"({"pattern": )" + at("sub/**") + "}", "", ""},
      {"Glob", R"({"pattern": "/etc/**"})", "deny", "not in the workspace"},
      {"Glob", R"({"pattern": )" + at("@etc/*") + "}", "deny", "not in the workspace"},
      {"Glob", R"({"pattern": "../../**"})", "deny", "goes up"},
      {"Glob", R"({"pattern": "~/.ssh/*"})", "deny", "begins with ~"},
      {"WebFetch", R"({"url": "https://example.org/", "prompt": "p"})", "deny", "network"},
      {"mcp__server__tool", R"({"any": [1, 2]})", "", ""},
      {"Read", R"({"path": "a.txt"})", "deny", "file_path"},
      {"Task", "{}", "deny", "waiting for approval"},
  };
  for (const auto& row : rows) {
    const HookSaid said = hook(row.tool, row.input);
    EXPECT_EQ(said.decision, row.decision) << row.tool << row.input << said.reason;
    EXPECT_TRUE(contains(said.reason, row.words)) << said.reason;
  }
}

// DESIGN.md, file tools: an agent may write the dot-files that the host does not execute.
TEST_P(HookJudged, DotfilesAreWrittenAndProtectedOnesAreNot) {
  const auto decision_on = [&](const std::string& path) {
    return hook("Write", R"({"file_path": )" + at(path) + R"(, "content": "x"})").decision;
  };
  for (const char* path : {".gitignore", ".github/workflows/ci.yml", ".env.example", "sub/.dockerignore"})
    EXPECT_EQ(decision_on(path), "") << path;
  for (const char* path : {".git/hooks/pre-commit", ".gitmodules", ".envrc", ".github/.git/config",
                           ".claude/settings.json", ".mcp.json", ".vscode/tasks.json", ".cloche/config.json"})
    EXPECT_EQ(decision_on(path), "deny") << path;
  scene().write("home/.config/cloche/config.json", R"({"dotfiles": "refuse"})");
  EXPECT_EQ(decision_on(".gitignore"), "deny") << "the operator's word counts first";
}

TEST_P(HookJudged, ItIsWrittenDownAsAdvisory) {
  (void)hook("Read", R"({"file_path": "a.txt"})");
  (void)hook("Read", R"({"file_path": "/etc/passwd"})");
  const std::string last = read_file(state() / "last");
  const auto lines = json_lines(fs::path(last.substr(0, last.find('\n'))) / "tool_calls" / "s-1.jsonl");
  ASSERT_EQ(lines.size(), 2U);
  for (const auto& line : lines) {
    EXPECT_EQ(line["tool"].string, "Read");
    EXPECT_TRUE(line["advisory"].boolean);
  }
  EXPECT_EQ(lines[0]["backend"].string, "advisory");
  EXPECT_EQ(lines[1]["outcome"].string, "refused");
}

TEST_P(HookJudged, RulesJudgeWhatNobodyKnows) {
  rules(R"({"default": "allow", "rules": [
    {"tool": "TodoWrite", "action": "allow"},
    {"tool": "mcp__git__*", "args": {"branch": "^main$"}, "action": "deny", "reason": "not on main"},
    {"tool": "run_script", "args": {"code": "sudo"}, "action": "deny", "reason": "no sudo"}]})");
  EXPECT_EQ(hook("TodoWrite", "{}").decision, "");
  EXPECT_EQ(hook("Task", "{}").decision, "deny") << "the default is not about what nobody knows";
  const HookSaid main = hook("mcp__git__push", R"({"branch": "main"})");
  EXPECT_EQ(main.decision, "deny");
  EXPECT_TRUE(contains(main.reason, "not on main"));
  EXPECT_EQ(hook("mcp__git__push", R"({"branch": "topic"})").decision, "");
  EXPECT_TRUE(contains(bash("echo; sudo ls").reason, "no sudo"));
}

// People write the names that they see: the agent's own. What is judged as one of our tools has both, and
// the stricter word counts.
TEST_P(HookJudged, RulesMayNameTheAgentsOwnTools) {
  rules(R"({"rules": [
    {"tool": "Bash", "args": {"command": "^deploy"}, "action": "deny", "reason": "no deploys"},
    {"tool": "Write", "args": {"file_path": "secret"}, "action": "deny", "reason": "no secrets"},
    {"tool": "Read", "action": "allow"},
    {"tool": "read_artifact", "args": {"path": "^private"}, "action": "deny"},
    {"tool": "Web*", "action": "deny", "reason": "no web"},
    {"tool": "run_script", "action": "allow"},
    {"tool": "write_artifact", "action": "allow"},
    {"tool": "read_artifact", "action": "allow"},
    {"tool": "*", "action": "deny"}]})");
  for (const char* command :
       {"deploy", "deploy;", "true; deploy", "true && 'deploy' x", "X=1; deploy \\\"$X\\\"", "(deploy)"})
    EXPECT_TRUE(contains(bash(command).reason, "no deploys")) << command;
  EXPECT_EQ(bash("echo deploy").decision, "allow")
      << "the last rule is about our name too, and comes too late";
  EXPECT_TRUE(contains(hook("Write", R"({"file_path": "secret", "content": "x"})").reason, "no secrets"));
  EXPECT_EQ(hook("Write", R"({"file_path": "plain", "content": "x"})").decision, "");
  EXPECT_EQ(hook("Read", R"({"file_path": "private"})").decision, "deny") << "an allow loosens nothing";
  EXPECT_EQ(hook("Read", R"({"file_path": "plain"})").decision, "");
  EXPECT_EQ(hook("WebFetch", R"({"url": "https://example.org/"})").decision, "deny");
}

TEST_P(HookJudged, ARuleThatIsMadeMeanwhileIsHeardWhenItRuns) {
  const std::string command = bash("echo ran").command;
  rules(R"({"default": "allow", "rules": [{"tool": "Bash", "action": "deny", "reason": "no more"}]})");
  EXPECT_TRUE(refused(carry_out(command), {126}, {"no more"}));
}

TEST_P(HookJudged, InItsTerminalProgramClaudeAsksItsPersonUnlessTheOperatorMust) {
  rules(R"({"default": "allow", "rules": [
    {"tool": "read_artifact", "args": {"path": "^asked"}, "action": "ask"},
    {"tool": "read_artifact", "args": {"path": "^ours"}, "action": "ask", "approver": "operator"}]})");
  const std::string asks = R"("permissionDecision":"ask")";
  const std::string asked = call_of("Read", R"({"file_path": "asked"})");
  const std::string bypassing = std::regex_replace(asked, std::regex("default"), "bypassPermissions");
  EXPECT_TRUE(contains(in_terminal_program(call_of("Task", "{}")), asks));
  EXPECT_TRUE(contains(in_terminal_program(asked), asks));
  for (const auto& call : {bypassing, call_of("Read", R"({"file_path": "ours"})"),
                           call_with(R"("turn_id": "1", )", "Task", "{}")})
    EXPECT_TRUE(contains(in_terminal_program(call), "waiting for approval")) << call;
  for (const char* headless : {"sdk-cli", "sdk-ts", "CLI", ""})
    EXPECT_FALSE(contains(in_terminal_program(asked, {.env = {{"CLAUDE_CODE_ENTRYPOINT", headless}}}), asks))
        << headless;
}

// The person's yes is that the agent starts it, and it is a yes to what was shown.
TEST_P(HookJudged, ACommandThatIsAskedAboutInTheTerminalProgramRunsOnceAsItWasShown) {
  rules(R"({"default": "allow", "rules": [
    {"tool": "Bash", "args": {"command": "^sh "}, "action": "ask", "reason": "scripts are asked about"},
    {"tool": "Bash", "args": {"command": "deploy"}, "action": "ask", "approver": "operator"}]})");
  file("a.sh", "echo first; hostname\n");
  const auto asked = [&](const std::string& command) {
    const auto json = parse_json(
        in_terminal_program(call_of("Bash", R"({"command": )" + quoted(command) + R"(, "timeout": 5})")));
    EXPECT_TRUE(json);
    return (*json)["hookSpecificOutput"];
  };
  const Json said = asked("sh a.sh");
  EXPECT_EQ(said["permissionDecision"].string, "ask");
  EXPECT_TRUE(contains(said["permissionDecisionReason"].string, "What it asks for: sh a.sh"));
  EXPECT_TRUE(contains(said["permissionDecisionReason"].string, "scripts are asked about"));
  const std::string line = said["updatedInput"]["command"].string;
  EXPECT_TRUE(is_call_line(line));
  const Ran ran = carry_out(line);
  EXPECT_EQ(ran.out, "first\ncloche\n") << "isolated: " << ran.err;
  EXPECT_TRUE(refused(carry_out(line), {125}, {"was started already"}));

  const std::string isolated = asked("sh a.sh")["updatedInput"]["command"].string;
  scene().write("home/.config/cloche/config.json", R"({"enabled": false})");
  EXPECT_EQ(carry_out(isolated).out, "first\ncloche\n") << "isolated, whatever was switched since";
  rules(R"({"default": "allow", "rules": [{"tool": "Bash", "action": "ask", "approver": "operator"}]})");
  EXPECT_EQ(asked("sh a.sh")["permissionDecision"].string, "deny");
}

TEST_P(HookJudged, AModelsCdDoesNotChooseTheWorkspace) {
  const Command started{.env = {{"CLAUDE_PROJECT_DIR", workspace() / "project"}}};
  EXPECT_TRUE(exited(outside("mkdir -p project/sub"), 0));
  const auto standing_in = [&](const std::string& directory) {
    std::string call = call_of("Bash", R"({"command": "touch ../made"})");
    const std::string here = quoted(workspace());
    return call.replace(call.find(here), here.size(), quoted((workspace() / directory).string()));
  };
  const HookSaid inside = said_to(standing_in("project/sub"), started);
  EXPECT_TRUE(exited(carry_out(inside.command), 0));
  EXPECT_TRUE(fs::exists(workspace() / "project/made"));
  const HookSaid outside_it = said_to(call_of("Bash", R"({"command": "true"})"), started);
  EXPECT_EQ(outside_it.decision, "deny");
  EXPECT_TRUE(contains(outside_it.reason, "outside the project")) << outside_it.reason;
}

TEST_P(HookJudged, RulesAboutBashHoldForWhateverCarriesACommand) {
  rules(
      R"({"default": "allow", "rules": [{"tool": "Bash", "args": {"command": "^touch"}, "action": "deny"}]})");
  EXPECT_EQ(hook("Bash", R"({"command": "touch a"})").decision, "deny");
  EXPECT_EQ(hook("Monitor", R"({"command": "touch a", "description": "d"})").decision, "deny");
  EXPECT_EQ(hook("Monitor", R"({"command": "echo a", "description": "d"})").decision, "allow");
}

TEST_P(HookJudged, AQuestionThatOnlyTheOperatorMayAnswerByNowIsNotAnswered) {
  rules(R"({"default": "allow", "rules": [{"tool": "Bash", "action": "ask"}]})");
  const auto json = parse_json(in_terminal_program(call_of("Bash", R"({"command": "echo ran"})")));
  ASSERT_TRUE(json);
  const std::string line = (*json)["hookSpecificOutput"]["updatedInput"]["command"].string;
  rules(R"({"default": "allow", "rules": [{"tool": "Bash", "action": "ask", "approver": "operator"}]})");
  EXPECT_FALSE(contains(carry_out(line).out, "ran"));
}

TEST_P(HookJudged, WhatCannotBeShownWholeIsNotAskedInTheTerminalProgram) {
  rules(R"({"default": "allow", "rules": [{"tool": "Bash", "action": "ask"}]})");
  const std::string longer = "echo harmless #" + std::string(3000, 'a') + "\nrm -rf tail";
  EXPECT_TRUE(contains(in_terminal_program(call_of("Bash", R"({"command": )" + quoted(longer) + "}")),
                       R"("permissionDecision":"deny")"));
}

TEST_P(HookJudged, WhereTheProjectSetsTheEntrypointItSaysNothing) {
  rules(R"({"default": "allow", "rules": [{"tool": "Bash", "action": "ask"}]})");
  const std::string call = call_of("Bash", R"({"command": "true"})");
  EXPECT_TRUE(contains(in_terminal_program(call), R"("permissionDecision":"ask")")) << "the control";
  file(".claude/settings.json", R"({"env": {"CLAUDE_CODE_ENTRYPOINT": "cli"}})");
  EXPECT_TRUE(contains(in_terminal_program(call), R"("permissionDecision":"deny")"));
}

TEST_P(HookJudged, FieldsOfAnotherTypeAreNotUnderstood) {
  for (const char* odd : {R"("agent_id": {}, )", R"("agent_id": 7, )"})
    EXPECT_TRUE(refused(hook_bytes(call_with(odd, "Bash", R"({"command": "true"})")), {2}, {"not a string"}))
        << odd;
  std::string mode = call_of("Bash", R"({"command": "true"})");
  mode.replace(mode.find("\"default\""), 9, "[\"plan\"]");
  EXPECT_TRUE(refused(hook_bytes(mode), {2}, {"not a string"}));
}

// Codex reads an ask as no answer at all, which is a yes; and it has no other answer than these.
TEST_P(HookJudged, CodexIsNeverAskedAndNeverToldMoreThanItKnows) {
  const HookSaid unknown = said_to(call_with(R"("turn_id": "1", )", "anything", "{}"));
  EXPECT_EQ(unknown.decision, "deny");
  const HookSaid command = said_to(call_with(R"("turn_id": "1", )", "Bash", R"({"command": "true"})"));
  EXPECT_EQ(command.decision, "allow");
  EXPECT_TRUE(is_call_line(command.command));
}

// Codex trims the lines of a patch before it looks for headers, and what it makes of them is what happens.
TEST_P(HookJudged, APatchIsReadAsStrictlyAsCodexReadsItLeniently) {
  EXPECT_TRUE(exited(outside("ln -s /etc/passwd lnk"), 0));
  const std::pair<const char*, const char*> rows[] = {
      {R"(*** Add File: also.txt\n+ *** x)", ""},
      {R"(*** Add File: /etc/no\n+x)", "deny"},
      {R"( *** Add File: /etc/no\n+x)", "deny"},
      {R"(\t*** Delete File: /etc/passwd)", "deny"},
      {R"(\u00a0*** Delete File: /etc/passwd)", "deny"},
      {R"(*** Update File: lnk\u00a0\n@@\n-a\n+b)", "deny"},
      {R"(*** Update File: ok.txt\n *** Move to: /etc/x\n@@\n-a\n+b)", "deny"},
      {R"(*** Update File: ~/x\n@@\n-a\n+b)", "deny"},
      {R"(*** Environment ID: other)", "deny"},
  };
  for (const auto& [lines, decision] : rows) {
    const std::string patch =
        std::string(R"(*** Begin Patch\n*** Add File: ok.txt\n+x\n)") + lines + R"(\n*** End Patch\n)";
    const HookSaid said =
        said_to(call_with(R"("turn_id": "1", )", "apply_patch", R"({"command": ")" + patch + R"("})"));
    EXPECT_EQ(said.decision, decision) << lines << said.reason;
  }
}

FOR_EVERYONE(HookJudged);

}  // namespace
}  // namespace cloche::test
