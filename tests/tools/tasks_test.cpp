// Calls of one task share a private, sized $HOME and /tmp; nothing crosses to another task, nothing outlives
// its call, and `cloche log prune` takes the homes away.
#include <unistd.h>

#include "tools/fixture.hpp"

namespace cloche::test {
namespace {

class Tasks : public Tools {
 protected:
  fs::path run_place() const { return scene_root() / "run"; }
  Answer in_task(const std::string& task, const std::string& command, Words more = {}) const {
    more.insert(more.end(), {"--run", run_place(), "--task", task});
    return call({"run_script", script(command)}, more);
  }
};

const char* const leave_something = "echo home > $HOME/file; echo tmp > /tmp/file; mkdir -p $HOME/.cache/x";
const char* const look = "cat $HOME/file /tmp/file";

TEST_P(Tasks, CallsOfOneShareHomeAndTmp) {
  ASSERT_EQ(in_task("A", leave_something).exit_code(), 0);
  EXPECT_EQ(in_task("A", look).result(), "exit_code: 0\nstdout: home\ntmp\n\nstderr: ");
}

TEST_P(Tasks, NothingCrossesToAnother) {
  ASSERT_EQ(in_task("A", leave_something).exit_code(), 0);
  const Answer answer = in_task("B", look);
  EXPECT_EQ(answer.exit_code(), 1);
  EXPECT_EQ(in_task("B", "ls -A $HOME /tmp").result(),
            "exit_code: 0\nstdout: /home/cloche:\n\n/tmp:\n\nstderr: ");
  // By its path on the host neither.
  EXPECT_NE(in_task("B", "cat " + (run_place() / "tasks/A/home/file").string()).exit_code(), 0);
  EXPECT_NE(in_task("B", "ls " + (run_place() / "tasks").string()).exit_code(), 0);
}

TEST_P(Tasks, WithoutOneBothAreFreshForTheCall) {
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(call({"run_script", script("cat $HOME/file; echo x > $HOME/file")}).result(),
              "exit_code: 0\nstdout: \nstderr: cat: /home/cloche/file: No such file or directory\n");
}

TEST_P(Tasks, APassiveCallHasItsOwnEvenWithinOne) {
  scene().write("home/.config/cloche/commands/own.json", R"({"profile": "passive", "shapes": [
    {"id": "mktemp", "usage": "mktemp", "argv": ["mktemp"], "accepts": ["mktemp"], "refuses": ["mktemp -d"]}]})");
  const Words flags = {"--run", run_place(), "--task", "A"};
  // It leaves a file in its /tmp, which is the task's for a command that may run the workspace's code.
  const Answer answer = call({"run_shell", R"({"cmd": "mktemp"})"}, flags);
  EXPECT_TRUE(contains(answer.result(), "stdout: /tmp/tmp.")) << answer.result();
  EXPECT_TRUE(fs::is_empty(run_place() / "tasks/A/tmp") && fs::is_empty(run_place() / "tasks/A/home"));
}

TEST_P(Tasks, TheirSizeCountsOverAllCalls) {
  const std::string fill = "head -c 5M /dev/zero > ";
  EXPECT_TRUE(ended(in_task("A", fill + "/tmp/one", {"--tmp", "8M"}), "exited"));
  EXPECT_TRUE(ended_by_limit(in_task("A", fill + "/tmp/two; sleep 60", {"--tmp", "8M"}), "tmp"));
  // Another task has a size of its own.
  EXPECT_TRUE(ended(in_task("B", fill + "$HOME/one", {"--tmp", "8M"}), "exited"));
}

// Done before anybody looked, or not: it went past the limit, and nothing starts in what is full.
TEST_P(Tasks, AFullOneIsNotStartedInUntilThereIsRoom) {
  const Words small = {"--tmp", "8M"};
  ASSERT_TRUE(ended_by_limit(in_task("A", "head -c 12M /dev/zero > /tmp/one", small), "tmp"));
  const Answer answer = in_task("A", "touch /tmp/started", small);
  EXPECT_TRUE(ended_by_limit(answer, "tmp"));
  EXPECT_TRUE(contains(answer.text("reason"), "nothing was started")) << answer.text("reason");
  EXPECT_FALSE(fs::exists(run_place() / "tasks/A/tmp/started"));
  EXPECT_TRUE(ended(in_task("A", "rm /tmp/one", {"--tmp", "64M"}), "exited"));
  EXPECT_TRUE(ended(in_task("A", "echo works", small), "exited"));
}

TEST_P(Tasks, ManyCallsDoNotFillWhatOneMayNot) {
  for (int i = 0; i < 4; ++i)
    in_task("A", "head -c 6M /dev/zero > $HOME/file-" + std::to_string(i), {"--tmp", "2M"});
  uint64_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(run_place() / "tasks/A/home"))
    if (entry.is_regular_file()) bytes += entry.file_size();
  EXPECT_LE(bytes, 12ULL << 20)
      << "a home is four times as large; one call may overshoot, and then none is started";
}

TEST_P(Tasks, PruneTakesTheHomesAndLeavesTheRecord) {
  ASSERT_EQ(in_task("A", leave_something).exit_code(), 0);
  ASSERT_TRUE(fs::exists(run_place() / "tasks/A/home/file"));
  EXPECT_TRUE(exited(cloche_words({"log", "prune", run_place()}), 0));
  EXPECT_FALSE(fs::exists(run_place() / "tasks"));
  EXPECT_TRUE(verified(run_place()));
  EXPECT_EQ(in_task("A", look).exit_code(), 1);
}

TEST_P(Tasks, AHomeThatACommandClosedIsOpenAgain) {
  ASSERT_EQ(in_task("A", "chmod 0 /tmp $HOME").exit_code(), 0);
  EXPECT_EQ(in_task("A", leave_something).exit_code(), 0);
}

TEST_P(Tasks, WhatACommandDidToTheModesDoesNotStopPruning) {
  ASSERT_EQ(in_task("A",
                    "mkdir -p /tmp/d/e && echo x > /tmp/d/e/f && chmod 0 /tmp/d/e && chmod 0500 /tmp/d; "
                    "chmod 0 /tmp $HOME")
                .exit_code(),
            0);
  EXPECT_TRUE(exited(cloche_words({"log", "prune", run_place()}), 0));
  EXPECT_FALSE(fs::exists(run_place() / "tasks"));
}

TEST_P(Tasks, NorDoesADepthThatNoPathReaches) {
  const std::string nest =
      "import os\nos.chdir('/tmp')\nfor i in range(1200):\n    os.mkdir('d')\n    os.chdir('d')\n";
  ASSERT_EQ(call({"run_script", script(nest, "python3")}, {"--run", run_place(), "--task", "A"}).exit_code(),
            0);
  EXPECT_TRUE(exited(cloche_words({"log", "prune", run_place()}), 0));
  EXPECT_FALSE(fs::exists(run_place() / "tasks"));
}

TEST_P(Tasks, BackgroundProcessesEndWithTheirCall) {
  const std::string marker = marker_seconds();
  const Answer answer = in_task(
      "A", "sleep " + marker + " & setsid nohup sleep " + marker + " > /dev/null 2>&1 & echo started");
  EXPECT_EQ(answer.result(), "exit_code: 0\nstdout: started\n\nstderr: ");
  EXPECT_TRUE(all_gone(marker, 1));
}

TEST_P(Tasks, BadNamesAreRefused) {
  for (const char* name : {"", ".", "..", "a/b", ".hidden", "x.jsonl"}) {
    const Ran ran = cloche_words({"call", "run_python", code("1"), "--run", run_place(), "--task", name});
    EXPECT_NE(ran.exit_code, 0) << name;
  }
}

// The sandbox has a /tmp of its own, in which the workspace must still be found.
TEST_P(Tasks, TheWorkspaceMayLieBelowTmp) {
  char name[] = "/tmp/cloche-tools-XXXXXX";
  ASSERT_NE(mkdtemp(name), nullptr);
  const fs::path place = name;
  if (as() == As::nobody) {
    ASSERT_EQ(chown(name, nobody, nobody), 0);
  }
  const auto there = [&](const std::string& command) {
    return call({"run_script", script(command)}, {"--run", place / "run", "--task", "A"});
  };
  EXPECT_EQ(there("echo shared > /tmp/file; echo kept > file; pwd").result(),
            "exit_code: 0\nstdout: " + (place / "run/artifacts").string() + "\n\nstderr: ");
  EXPECT_EQ(there("cat /tmp/file file").result(), "exit_code: 0\nstdout: shared\nkept\n\nstderr: ");
  EXPECT_EQ(read_file(place / "run/artifacts/file"), "kept\n");
  EXPECT_TRUE(verified(place / "run"));
  fs::remove_all(place);
}

FOR_EVERYONE(Tasks);

}  // namespace
}  // namespace cloche::test
