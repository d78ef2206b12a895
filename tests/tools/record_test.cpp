// The record against the sandbox: a command that may run anything can neither read nor change it, the
// decision is written before the effect, and every line has the keys that others rely on.
#include <chrono>
#include <set>
#include <thread>

#include "tools/fixture.hpp"

namespace cloche::test {
namespace {

class Records : public Tools {
 protected:
  fs::path run_place() const { return scene_root() / "run"; }
  Words recorded(Words more = {}) const {
    more.insert(more.end(), {"--run", run_place(), "--task", "T"});
    return more;
  }
};

// Whatever a path of the record is for, each of these would succeed for the owner of the files.
std::string attack_on(const std::string& path) {
  return "cat " + path + " && echo READ; ls -A " + path + " | grep . && echo LISTED; echo x >> " + path +
         " && echo CHANGED; rm -rf " + path + " 2>/dev/null; mv " + path + " " + path +
         ".x && echo MOVED;"
         " ln " +
         path + " hard && echo LINKED; ln -s " + path + " soft; cat soft && echo FOLLOWED; rm -f soft\n";
}

TEST_P(Records, AnyCommandNeitherReadsNorChangesThem) {
  ASSERT_TRUE(ended(call({"run_python", code("print('kept')")}, recorded()), "exited"));
  const std::string state = state_home(as()) + "/cloche";
  const std::string calls = run_place() / "artifacts/tool_calls";
  std::string attacks;
  for (const std::string& path :
       {calls, calls + "/T.jsonl", calls + "/T/c-0001.txt", (run_place() / "audit.jsonl").string(),
        (run_place() / "tasks/T/home").string(), (run_place() / ".lock").string(), state, state + "/runs"})
    attacks += attack_on(path);
  // The control: where they can be seen, all of these work.
  const Ran outside = run({.argv = {"bash", "-c", "cat " + calls + "/T.jsonl && echo READ"}, .as = as()});
  ASSERT_TRUE(contains(outside.out, "READ"));

  file("unused", "");
  scene().write("run/artifacts/attack.sh", attacks);
  for (const Call& asked :
       {Call{"run_script", script(attacks)}, Call{"run_shell", R"({"cmd": "bash attack.sh"})"}}) {
    const Answer answer = call(asked, recorded({"--commands", "any"}));
    EXPECT_TRUE(ended(answer, "exited"));
    for (const char* word : {"READ", "LISTED", "CHANGED", "MOVED", "LINKED", "FOLLOWED"})
      EXPECT_FALSE(contains(answer.json["stdout"].string, word)) << word << "\n" << answer.result();
    EXPECT_TRUE(verified(run_place()));
  }
}

// An executor has the workspace by a grant of its own; the record in it is as far away.
TEST_P(Records, NoExecutorReachesThemByItsCapabilities) {
  ASSERT_TRUE(ended(call({"write_artifact", R"({"path": "a", "content": "kept"})"}, recorded()), "exited"));
  const std::string run = run_place();
  const std::string python =
      "import json, os, subprocess, sys\n"
      "r = subprocess.run(['bash', '-c', json.load(sys.stdin)['sh']], capture_output=True, text=True)\n"
      "print(json.dumps({'out': r.stdout}))\n";
  const std::string hints[] = {"./**",        "./tool_calls/**",    "./tool_calls/T.jsonl",
                               run + "/**",   run + "/audit.jsonl", run + "/tasks/**",
                               "./.cloche/**"};
  fs::create_directories(run_place() / "artifacts/.cloche");
  scene().write("run/artifacts/.cloche/config.json", "{}");
  std::string attacks;
  for (const char* path : {"/artifacts/tool_calls", "/artifacts/tool_calls/T.jsonl",
                           "/artifacts/tool_calls/T/c-0001.txt", "/audit.jsonl", "/tasks/T/home"})
    attacks += attack_on(run + path);
  attacks += "rm " + run + "/artifacts/.cloche/config.json && echo CHANGED\n";
  for (size_t i = 0; i < std::size(hints); ++i) {
    SCOPED_TRACE(hints[i]);
    const std::string name = "reach-" + std::to_string(i);
    executor(name, python, {.capabilities = "[\"fs:write:" + hints[i] + "\", \"code:exec\"]"});
    Words flags = recorded({"--autonomy", "full"});
    flags.insert(flags.end(), {"--executors", executors()});
    const Answer answer = call({name, "{\"sh\": " + cloche::test::quoted(attacks) + "}"}, flags);
    // What holds the workspace is refused as a whole.
    EXPECT_TRUE(ended(answer, hints[i] == run + "/**" ? "failed" : "exited"));
    for (const char* word : {"READ", "LISTED", "CHANGED", "MOVED", "LINKED", "FOLLOWED"})
      EXPECT_FALSE(contains(answer.result(), word)) << word << "\n" << answer.result();
    EXPECT_TRUE(verified(run_place()));
    EXPECT_TRUE(fs::exists(run_place() / "artifacts/.cloche/config.json"));
  }
}

// A link that a call has made where a skill may write leads nowhere that it may not.
TEST_P(Records, ALinkWhereASkillWritesLeadsToNoneOfThem) {
  const std::string writer = skill("capabilities: [\"fs:write:./out/**\", \"code:exec\"]\n");
  ASSERT_TRUE(ended(call({"run_python", code("1")}, recorded()), "exited"));  // makes the run
  scene().write("run/artifacts/.cloche/config.json", "{}");
  for (const std::string target : {"tool_calls", ".cloche"}) {
    SCOPED_TRACE(target);
    ASSERT_TRUE(
        ended(call({"run_script", script("rm -rf out; ln -s " + target + " out")}, recorded()), "exited"));
    const Answer answer =
        call({"run_script", script("echo HACK >> tool_calls/T.jsonl; echo HACK >> out/T.jsonl; rm -f "
                                   ".cloche/config.json out/config.json; true")},
             recorded({"--skill", writer}));
    EXPECT_FALSE(contains(read_file(run_place() / "artifacts/tool_calls/T.jsonl"), "\nHACK"))
        << answer.result();
    EXPECT_TRUE(fs::exists(run_place() / "artifacts/.cloche/config.json")) << answer.result();
    EXPECT_TRUE(verified(run_place()));
  }
}

TEST_P(Records, AFileOfTheSameNameInTheViewIsNotTheRecord) {
  ASSERT_TRUE(ended(call({"run_python", code("print('kept')")}, recorded()), "exited"));
  const Answer answer = call({"run_script", script("mkdir -p tool_calls/T; echo forged > tool_calls/T.jsonl; "
                                                   "echo forged > tool_calls/T/c-0001.txt; ls tool_calls")},
                             recorded());
  EXPECT_FALSE(contains(read_file(run_place() / "artifacts/tool_calls/T.jsonl"), "forged\n{"));
  EXPECT_TRUE(contains(read_file(run_place() / "artifacts/tool_calls/T/c-0001.txt"), "kept"))
      << answer.result();
  EXPECT_TRUE(verified(run_place()));
}

TEST_P(Records, TheFileToolsDoNotReachThemEither) {
  ASSERT_TRUE(ended(call({"run_python", code("print('kept')")}, recorded()), "exited"));
  const Call attacks[] = {
      {"read_artifact", R"({"path": "tool_calls/T.jsonl"})"},
      {"read_artifact", R"({"path": "./TOOL_CALLS/T.jsonl"})"},
      {"write_artifact", R"({"path": "tool_calls/T.jsonl", "content": "x"})"},
      {"edit_artifact", R"({"path": "tool_calls/T.jsonl", "old": "kept", "new": "x"})"},
      {"list_artifacts", R"({"path": "tool_calls"})"},
      {"search_artifacts", R"({"pattern": "kept", "path": "tool_calls"})"},
  };
  for (const auto& attack : attacks)
    EXPECT_TRUE(refused_by(call(attack, recorded()), "path")) << attack.arguments;
  for (const Call& wide : {Call{"list_artifacts"}, Call{"search_artifacts", R"({"pattern": "kept"})"}})
    EXPECT_FALSE(contains(call(wide, recorded()).result(), "T.jsonl")) << wide.tool;
  EXPECT_TRUE(verified(run_place()));
}

TEST_P(Records, ALineHasTheKeysThatOthersRelyOn) {
  ASSERT_TRUE(ended(call({"run_python", code("print('x')")}, recorded({"--role", "tester"})), "exited"));
  const auto lines = json_lines(run_place() / "artifacts/tool_calls/T.jsonl");
  ASSERT_EQ(lines.size(), 1U);
  for (const char* key : {"task_id", "role", "tool", "args", "result", "timestamp", "call_id", "verdicts",
                          "plan_digest", "backend", "layers", "exit", "usage", "prev", "hash"})
    EXPECT_TRUE(lines[0].has(key)) << key;
  EXPECT_EQ(lines[0]["task_id"].string, "T");
  EXPECT_EQ(lines[0]["role"].string, "tester");
  EXPECT_EQ(lines[0]["tool"].string, "run_python");
  EXPECT_EQ(lines[0]["args"]["code"].string, "print('x')");
  EXPECT_EQ(lines[0]["result"].string, "exit_code: 0\nstdout: x\n\nstderr: ");
  EXPECT_EQ(lines[0]["verdicts"].array.size(), 9U);
  const auto audit = json_lines(run_place() / "audit.jsonl");
  ASSERT_EQ(audit.size(), 2U);
  EXPECT_EQ(audit[0]["kind"].string, "decision");
  EXPECT_EQ(audit[1]["kind"].string, "head");
  EXPECT_EQ(audit[1]["head"].string, lines[0]["hash"].string);
}

TEST_P(Records, ARefusalIsRecordedLikeAnyCall) {
  EXPECT_TRUE(refused_by(call({"run_shell", R"({"cmd": "ls | sh"})"}, recorded()), "no-shell"));
  EXPECT_TRUE(refused_by(call({"no_such_tool", "no JSON"}, recorded()), "loadout"));
  const auto lines = json_lines(run_place() / "artifacts/tool_calls/T.jsonl");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0]["outcome"].string, "refused");
  EXPECT_EQ(lines[1]["args"].string, "no JSON");
  const Ran shown = cloche_words({"log", "show", run_place()});
  EXPECT_TRUE(contains(shown.out, "no-shell: deny: ")) << shown.out;
  EXPECT_TRUE(verified(run_place()));
}

TEST_P(Records, WhatCouldNotBeJudgedIsRecordedToo) {
  scene().write("executors/strong/tool.py", "print('{}')\n");
  scene().write("executors/strong/manifest.json",
                R"({"name": "strong", "description": "Needs more than there is.", "code": "tool.py",
                    "input_schema": {"type": "object"}, "isolation": "microvm"})");
  Words flags = recorded();
  flags.insert(flags.end(), {"--executors", executors()});
  const Answer answer = call({"strong", R"({"x": 1})"}, flags);
  EXPECT_TRUE(ended(answer, "failed"));
  EXPECT_EQ(answer.text("call_id"), "c-0001");
  const auto lines = json_lines(run_place() / "artifacts/tool_calls/T.jsonl");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0]["outcome"].string, "failed");
  EXPECT_EQ(lines[0]["decision"].string, "deny");
  EXPECT_TRUE(contains(lines[0]["reason"].string, "microvm")) << lines[0]["reason"].string;
  EXPECT_TRUE(verified(run_place()));
}

TEST_P(Records, AResultThatCannotBePrintedIsAFailure) {
  for (const char* redirection : {">&-", "> /dev/full"}) {
    Command command = words({"call", "run_python", code("1"), "--run", run_place(), "--task", "T"});
    Words shell = {"/bin/sh", "-c", std::string("exec \"$@\" ") + redirection, "sh"};
    shell.insert(shell.end(), command.argv.begin(), command.argv.end());
    command.argv = shell;
    const Ran ran = run(command);
    EXPECT_EQ(ran.exit_code, 125) << redirection << ran.err;
    EXPECT_TRUE(contains(ran.err, "print")) << redirection << ran.err;
  }
}

TEST_P(Records, ARemovedRecordIsReportedAsJson) {
  ASSERT_TRUE(ended(call({"run_python", code("1")}, recorded()), "exited"));
  for (const auto& gone : {run_place() / "audit.jsonl", run_place()}) {
    fs::remove_all(gone);
    fs::remove_all(run_place() / "artifacts/tool_calls");
    const Ran ran = cloche_words({"log", "verify", run_place(), "--json"});
    EXPECT_EQ(ran.exit_code, 1) << ran.err;
    EXPECT_TRUE(ran.out.starts_with(R"({"ok":false,"lines":0)")) << ran.out;
    EXPECT_TRUE(contains(ran.out, "the state directory remembers 2 lines of it")) << ran.out;
  }
}

TEST_P(Records, TheDecisionIsInTheAuditBeforeTheEffect) {
  executor("waits", "import sys, time\ntime.sleep(60)\n", {.limits = R"({"timeout_s": 20})"});
  Command command =
      words({"call", "waits", "{}", "--run", run_place(), "--task", "T", "--executors", executors()});
  Started started(command);
  const std::string program = executors() / "waits/tool.py";
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  const auto sleeps = [&] { return !processes_with(program).empty(); };
  while (!sleeps() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ASSERT_TRUE(sleeps());
  const auto audit = json_lines(run_place() / "audit.jsonl");
  ASSERT_EQ(audit.size(), 1U);
  EXPECT_EQ(audit[0]["kind"].string, "decision");
  EXPECT_EQ(audit[0]["call_id"].string, "c-0001");
  EXPECT_EQ(audit[0]["decision"].string, "allow");
  EXPECT_EQ(read_file(run_place() / "artifacts/tool_calls/T.jsonl"), "");
  // Killed midway, it leaves a record that verifies, and a note about the call without an end.
  kill(started.pid(), SIGKILL);
  started.finish();
  EXPECT_TRUE(all_gone(program, 2));
  EXPECT_TRUE(verified(run_place()));
  EXPECT_TRUE(ended(call({"run_python", code("1")}, recorded()), "exited"));
  EXPECT_TRUE(verified(run_place()));
}

TEST_P(Records, NoRecordNoEffect) {
  ASSERT_TRUE(ended(call({"run_python", code("1")}, recorded()), "exited"));
  fs::remove(run_place() / "audit.jsonl");
  fs::create_symlink("/dev/null", run_place() / "audit.jsonl");
  const Ran ran =
      cloche_words({"call", "run_script", script("touch happened"), "--run", run_place(), "--task", "T"});
  EXPECT_EQ(ran.exit_code, 125) << ran.out << ran.err;
  EXPECT_FALSE(fs::exists(run_place() / "artifacts/happened"));
}

TEST_P(Records, SeveralProcessesShareOneRun) {
  std::vector<std::unique_ptr<Started>> started;
  for (int i = 0; i < 6; ++i)
    started.push_back(std::make_unique<Started>(words(
        {"call", "run_python", code("print(1)"), "--run", run_place(), "--task", i % 2 == 0 ? "A" : "B"})));
  for (auto& one : started) EXPECT_TRUE(exited(one->finish(), 0));
  std::set<std::string> ids;
  for (const char* task : {"A", "B"})
    for (const auto& line : json_lines(run_place() / "artifacts/tool_calls" / (std::string(task) + ".jsonl")))
      ids.insert(line["call_id"].string);
  EXPECT_EQ(ids.size(), 6U);
  EXPECT_TRUE(verified(run_place()));
}

TEST_P(Records, WithAWorkspaceAloneNothingIsPutIntoIt) {
  const Answer answer = call({"run_python", code("print(1)")});
  EXPECT_TRUE(ended(answer, "exited"));
  EXPECT_TRUE(fs::is_empty(workspace()));
  EXPECT_TRUE(verified(answer.text("run_id")));
  EXPECT_TRUE(verified("last"));
}

FOR_EVERYONE(Records);

}  // namespace
}  // namespace cloche::test
