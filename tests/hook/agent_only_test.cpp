// Tools that act on the agent alone, and files that the agent keeps for its session: they pass with a line in
// the record; what is not exactly one of them is asked about or refused as before.
#include <unistd.h>

#include "hook/fixture.hpp"

namespace cloche::test {
namespace {

const std::string own = "4b8ab9df-78a5-47e3-8db7-16c25a7178ab";
const std::string other = "23503a8f-e330-4e17-86f8-7ed4273af815";

class HookAgentOnly : public Hook {
 protected:
  fs::path config() const { return home() / ".claude"; }
  fs::path projects() const { return config() / "projects/-p"; }

  // As Claude Code sends it: session and transcript are the client's, the tool and its input the model's.
  HookSaid claude(const std::string& tool, const std::string& input, const std::string& mode = "default",
                  const std::string& session = own) const {
    return said_to(R"({"session_id": )" + quoted(session) + R"(, "transcript_path": )" +
                   quoted((projects() / (session + ".jsonl")).string()) + R"(, "cwd": )" +
                   quoted(workspace().string()) + R"(, "permission_mode": )" + quoted(mode) +
                   R"(, "hook_event_name": "PreToolUse", "tool_name": )" + quoted(tool) +
                   R"(, "tool_input": )" + input + R"(, "tool_use_id": "t"})");
  }
  HookSaid codex(const std::string& tool, const std::string& input) const {
    return said_to(call_with(R"("turn_id": "1", )", tool, input));
  }
  HookSaid read_of(const fs::path& path) const {
    return claude("Read", R"({"file_path": )" + quoted(path.string()) + "}");
  }
  // In the caller's own home, and of the caller.
  void client_file(const std::string& below, const std::string& text = "x") {
    const std::string path = (config() / below).string();
    EXPECT_TRUE(exited(
        outside("umask 077; mkdir -p \"$(dirname " + path + ")\"; printf '%s' '" + text + "' > " + path), 0));
  }
};

struct Row {
  std::string tool;
  std::string input;
};

const Row claude_passes[] = {
    {"TodoWrite", R"({"todos": [{"content": "a", "status": "pending", "activeForm": "b"}]})"},
    {"TaskCreate", R"({"subject": "a", "description": "b"})"},
    {"TaskGet", R"({"taskId": "1"})"},
    {"TaskList", "{}"},
    {"TaskUpdate", R"({"taskId": "1", "status": "completed"})"},
    {"AskUserQuestion",
     R"({"questions": [{"question": "a?", "header": "b", "multiSelect": false, "options": [{"label": "c", "description": "d"}]}]})"},
    {"ReportFindings", R"({"findings": []})"},
    {"SendUserMessage", R"({"message": "a"})"},
    {"StructuredOutput", R"({"answer": 42})"},
    {"EnterPlanMode", "{}"},
    {"ExitPlanMode", R"({"plan": "a"})"},
    {"TaskOutput", R"({"task_id": "b811o07jm", "block": false, "timeout": 10})"},
    {"TaskStop", R"({"task_id": "b811o07jm"})"},
    {"BashOutput", R"({"bash_id": "bash_1"})"},
    {"KillShell", R"({"shell_id": "bash_1"})"},
    {"SendMessage", R"({"to": "worker", "message": "a"})"},
    {"CronList", "{}"},
    {"CronDelete", R"({"id": "a"})"},
    {"ToolSearch", R"({"query": "a"})"},
    {"WaitForMcpServers", "{}"},
    {"Agent", R"({"description": "a", "prompt": "b"})"},
    {"Agent", R"({"prompt": "b", "subagent_type": "Explore", "mode": "plan", "run_in_background": true})"},
    {"Task", R"({"prompt": "b", "mode": "default"})"},
};
const Row codex_passes[] = {
    {"update_plan", R"({"plan": [{"step": "a", "status": "pending"}]})"},
    {"request_user_input", R"({"questions": []})"},
    {"get_goal", "{}"},
    {"create_goal", R"({"objective": "a"})"},
    {"update_goal", R"({"status": "complete"})"},
    {"multi_agent_v1send_input", R"({"target": "a", "message": "b"})"},
    {"multi_agent_v1wait_agent", R"({"targets": ["a"]})"},
    {"multi_agent_v1close_agent", R"({"target": "a"})"},
};

TEST_P(HookAgentOnly, EachRowPassesWithALineInTheRecord) {
  size_t calls = 0;
  for (const auto& row : claude_passes) {
    const HookSaid said = claude(row.tool, row.input);
    EXPECT_EQ(said.ran.out, "{}\n") << row.tool << row.input << said.reason;
    ++calls;
  }
  const std::string last = read_file(state() / "last");
  const auto lines = json_lines(fs::path(last.substr(0, last.find('\n'))) / "tool_calls" / (own + ".jsonl"));
  EXPECT_EQ(lines.size(), calls);
  for (const auto& line : lines) {
    EXPECT_TRUE(line["advisory"].boolean);
    EXPECT_EQ(line["backend"].string, "advisory");
  }
  for (const auto& row : codex_passes)
    EXPECT_EQ(codex(row.tool, row.input).ran.out, "{}\n") << row.tool << row.input;
}

TEST_P(HookAgentOnly, AnotherArgumentAsks) {
  for (const auto& row : claude_passes) {
    if (row.tool == "StructuredOutput") continue;  // its arguments are the caller's own
    const std::string more = row.input == "{}" ? R"({"more": 1})" : R"({"more": 1, )" + row.input.substr(1);
    EXPECT_EQ(claude(row.tool, more).decision, "deny") << row.tool << more;
  }
  for (const auto& row : codex_passes) {
    const std::string more = row.input == "{}" ? R"({"more": 1})" : R"({"more": 1, )" + row.input.substr(1);
    EXPECT_EQ(codex(row.tool, more).decision, "deny") << row.tool << more;
  }
  const Row rows[] = {
      {"Agent", R"({"prompt": "b", "isolation": "worktree"})"},
      {"Agent", R"({"prompt": "b", "isolation": "remote"})"},
      {"Agent", R"({"prompt": "b", "mode": "bypassPermissions"})"},
      {"Agent", R"({"prompt": "b", "mode": "acceptEdits"})"},
      {"Agent", R"({"prompt": "b", "mode": "dontAsk"})"},
      {"Agent", R"({"prompt": "b", "mode": "auto"})"},
      {"Agent", R"({"prompt": "b", "mode": null})"},
      {"Agent", R"({"prompt": "b", "subagent_type": "unheard-of"})"},
      {"AskUserQuestion", R"({"questions": [{"question": "a?", "options": []}], "answers": {"a?": "yes"}})"},
      {"ExitPlanMode", R"({"planFilePath": "/etc/passwd"})"},
      {"SendUserMessage", R"({"message": "a", "attachments": ["/etc/passwd"]})"},
      {"Monitor",
       R"({"description": "a", "timeout_ms": 1, "persistent": false, "ws": {"url": "ws://127.0.0.1/"}})"},
      {"CronCreate", R"({"cron": "* * * * *", "prompt": "/deploy"})"},
      {"ScheduleWakeup", R"({"delaySeconds": 60, "reason": "a", "prompt": "/deploy"})"},
      {"EnterWorktree", "{}"},
      {"ExitWorktree", R"({"action": "keep"})"},
      {"Workflow", R"({"script": "x"})"},
      {"REPL", R"({"code": "1"})"},
      {"PowerShell", R"({"command": "ls"})"},
      {"LSP", "{}"},
      {"WebSearch", R"({"query": "a"})"},
      {"tasklist", "{}"},
      {"get_goal", "{}"},
      {"NoSuchTool", "{}"},
  };
  for (const auto& row : rows) {
    const HookSaid said = claude(row.tool, row.input);
    EXPECT_EQ(said.decision, "deny") << row.tool << row.input;
    EXPECT_TRUE(contains(said.reason, "approv")) << said.reason;
  }
}

TEST_P(HookAgentOnly, RulesAreHeardFirst) {
  rules(R"({"default": "allow", "rules": [{"tool": "Agent", "action": "deny", "reason": "no subagents"},
    {"tool": "Read", "action": "deny", "reason": "no reading"},
    {"tool": "Skill", "args": {"skill": "^deploy$"}, "action": "allow"}]})");
  EXPECT_TRUE(contains(claude("Agent", R"({"prompt": "b"})").reason, "no subagents"));
  EXPECT_EQ(claude("TaskList", "{}").decision, "");
  client_file("projects/-p/" + own + "/tool-results/a.txt");
  EXPECT_TRUE(contains(read_of(projects() / own / "tool-results/a.txt").reason, "no reading"));
  EXPECT_EQ(claude("Skill", R"({"skill": "deploy"})").decision, "") << "the operator names it";
  EXPECT_EQ(claude("Skill", R"({"skill": "other"})").decision, "deny");
}

TEST_P(HookAgentOnly, AMonitorsCommandRunsInTheSandbox) {
  const HookSaid said = claude(
      "Monitor",
      R"({"command": "echo ran > made; hostname", "description": "a", "timeout_ms": 5, "persistent": false})");
  EXPECT_EQ(said.decision, "allow") << said.reason;
  EXPECT_TRUE(is_call_line(said.command));
  const auto json = parse_json(said.ran.out);
  ASSERT_TRUE(json);
  EXPECT_EQ((*json)["hookSpecificOutput"]["updatedInput"].object.size(), 4U);
  EXPECT_EQ(carry_out(said.command).out, "cloche\n");
  EXPECT_EQ(read_file(workspace() / "made"), "ran\n");
}

// What stands in a command's place goes back with the other arguments: one that is not known could run
// something else, and a yes of the user's would run the command bare.
TEST_P(HookAgentOnly, AnUnknownArgumentOfACommandRefuses) {
  const Row rows[] = {
      {"Bash", R"({"command": "true", "_simulatedSedEdit": {"filePath": "/etc/x", "newContent": "y"}})"},
      {"Bash", R"({"command": "true", "shell": "/bin/zsh"})"},
      {"Monitor", R"({"command": "true", "ws": {"url": "ws://127.0.0.1/"}})"},
      {"Monitor", R"({"command": "true", "cwd": "/"})"},
  };
  for (const auto& row : rows) {
    const HookSaid said = claude(row.tool, row.input);
    EXPECT_EQ(said.decision, "deny") << row.input;
    EXPECT_TRUE(contains(said.reason, "cannot be judged")) << said.reason;
  }
  EXPECT_EQ(
      claude(
          "Bash",
          R"({"command": "true", "timeout": 1, "description": "d", "run_in_background": true, "dangerouslyDisableSandbox": true})")
          .decision,
      "allow");
}

TEST_P(HookAgentOnly, AnImageIsReadAsAFile) {
  EXPECT_EQ(codex("view_image", R"({"path": "a.png"})").decision, "");
  EXPECT_EQ(codex("view_image", R"({"path": "/etc/passwd"})").decision, "deny");
}

TEST_P(HookAgentOnly, ASkillPassesWhenItsDefinitionLiesOutside) {
  EXPECT_EQ(claude("Skill", R"({"skill": "review"})").decision, "deny") << "it is nowhere";
  client_file("skills/review/SKILL.md", "text");
  EXPECT_EQ(claude("Skill", R"({"skill": "review", "args": "a"})").ran.out, "{}\n");
  EXPECT_EQ(claude("Skill", R"({"skill": "review", "args": "!`id`"})").decision, "deny");
  EXPECT_EQ(claude("Skill", R"({"skill": "review", "args": "see @/etc/passwd"})").decision, "deny")
      << "the client would read it without a hook";
  client_file("skills/looks/SKILL.md", "look at @$1");
  EXPECT_EQ(claude("Skill", R"({"skill": "looks", "args": "/etc/passwd"})").decision, "deny");
  EXPECT_EQ(claude("Skill", R"({"skill": "looks"})").decision, "");
  client_file("skills/runs/SKILL.md", "now: !`id`");
  EXPECT_EQ(claude("Skill", R"({"skill": "runs"})").decision, "deny");
  file(".claude/skills/review/SKILL.md", "text");
  EXPECT_EQ(claude("Skill", R"({"skill": "review"})").decision, "deny") << "one lies in the workspace";
}

TEST_P(HookAgentOnly, ASubagentOfTheProjectAsks) {
  file(".claude/agents/x.md", "---\nname: general-purpose\nhooks: {}\n---\n");
  EXPECT_EQ(claude("Agent", R"({"prompt": "a"})").decision, "deny") << "it is the one that is meant";
  EXPECT_EQ(claude("Agent", R"({"prompt": "a", "subagent_type": "general-purpose"})").decision, "deny");
  EXPECT_EQ(claude("Agent", R"({"prompt": "a", "subagent_type": "Explore"})").decision, "deny")
      << "its head may say another name to the client";
  fs::remove_all(workspace() / ".claude/agents");
  EXPECT_EQ(claude("Agent", R"({"prompt": "a", "subagent_type": "Explore"})").decision, "") << "the control";
}

TEST_P(HookAgentOnly, StoredOutputIsReadBack) {
  const std::string results = "projects/-p/" + own + "/tool-results/";
  client_file(results + "a.txt");
  EXPECT_EQ(read_of(config() / results / "a.txt").ran.out, "{}\n");
  const std::string path = quoted((config() / results / "a.txt").string());
  EXPECT_EQ(claude("Read", R"({"file_path": )" + path + R"(, "offset": 1, "limit": 2})").decision, "");
  for (const Row& row :
       {Row{"Grep", R"({"pattern": "x", "path": )" + path + "}"},
        Row{"Glob", R"({"pattern": "*", "path": )" + quoted((config() / results).string()) + "}"},
        Row{"Write", R"({"content": "x", "file_path": )" + path + "}"},
        Row{"Edit", R"({"old_string": "x", "new_string": "y", "file_path": )" + path + "}"},
        Row{"Read", R"({"more": 1, "file_path": )" + path + "}"}})
    EXPECT_EQ(claude(row.tool, row.input).decision, "deny") << row.tool;
  EXPECT_EQ(said_to(call_with(R"("turn_id": "1", )", "Read", R"({"file_path": )" + path + "}")).decision,
            "deny");
  EXPECT_EQ(claude("Read", R"({"file_path": )" + path + "}", "default", other).decision, "deny")
      << "another session";
  EXPECT_NE(agent_runs("cat " + (config() / results / "a.txt").string()).exit_code, 0) << "not for Bash";
}

// In the real /tmp, where the client has them: a project of the test's own, gone with it.
TEST_P(HookAgentOnly, OutputOfBackgroundTasksIsReadBack) {
  const std::string claude_tmp = "/tmp/claude-" + std::to_string(as() == As::nobody ? 65534 : ::geteuid());
  const std::string project = "-cloche-test-" + std::to_string(::getpid());
  const std::string mine = claude_tmp + "/" + project + "/" + own + "/tasks";
  const std::string others = claude_tmp + "/" + project + "/" + other + "/tasks";
  ASSERT_TRUE(
      exited(outside("umask 077; mkdir -p " + mine + " " + others + "; echo x > " + mine +
                     "/a.output; echo x > " + others + "/a.output; ln -s /etc/passwd " + mine + "/b.output"),
             0));
  const auto read_in_project = [&](const std::string& path) {
    return said_to(R"({"session_id": )" + quoted(own) + R"(, "transcript_path": )" +
                   quoted((config() / "projects" / project / (own + ".jsonl")).string()) + R"(, "cwd": )" +
                   quoted(workspace().string()) +
                   R"(, "hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {"file_path": )" +
                   quoted(path) + "}}");
  };
  EXPECT_EQ(read_in_project(mine + "/a.output").decision, "");
  EXPECT_EQ(read_in_project(mine + "/b.output").decision, "deny") << "a link";
  EXPECT_EQ(read_in_project(others + "/a.output").decision, "deny") << "a sibling session";
  EXPECT_EQ(read_of(mine + "/a.output").decision, "deny") << "another project";
  EXPECT_TRUE(
      exited(outside("rm -r " + claude_tmp + "/" + project + "; rmdir " + claude_tmp + " 2>&1 || true"), 0));
}

TEST_P(HookAgentOnly, OtherFilesOfTheAgentStayRefused) {
  const std::string mine = "projects/-p/" + own;
  for (const std::string& below :
       {mine + ".jsonl", std::string("projects/-p/memory/MEMORY.md"), mine + "/subagents/agent-1.jsonl",
        mine + "/tool-results/deeper/a.txt", "projects/-p/" + other + "/tool-results/a.txt",
        std::string("settings.json"), std::string("plans/a.md")}) {
    client_file(below);
    EXPECT_EQ(read_of(config() / below).decision, "deny") << below;
  }
  EXPECT_TRUE(
      exited(outside("ln -s /etc/passwd " + (config() / mine / "tool-results/link.txt").string()), 0));
  EXPECT_EQ(read_of(config() / mine / "tool-results/link.txt").decision, "deny");
  EXPECT_TRUE(exited(outside("ln " + (config() / "settings.json").string() + " " +
                             (config() / mine / "tool-results/hard.txt").string()),
                     0));
  EXPECT_EQ(read_of(config() / mine / "tool-results/hard.txt").decision, "deny");
}

// The settings of a project can set these, so where they lead decides nothing.
TEST_P(HookAgentOnly, TheEnvironmentNamesNoPlace) {
  EXPECT_TRUE(exited(outside("mkdir -p e/projects/-p/" + own + "/tool-results; echo x > e/projects/-p/" +
                             own + "/tool-results/a.txt; cp -r e " + (home() / "e").string()),
                     0));
  const std::string path = (home() / "e/projects/-p" / own / "tool-results/a.txt").string();
  const std::string call =
      R"({"session_id": )" + quoted(own) + R"(, "transcript_path": )" +
      quoted((projects() / (own + ".jsonl")).string()) + R"(, "cwd": )" + quoted(workspace().string()) +
      R"(, "hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {"file_path": )" +
      quoted(path) + "}}";
  Command given;
  given.env = {{"CLAUDE_CONFIG_DIR", (home() / "e").string()}};
  EXPECT_EQ(said_to(call, given).decision, "deny");
}

TEST_P(HookAgentOnly, ThePlanFileIsWrittenInPlanModeAlone) {
  client_file("projects/-p/" + own + ".jsonl",
              R"({"sessionId": ")" + own + R"(", "slug": "do-it-warm-scott"})");
  EXPECT_TRUE(exited(outside("mkdir -p -m 700 " + (config() / "plans").string()), 0));
  const auto write = [&](const fs::path& path, const std::string& mode) {
    return claude("Write", R"({"file_path": )" + quoted(path.string()) + R"(, "content": "x"})", mode);
  };
  const fs::path plan = config() / "plans/do-it-warm-scott.md";
  EXPECT_EQ(write(plan, "plan").ran.out, "{}\n");
  for (const char* mode : {"default", "acceptEdits", "bypassPermissions"})
    EXPECT_EQ(write(plan, mode).decision, "deny") << mode;
  EXPECT_EQ(write(config() / "plans/other.md", "plan").decision, "deny");
  EXPECT_EQ(write(config() / "settings.json", "plan").decision, "deny");
  EXPECT_EQ(claude("ExitPlanMode", R"({"plan": "x", "planFilePath": )" + quoted(plan.string()) + "}", "plan")
                .decision,
            "");
  EXPECT_TRUE(exited(outside("ln -s /etc/passwd " + plan.string()), 0));
  EXPECT_EQ(write(plan, "plan").decision, "deny") << "a link";
}

FOR_EVERYONE(HookAgentOnly);

}  // namespace
}  // namespace cloche::test
