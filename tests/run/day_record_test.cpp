// The record of commands that name no run: one for each workspace and day, written before the effect, out of
// the reach of the sandbox, and off only where the operator says so.
#include <signal.h>

#include <thread>

#include "run/fixture.hpp"

namespace cloche::test {
namespace {

class DayRecord : public Run {
 protected:
  fs::path state() { return scene().root() / "state"; }
  fs::path runs() { return state() / "cloche/runs"; }
  Command here(const std::string& cwd = {}) {
    return {.cwd = cwd, .env = {{"XDG_STATE_HOME", state()}, {"XDG_CONFIG_HOME", scene().root() / "config"}}};
  }
  Ran asked(const std::vector<std::string>& words) {
    Command command = under({}, {}, here());
    command.argv = {cloche()};
    command.argv.insert(command.argv.end(), words.begin(), words.end());
    return run(command);
  }
  void configure(const std::string& text) { scene().write("config/cloche/config.json", text); }

  std::vector<fs::path> records() {
    std::vector<fs::path> found;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(runs(), none)) found.push_back(entry.path());
    return found;
  }
  fs::path only_record() {
    const auto found = records();
    EXPECT_EQ(found.size(), 1U);
    return found.empty() ? fs::path() : found[0];
  }
  static std::vector<Json> lines_of(const fs::path& file) {
    std::vector<Json> lines;
    std::istringstream text(read_file(file));
    for (std::string line; std::getline(text, line);) {
      auto read = parse_json(line);
      EXPECT_TRUE(read) << line;
      if (read) lines.push_back(*std::move(read));
    }
    return lines;
  }
  std::vector<Json> calls() { return lines_of(only_record() / "tool_calls/main.jsonl"); }
};
FOR_EVERYONE(DayRecord);

TEST_P(DayRecord, TwoRunsAreTwoCallsOfOneRecord) {
  ASSERT_TRUE(printed(cloche_shell({}, "echo a secret; echo more >&2; exit 0", here()), "a secret\n"));
  ASSERT_TRUE(exited(cloche_run({}, {"false"}, here()), 1));
  const auto lines = calls();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0]["role"].string, "operator");
  EXPECT_EQ(lines[0]["tool"].string, "run");
  EXPECT_EQ(lines[0]["decision"].string, "allow");
  EXPECT_EQ(lines[0]["stdout_bytes"].number, 9);
  EXPECT_EQ(lines[0]["stderr_bytes"].number, 5);
  EXPECT_FALSE(lines[0]["plan_digest"].string.empty());
  EXPECT_FALSE(lines[0]["layers"].array.empty());
  EXPECT_EQ(lines[1]["args"]["argv"].array[0].string, "false");
  EXPECT_EQ(lines[1]["exit"].number, 1);
  const auto decisions = lines_of(only_record() / "audit.jsonl");
  ASSERT_EQ(decisions.size(), 4U);
  EXPECT_EQ(decisions[0]["workspace"].string, workspace().string());

  EXPECT_TRUE(fs::is_empty(workspace()));
  EXPECT_EQ(fs::status(only_record()).permissions(), fs::perms::owner_all);
  const Ran shown = asked({"log", "show", "last"});
  EXPECT_TRUE(contains(shown.out, "exit 1") && contains(shown.out, "c-0002")) << shown.out;
  const Ran listed = asked({"log"});
  EXPECT_TRUE(contains(listed.out, only_record().filename().string())) << listed.out;
  EXPECT_TRUE(contains(listed.out, workspace().string())) << listed.out;
  EXPECT_TRUE(contains(asked({"log", "verify", "last"}).out, "ok: 6 lines"));
}

// What was printed is the caller's, also where it is printed as JSON.
TEST_P(DayRecord, TheOutputIsNotStored) {
  for (const std::vector<std::string>& flags : {std::vector<std::string>{}, {"--json"}}) {
    const Ran ran = cloche_shell(flags, "printf 'quince%s' jelly", here());
    EXPECT_TRUE(exited(ran, 0));
    EXPECT_TRUE(contains(ran.out, "quincejelly")) << ran.out;
  }
  EXPECT_EQ(calls().size(), 2U);
  const Ran found = outside("grep -r quincejelly '" + (state() / "cloche").string() + "'");
  EXPECT_EQ(found.out, "");
  EXPECT_FALSE(fs::exists(only_record() / "tool_calls/main"));
  EXPECT_TRUE(contains(asked({"log", "verify", "last"}).out, "ok: 6 lines"));
}

TEST_P(DayRecord, EachWorkspaceHasItsOwn) {
  outside("mkdir ../second");
  const std::string second = (scene().root() / "second").string();
  ASSERT_TRUE(exited(cloche_run({}, {"true"}, here()), 0));
  ASSERT_TRUE(exited(cloche_run({}, {"true"}, here(second)), 0));
  EXPECT_EQ(records().size(), 2U);
  // By another name it is the same; another directory of the same name is not.
  outside("ln -s second ../third");
  ASSERT_TRUE(exited(cloche_run({}, {"true"}, here(scene().root() / "third")), 0));
  EXPECT_EQ(records().size(), 2U);
  outside("mv ../second ../moved; mkdir ../second");
  ASSERT_TRUE(exited(cloche_run({}, {"true"}, here(second)), 0));
  EXPECT_EQ(records().size(), 3U);
}

TEST_P(DayRecord, TwentyAtOnceAreTwentyCalls) {
  std::vector<std::thread> callers;
  std::vector<Ran> ran(20);
  for (auto& one : ran) callers.emplace_back([&] { one = cloche_run({}, {"true"}, here()); });
  for (auto& caller : callers) caller.join();
  for (const auto& one : ran) EXPECT_TRUE(exited(one, 0));
  EXPECT_EQ(calls().size(), 20U);
  const Ran verified = asked({"log", "verify", "last"});
  EXPECT_EQ(verified.out.find("ok: 60 lines"), 0U) << verified.out;
}

TEST_P(DayRecord, ARefusedCommandIsRecordedAsRefused) {
  configure(
      R"({"permissions": {"rules": [{"tool": "run_shell", "action": "deny", "reason": "not today"}]}})");
  EXPECT_TRUE(exited(cloche_run({}, {"touch", "made"}, here()), 126));
  EXPECT_FALSE(is_there("made"));
  const auto lines = calls();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0]["decision"].string, "deny");
  EXPECT_EQ(lines[0]["outcome"].string, "refused");
  EXPECT_TRUE(exited(asked({"log", "verify", "last"}), 0));
}

TEST_P(DayRecord, AKilledOneHasADecisionAndNoEnd) {
  Started started(under({"--live"}, {"bash", "-c", "touch made; sleep 100"}, here()));
  wait_for("made");
  ::kill(started.pid(), SIGKILL);
  EXPECT_EQ(started.finish().signal, SIGKILL);
  const Ran verified = asked({"log", "verify", "last"});
  EXPECT_TRUE(exited(verified, 0));
  EXPECT_TRUE(contains(verified.out, "c-0001 has no result: still running or crashed")) << verified.out;
  EXPECT_TRUE(contains(asked({"log", "show", "last"}).out, "no result"));
  EXPECT_TRUE(exited(cloche_run({}, {"true"}, here()), 0));
  EXPECT_TRUE(contains(asked({"log", "show", "last"}).out, "c-0002"));
}

TEST_P(DayRecord, WhatRunsNothingLeavesNothing) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"run", "--dry-run", "--", "true"},
                                                {"explain", "run", "--", "true"},
                                                {"doctor"},
                                                {"profiles", "check"},
                                                {"log"}})
    asked(words);
  EXPECT_TRUE(records().empty());
}

// The plan that is explained is the plan that runs, with the record or without.
TEST_P(DayRecord, IsNoPartOfThePlan) {
  const auto explained = parse_json(asked({"explain", "run", "--json", "--", "true"}).out);
  ASSERT_TRUE(explained);
  ASSERT_TRUE(exited(cloche_run({}, {"true"}, here()), 0));
  EXPECT_EQ(calls()[0]["plan_digest"].string, (*explained)["plan_digest"].string);
}

TEST_P(DayRecord, NoCommandReachesIt) {
  ASSERT_TRUE(exited(cloche_run({}, {"true"}, here()), 0));
  const std::string audit = only_record() / "audit.jsonl";
  const std::string attack = "cat " + audit + " && echo READ; echo x >> " + audit + " && echo CHANGED; ls " +
                             runs().string() + " | grep . && echo LISTED; true";
  ASSERT_TRUE(contains(outside("cat " + audit + " && echo READ").out, "READ"));
  for (const std::vector<std::string>& flags :
       {std::vector<std::string>{}, {"--view", "host"}, {"--isolation", "subprocess"}}) {
    const Ran ran = cloche_shell(flags, attack, here());
    EXPECT_TRUE(exited(ran, 0));
    for (const char* word : {"READ", "CHANGED", "LISTED"}) EXPECT_FALSE(contains(ran.out, word)) << ran.out;
  }
  for (const std::string& granted : {scene().root().string(), state().string(), runs().string()}) {
    const Ran ran = cloche_shell({"--rw", granted}, attack, here());
    for (const char* word : {"READ", "CHANGED", "LISTED"}) EXPECT_FALSE(contains(ran.out, word)) << ran.out;
  }
  EXPECT_TRUE(exited(asked({"log", "verify", "last"}), 0));
}

TEST_P(DayRecord, TheKeyTurnsItOffAndAProjectOnAgain) {
  configure(R"({"record": "off"})");
  ASSERT_TRUE(exited(cloche_run({}, {"true"}, here()), 0));
  EXPECT_TRUE(records().empty());
  ASSERT_TRUE(exited(cloche_run({"--task", "T"}, {"true"}, here()), 0));
  EXPECT_EQ(records().size(), 1U) << "a task has a record anyway";
  file(".cloche/config.json", R"({"record": "on"})");
  ASSERT_TRUE(exited(cloche_run({}, {"true"}, here()), 0));
  EXPECT_EQ(records().size(), 2U);
  file(".cloche/config.json", R"({"record": "off"})");
  EXPECT_TRUE(refused(cloche_run({}, {"true"}, here()), {125}, {"record can only be tightened"}));
}

// There is no place for records, and none can be made: a command says so each time, unless a record was asked
// for.
TEST_P(DayRecord, WithoutAPlaceForItACommandSaysSo) {
  scene().write("file", "");
  const std::vector<Command> places = {{.env = {{"XDG_STATE_HOME", scene().root() / "file"}}},
                                       {.env = {{"XDG_STATE_HOME", "/proc/no"}, {"HOME", "/nonexistent"}}}};
  const auto ran_at = [&](Command how) {
    how.env["XDG_CONFIG_HOME"] = scene().root() / "config";
    return cloche_run({"--live"}, {"touch", "made"}, how);
  };
  for (const Command& how : places) {
    const Ran ran = ran_at(how);
    EXPECT_TRUE(exited(ran, 0));
    EXPECT_TRUE(contains(ran.err, "this command is not recorded: ")) << ran.err;
    EXPECT_TRUE(fs::remove(workspace() / "made"));
  }
  configure(R"({"record": "on"})");
  for (const Command& how : places) {
    EXPECT_TRUE(refused(ran_at(how), {125}, {"cannot be recorded", "XDG_STATE_HOME"}));
    EXPECT_FALSE(is_there("made"));
  }
  configure(R"({"record": "off"})");
  for (const Command& how : places) {
    const Ran ran = ran_at(how);
    EXPECT_TRUE(exited(ran, 0));
    EXPECT_FALSE(contains(ran.err, "recorded")) << ran.err;
  }
}

// What lies behind a link is not hidden from commands with the state directory.
TEST_P(DayRecord, IsNotWrittenThroughALink) {
  EXPECT_TRUE(exited(cloche_run({}, {"true"}, here()), 0));
  fs::rename(runs(), scene().root() / "moved");
  fs::create_directory_symlink(scene().root() / "moved", runs());
  EXPECT_TRUE(refused(cloche_run({}, {"touch", "made"}, here()), {125}, {"link"}));
  EXPECT_FALSE(is_there("made"));
}

// A state's own record is no --run DIR: its lines have another layout.
TEST_P(DayRecord, IsNoRunDirectoryToBeNamed) {
  EXPECT_TRUE(exited(cloche_run({}, {"true"}, here()), 0));
  const std::string record = only_record();
  EXPECT_TRUE(refused(cloche_run({"--run", record}, {"true"}, here()), {125}, {"lies in Cloche's own"}));
  EXPECT_TRUE(exited(asked({"log", "verify", record}), 0));
}

TEST_P(DayRecord, OneCallIsShownWholeAndDenialsAreListed) {
  const Ran made = cloche_run({}, {"sh", "-c", "echo said > .envrc"}, here());
  ASSERT_TRUE(exited(made, 0));
  ASSERT_TRUE(exited(cloche_run({"--timeout", "100ms"}, {"sleep", "20"}, here()), 124));
  const std::string run = only_record().filename();
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"log", "show", run, "c-0001"}, {"log", "show", run + "/c-0001"}}) {
    const Ran shown = asked(words);
    EXPECT_TRUE(exited(shown, 0));
    for (const char* piece : {"echo said > .envrc", "outcome       exited", "withheld .envrc: direnv",
                              "landlock (landlock-abi", "loadout   allow"})
      EXPECT_TRUE(contains(shown.out, piece)) << piece << "\n" << shown.out;
  }
  const auto line = parse_json(asked({"log", "show", run, "c-0002", "--json"}).out);
  ASSERT_TRUE(line);
  EXPECT_EQ((*line)["limit"].string, "timeout");
  EXPECT_TRUE(refused(asked({"log", "show", run, "c-0003"}), {125}, {"no call c-0003"}));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"log", "show", "--denied"}, {"log", "show", run, "--denied"}}) {
    const Ran denied = asked(words);
    EXPECT_TRUE(exited(denied, 0));
    EXPECT_TRUE(contains(denied.out, run + "/c-0002")) << denied.out;
    EXPECT_TRUE(contains(denied.out, "the timeout limit of 100ms was reached")) << denied.out;
    EXPECT_FALSE(contains(denied.out, "c-0001")) << denied.out;
  }
  const auto denial = parse_json(asked({"log", "show", "--denied", "--json"}).out);
  ASSERT_TRUE(denial);
  EXPECT_EQ((*denial)["by"].string, "limit");
  EXPECT_EQ((*denial)["call_id"].string, "c-0002");
  EXPECT_EQ((*denial)["run_id"].string, run);
}

// The record is not in the workspace, and nothing of it is in a view.
TEST_P(DayRecord, ARunDirectoryKeepsTheRecordOfAWorkspaceElsewhere) {
  const std::string record = scene().root() / "record";
  const std::vector<std::string> flags = {"--run", record, "--workspace", workspace()};
  const Ran made = cloche_shell(flags, "pwd > where; ls " + record + " 2>&1", here(scene().root()));
  EXPECT_FALSE(contains(made.out, "audit")) << made.out;
  EXPECT_EQ(read_file(workspace() / "where"), workspace().string() + "\n");
  EXPECT_FALSE(fs::exists(fs::path(record) / "artifacts"));
  EXPECT_TRUE(records().empty()) << "the record is in the directory that was named";
  EXPECT_TRUE(exited(asked({"log", "verify", record}), 0));
  EXPECT_TRUE(contains(asked({"log", "show", record, "c-0001"}).out, "pwd > where"));
  const Ran call = asked(
      {"call", "run_shell", R"({"cmd": "cat where"})", "--run", record, "--workspace", workspace().string()});
  EXPECT_TRUE(exited(call, 0));
  EXPECT_TRUE(contains(call.out, workspace().string())) << call.out;
  EXPECT_TRUE(contains(asked({"log", "show", record}).out, "c-0002"));
  // Neither may lie in the other.
  const std::string inside = workspace() / "record";
  EXPECT_TRUE(refused(cloche_run({"--run", inside, "--workspace", workspace()}, {"true"}, here()), {125},
                      {"lie in one another"}));
  EXPECT_FALSE(fs::exists(inside));
  EXPECT_TRUE(refused(cloche_run({"--run", record}, {"true"}, here()), {125}, {"--workspace"}));
}

TEST_P(DayRecord, ARunDirectoryAloneSaysOnATerminalWhichWorkspaceItIs) {
  NEEDS("script");
  const std::string record = scene().root() / "alone";
  Command how = under({}, {}, here());
  how.argv = {"script", "-qec", "'" + cloche() + "' run --run " + record + " -- true", "/dev/null"};
  EXPECT_TRUE(contains(run(how).out, "note: the workspace is " + record + "/artifacts")) << run(how).out;
  EXPECT_EQ(cloche_run({"--run", record}, {"true"}, here()).err, "") << "and nowhere else";
}

}  // namespace
}  // namespace cloche::test
