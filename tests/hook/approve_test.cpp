// Questions that wait for the operator, from the call that asks to the call that passes.
#include <regex>

#include "everyday/conversation.hpp"
#include "hook/fixture.hpp"

namespace cloche::test {
namespace {

class Approve : public Hook {
 protected:
  Approve() {
    rules(R"({"default": "allow", "rules": [
      {"tool": "run_script", "args": {"code": "^deploy"}, "action": "ask", "approver": "operator", "reason": "deploys are asked about"},
      {"tool": "run_script", "args": {"code": "^echo"}, "action": "ask"}]})");
  }
  Answer ask(const std::string& code) const { return call({"run_script", script(code)}); }
  Answer must_wait(const std::string& code) const {
    Answer answer = ask(code);
    EXPECT_TRUE(refused_by(answer, "approval", "waiting for approval"));
    return answer;
  }
  Ran approve(const Words& words) const {
    Words all = {"approve"};
    all.insert(all.end(), words.begin(), words.end());
    return cloche_in_state(all);
  }
};

TEST_P(Approve, TheIdenticalCallPassesOnceAfterAYes) {
  const std::string id = waiting_id(must_wait("echo one").result());
  EXPECT_TRUE(contains(approve({}).out, id));
  const Ran shown = approve({"show", id});
  EXPECT_TRUE(contains(shown.out, "'echo' 'one'")) << shown.out;
  EXPECT_TRUE(exited(approve({"yes", id}), 0));
  EXPECT_TRUE(refused_by(ask("echo two"), "approval")) << "another call is another question";
  const Answer passed = ask("echo one");
  EXPECT_TRUE(ended(passed, "exited"));
  EXPECT_TRUE(contains(passed.result(), "stdout: one"));
  EXPECT_TRUE(refused_by(ask("echo one"), "approval"));
  EXPECT_TRUE(refused(approve({"yes", id}), {125}, {id}));
}

TEST_P(Approve, ANoIsANo) {
  const std::string id = waiting_id(must_wait("echo one").result());
  EXPECT_TRUE(exited(approve({"no", id}), 0));
  EXPECT_TRUE(refused_by(ask("echo one"), "approval", "the operator said no"));
  EXPECT_TRUE(refused(approve({"yes", id}), {125}, {"answered already"}));
}

TEST_P(Approve, AChangedFileIsAnotherQuestion) {
  rules(R"({"rules": [{"tool": "run_shell", "action": "ask"}], "default": "allow"})");
  file("a.sh", "echo first\n");
  const Call run_it{"run_shell", R"({"cmd": "bash a.sh", "profile": "full"})"};
  const std::string id = waiting_id(call(run_it).result());
  EXPECT_TRUE(exited(approve({"yes", id}), 0));
  file("a.sh", "echo second\n");
  EXPECT_TRUE(refused_by(call(run_it), "approval", "waiting"));
  file("a.sh", "echo first\n");
  EXPECT_TRUE(ended(call(run_it), "exited"));
}

TEST_P(Approve, AHooksCommandWaitsAndThenRunsWhatWasApproved) {
  const HookSaid waits = bash("deploy() { echo deployed; }; deploy");
  EXPECT_EQ(waits.decision, "deny");
  EXPECT_TRUE(exited(approve({"yes", waiting_id(waits.reason)}), 0));
  const Ran ran = agent_runs("deploy() { echo deployed; }; deploy");
  EXPECT_TRUE(exited(ran, 0));
  EXPECT_EQ(ran.out, "deployed\n");
  EXPECT_EQ(bash("deploy() { echo deployed; }; deploy").decision, "deny") << "once";
}

TEST_P(Approve, OneYesIsOneRunWhateverIsPutBack) {
  const HookSaid waits = bash("deploy() { echo deployed >> count; }; deploy");
  EXPECT_TRUE(exited(approve({"yes", waiting_id(waits.reason)}), 0));
  const std::string line = bash("deploy() { echo deployed >> count; }; deploy").command;
  const std::string kept = (state() / "calls" / call_id(line)).string();
  EXPECT_TRUE(exited(outside("cp -p " + kept + " copy"), 0));
  EXPECT_TRUE(exited(carry_out(line), 0));
  EXPECT_TRUE(exited(outside("cp -p copy " + kept), 0));
  EXPECT_TRUE(refused(carry_out(line), {125}, {"was started already"}));
  EXPECT_EQ(read_file(workspace() / "count"), "deployed\n");
}

TEST_P(Approve, WhatTheAgentDoesItselfMayBeApprovedToo) {
  const HookSaid waits = hook("Task", R"({"prompt": "p"})");
  EXPECT_TRUE(exited(approve({"yes", waiting_id(waits.reason)}), 0));
  EXPECT_EQ(hook("Task", R"({"prompt": "q"})").decision, "deny");
  EXPECT_EQ(hook("Task", R"({"prompt": "p"})").decision, "") << "no objection, and no allow";
}

TEST_P(Approve, AYesToOneSessionOfTheAgentIsNoneToAnother) {
  const std::string call = call_of("Task", R"({"prompt": "p"})");
  const std::string other = std::regex_replace(call, std::regex("\"s-1\""), "\"s-2\"");
  EXPECT_TRUE(exited(approve({"yes", waiting_id(said_to(call).reason)}), 0));
  EXPECT_EQ(said_to(other).decision, "deny");
  EXPECT_EQ(said_to(call).decision, "");
}

TEST_P(Approve, AtATerminalOnlyWhereTheRuleLetsIt) {
  const auto at_terminal = [&](const std::string& code) {
    return words({"call", "run_script", script(code)});
  };
  Conversation asked(at_terminal("echo one"), Over::terminal);
  EXPECT_TRUE(asked.hear("else: no > ")) << asked.heard();
  asked.send("y\r");
  EXPECT_TRUE(exited(asked.finish(), 0));
  Conversation waits(at_terminal("deploy"), Over::terminal);
  const Ran ran = waits.finish();
  EXPECT_EQ(ran.exit_code, 126);
  EXPECT_TRUE(contains(ran.out, "waiting for approval")) << ran.out;
}

TEST_P(Approve, WatchingAsksAtTheTerminal) {
  Conversation watch(words({"approve", "--watch"}), Over::terminal);
  EXPECT_TRUE(watch.hear("Waiting for questions"));
  must_wait("echo one");
  EXPECT_TRUE(watch.hear("Enter: later > ")) << watch.heard();
  EXPECT_TRUE(contains(watch.heard(), "'echo' 'one'")) << watch.heard();
  watch.send("y\r");
  EXPECT_TRUE(watch.hear("Approved "));
  EXPECT_TRUE(ended(ask("echo one"), "exited"));
  must_wait("echo two");
  EXPECT_TRUE(watch.hear("Enter: later > "));
  watch.send("n\r");
  EXPECT_TRUE(watch.hear("Refused "));
  EXPECT_TRUE(refused_by(ask("echo two"), "approval", "said no"));
  watch.send("\x03");
  (void)watch.finish();
}

TEST_P(Approve, ForPrograms) {
  EXPECT_EQ(approve({"--json"}).out, "{\"questions\":[]}\n");
  const std::string id = waiting_id(must_wait("echo one").result());
  const auto list = parse_json(approve({"list", "--json"}).out);
  ASSERT_TRUE(list);
  ASSERT_EQ((*list)["questions"].array.size(), 1U);
  const Json& one = (*list)["questions"].array[0];
  EXPECT_EQ(one["id"].string, id);
  EXPECT_EQ(one["state"].string, "waiting");
  EXPECT_EQ(one["approver"].string, "any");
  const auto yes = parse_json(approve({"yes", id, "--json"}).out);
  ASSERT_TRUE(yes);
  EXPECT_EQ((*yes)["state"].string, "approved");
  EXPECT_TRUE(parse_json(approve({"yes", "nonesuch", "--json"}).out));
  EXPECT_TRUE(refused(approve({"yes", "nonesuch"}), {125}, {"nonesuch"}));
  EXPECT_TRUE(refused(approve({"perhaps"}), {2}, {"--help"}));
}

TEST_P(Approve, AnAlteredQuestionCannotBeApproved) {
  const std::string id = waiting_id(must_wait("echo one").result());
  const std::string question = (state() / "approvals" / (id + ".question")).string();
  EXPECT_TRUE(exited(outside("sed -i 's/one/two/' " + question), 0));
  EXPECT_TRUE(refused(approve({"show", id}), {125}, {"not as Cloche wrote it"}));
  EXPECT_TRUE(refused(approve({"yes", id}), {125}, {"not as Cloche wrote it"}));
  EXPECT_TRUE(refused_by(ask("echo one"), "approval", "waiting"));
}

TEST_P(Approve, DoctorCallsItAdviceUnderOneId) {
  const Ran doctor = cloche_in_state({"doctor", "--json"});
  EXPECT_TRUE(contains(doctor.out, "is advisory where an agent runs outside the sandbox")) << doctor.out;
}

TEST_P(Approve, AnOperatorsOwnCommandIsAskedAboutTheSameWay) {
  rules(
      R"({"default": "allow", "rules": [{"tool": "run_shell", "args": {"cmd": "^echo"}, "action": "ask", "approver": "operator"}]})");
  const Ran waits = cloche_in_state({"run", "--", "echo", "one"});
  EXPECT_EQ(waits.exit_code, 126);
  EXPECT_TRUE(exited(approve({"yes", waiting_id(waits.err)}), 0));
  EXPECT_EQ(cloche_in_state({"run", "--", "echo", "one"}).out, "one\n");
  EXPECT_EQ(cloche_in_state({"run", "--", "echo", "one"}).exit_code, 126);
}

TEST_P(Approve, NotFromUnderTheGlass) {
  const std::string id = waiting_id(must_wait("echo one").result());
  const fs::path programs = fs::path(cloche()).parent_path();
  Command inside = words({"run", "--ro", programs.string(), "--", cloche(), "approve", "yes", id});
  EXPECT_TRUE(refused(run(inside), {125, 126}, {"sandbox"}));
  EXPECT_TRUE(refused_by(ask("echo one"), "approval", "waiting"));
}

FOR_EVERYONE(Approve);

}  // namespace
}  // namespace cloche::test
