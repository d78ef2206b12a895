// What is staged of a task: its later calls see it and write to it, and whatever is brought into the project
// later is judged as the project is then.
#include <signal.h>

#include <thread>

#include "tools/changes_fixture.hpp"

namespace cloche::test {
namespace {

class Staged : public Changes {
 protected:
  Ran of_task(const std::string& tool, const std::string& arguments,
              const std::string& writes = "stage") const {
    return words_here({"call", tool, arguments, "--task", "t", "--writes", writes});
  }
  std::string result_of(const std::string& tool, const std::string& arguments) const {
    const Ran ran = of_task(tool, arguments);
    EXPECT_TRUE(exited(ran, 0)) << tool << ran.out << ran.err;
    return ran.out;
  }
  // A call that goes on from what is staged, and is killed when its layer has the file.
  void kill_once_written(const std::string& text, const std::string& name) const {
    Command how =
        words({"call", "run_script", script(text + "; sleep 60"), "--task", "t", "--writes", "stage"});
    how.env["XDG_STATE_HOME"] = scene_root() / "own-state";
    Started started(how);
    const auto is_written = [&] {
      return exited(outside("test -s ../own-state/cloche/layers/stored/*/0*/u/" + name), 0);
    };
    for (int i = 0; i < 1500 && !is_written(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ::kill(started.pid(), SIGKILL);
    EXPECT_EQ(started.finish().signal, SIGKILL);
  }
};

TEST_P(Staged, LaterCallsOfTheTaskSeeItAndWriteToIt) {
  file("old", "old\n");
  file("gone/x", "x\n");
  result_of("write_artifact", R"({"path": "n/a", "content": "one\n"})");
  EXPECT_EQ(result_of("read_artifact", R"({"path": "n/a"})"), "one\n");
  const std::string ran =
      result_of("run_script", script("cat n/a; echo two >> n/a; echo new > old; rm -r gone; ln -s n link"));
  EXPECT_TRUE(ran.starts_with("[what this call wrote is not in the project: it stands on what earlier"))
      << ran;
  EXPECT_TRUE(contains(ran, "stdout: one\n")) << ran;
  EXPECT_EQ(result_of("read_artifact", R"({"path": "link/a"})"), "one\ntwo\n");
  EXPECT_EQ(result_of("read_artifact", R"({"path": "old"})"), "new\n");
  EXPECT_EQ(result_of("list_artifacts", "{}"), "link (a link)\nn/\nn/a (8 bytes)\nold (4 bytes)\n");
  EXPECT_TRUE(contains(result_of("search_artifacts", R"({"pattern": "two|new"})"), "n/a:2: two"));
  EXPECT_TRUE(exited(of_task("read_artifact", R"({"path": "gone/x"})"), 1));
  // By a file tool, over what a command deleted: nothing of the old directory comes back.
  result_of("write_artifact", R"({"path": "gone/y", "content": "y\n"})");
  result_of("edit_artifact", R"({"path": "n/a", "old": "one", "new": "1"})");
  EXPECT_TRUE(contains(result_of("run_script", script("ls gone; cat n/a")), "stdout: y\n1\ntwo\n"));

  EXPECT_EQ(text_of("old"), "old\n");
  EXPECT_FALSE(is_there("n"));
  ASSERT_EQ(sets().size(), 1U) << "one set for the task";
  EXPECT_TRUE(exited(words_here({"call", "read_artifact", R"({"path": "n/a"})", "--task", "other"}), 1));
  EXPECT_TRUE(exited(words_here({"changes", "apply"}), 0));
  EXPECT_EQ(text_of("n/a"), "1\ntwo\n");
  EXPECT_EQ(text_of("old"), "new\n");
  EXPECT_EQ(text_of("gone/y"), "y\n");
  EXPECT_FALSE(is_there("gone/x"));
  EXPECT_EQ(fs::read_symlink(workspace() / "link"), "n");
  EXPECT_EQ(result_of("read_artifact", R"({"path": "n/a"})"), "1\ntwo\n");
  EXPECT_TRUE(exited(words_here({"undo"}), 0));
  EXPECT_EQ(text_of("old"), "old\n");
  EXPECT_EQ(text_of("gone/x"), "x\n");
}

TEST_P(Staged, ACallThatTakesAllOfItBackLeavesNothing) {
  file("x", "old\n");
  result_of("run_script", script("cp -p x /tmp/x; echo new > x; echo n > n; mkdir closed; chmod 0 closed"));
  result_of("run_script", script("rm n; rmdir closed; cp -p /tmp/x x"));
  EXPECT_TRUE(sets().empty());
  EXPECT_EQ(text_of("x"), "old\n");
}

// What was staged for a conflict is not left behind by the next call that would have none.
TEST_P(Staged, AConflictIsSeenByTheNextCallAndHoldsIt) {
  file("x", "old\n");
  scene().write("signal", "", 0666);
  const std::string signal = scene_root() / "signal";
  Command how = words({"call", "run_script",
                       script("echo mine > x; echo written > " + signal + "; while ! grep -q go " + signal +
                              "; do sleep 0.01; done"),
                       "--rw", signal, "--task", "t"});
  how.env["XDG_STATE_HOME"] = scene_root() / "own-state";
  Started started(how);
  for (int i = 0; i < 1500 && !contains(read_file(signal), "written"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  file("x", "host\n");
  ASSERT_TRUE(exited(outside("echo go > " + signal), 0));
  EXPECT_TRUE(exited(started.finish(), 125));
  const Ran next = of_task("run_script", script("cat x; echo y > y"), "commit");
  EXPECT_TRUE(exited(next, 0)) << next.err;
  EXPECT_TRUE(contains(next.out, "which waits as well: x was changed since the call began")) << next.out;
  EXPECT_TRUE(contains(next.out, "stdout: mine\n")) << next.out;
  EXPECT_FALSE(is_there("y"));
  EXPECT_TRUE(exited(words_here({"changes", "apply", "--theirs", "x"}), 0));
  EXPECT_EQ(text_of("x"), "mine\n");
  EXPECT_EQ(text_of("y"), "y\n");
}

TEST_P(Staged, ACallThatIsKilledLosesNothingOfIt) {
  file("gone/x", "x\n");
  result_of("run_script", script("echo first > a; rm -r gone; mkdir gone; echo y > gone/y"));
  kill_once_written("echo second > b; echo more >> a", "b");
  const auto waiting = sets();
  ASSERT_EQ(waiting.size(), 1U);
  EXPECT_EQ(waiting[0]["status"].string, "staged");
  EXPECT_TRUE(
      contains(result_of("run_script", script("cat a b; ls gone")), "stdout: first\nmore\nsecond\ny\n"));
  EXPECT_TRUE(exited(words_here({"changes", "apply"}), 0));
  EXPECT_EQ(text_of("b"), "second\n");
  EXPECT_FALSE(is_there("gone/x"));
}

// It is said, and the set that is of no use any more can be thrown away.
TEST_P(Staged, WhatCannotBeContinuedIsNotLeftOutSilently) {
  result_of("run_script", script("echo first > a"));
  kill_once_written("echo second > b", "b");
  ASSERT_TRUE(exited(outside("mv ../own-state/cloche/layers/stored/*/0 ../own-state/aside"), 0));
  const Ran next = of_task("run_script", script("ls; echo c > c"));
  EXPECT_TRUE(contains(next.out + next.err, "what is staged of the task is not seen by this call: open "))
      << next.out << next.err;
  const auto both = sets();
  ASSERT_EQ(both.size(), 2U);
  const auto stuck = std::find_if(both.begin(), both.end(),
                                  [](const Json& set) { return set["status"].string == "in use"; });
  ASSERT_NE(stuck, both.end());
  // Where it can be brought back after all, the task stays with what it wrote since.
  ASSERT_TRUE(exited(
      outside("mv ../own-state/aside ../own-state/cloche/layers/stored/" + (*stuck)["set"].string + "/0"),
      0));
  EXPECT_EQ(sets().at(1)["status"].string, "staged");
  EXPECT_TRUE(contains(result_of("run_script", script("ls")), "stdout: c\n"));
  EXPECT_TRUE(exited(words_here({"changes", "drop", (*stuck)["set"].string}), 0));
  EXPECT_EQ(sets().size(), 1U);
}

// By itself: a directory around it is no answer to the question about it.
TEST_P(Staged, WhatIsWithheldHasToBeNamedItself) {
  ASSERT_TRUE(exited(write_by("stage", "mkdir s; echo ok > s/ok; echo e > s/.envrc; ln -s /etc s/out"), 0));
  EXPECT_TRUE(exited(words_here({"changes", "apply", "--only", "s"}), 0));
  EXPECT_TRUE(is_there("s/ok"));
  EXPECT_FALSE(is_there("s/.envrc"));
  EXPECT_FALSE(is_there("s/out"));
  EXPECT_TRUE(exited(words_here({"changes", "apply", "--only", "s/.envrc"}), 0));
  EXPECT_TRUE(is_there("s/.envrc"));
}

// The host's new name in the directory is not taken for a deletion of what the call moved there.
TEST_P(Staged, AFileThatTheCallMovedWasNotDeletedByTheHost) {
  file("keep", "keep\n");
  ASSERT_TRUE(exited(write_by("stage", "mv keep kept"), 0));
  file("unrelated", "x\n");
  const Ran applied = words_here({"changes", "apply"});
  EXPECT_TRUE(exited(applied, 0)) << applied.out;
  EXPECT_EQ(text_of("kept"), "keep\n");
  EXPECT_FALSE(is_there("keep"));
}

TEST_P(Staged, AnEditOfAFileThatTheHostDeletedIsAConflict) {
  file("src/f", "one\n");
  result_of("edit_artifact", R"({"path": "src/f", "old": "one", "new": "two"})");
  ASSERT_TRUE(exited(outside("rm src/f"), 0));
  result_of("run_script", script("echo n > n"));
  const Ran applied = words_here({"changes", "apply"});
  EXPECT_TRUE(exited(applied, 1)) << applied.out;
  EXPECT_FALSE(is_there("src/f"));
}

constexpr const char* hooks =
    "mkdir -p d/hooks; echo 'echo evil' > d/hooks/post-checkout; chmod +x d/hooks/*";
constexpr const char* repository =
    "mkdir -p d/objects d/refs; echo 'ref: refs/heads/main' > d/HEAD; printf '[core]\n\tbare = true\n' > "
    "d/config";

// Each of the two is harmless where the other one is not.
TEST_P(Staged, WhatIsAppliedIsJudgedAsTheProjectIsThen) {
  file("d/f", "f\n");
  ASSERT_TRUE(exited(write_by("stage", hooks), 0));
  ASSERT_TRUE(exited(write_by("stage", repository), 0));
  const auto both = sets();
  ASSERT_EQ(both.size(), 2U);
  EXPECT_TRUE(exited(words_here({"changes", "apply", both[0]["set"].string}), 0));
  const Ran second = words_here({"changes", "apply", both[1]["set"].string});
  EXPECT_TRUE(exited(second, 1)) << second.out;
  EXPECT_TRUE(contains(second.out, "would be executed by the host")) << second.out;
  EXPECT_FALSE(is_there("d/hooks/post-checkout"));
  // The operator's own answer.
  const Ran named =
      words_here({"changes", "apply", both[1]["set"].string, "--only", "d/hooks/post-checkout"});
  EXPECT_TRUE(exited(named, 0)) << named.out;
  EXPECT_TRUE(is_there("d/hooks/post-checkout"));
}

TEST_P(Staged, AnUndoIsJudgedAsTheProjectIsThen) {
  file("d/f", "f\n");
  ASSERT_TRUE(exited(write_by("commit", repository), 0));
  const auto undone = parse_json(words_here({"undo", "--json"}).out);
  ASSERT_TRUE(undone);
  const std::string id = (*undone)["sets"].array.at(0)["undo_by"].string;
  ASSERT_TRUE(exited(write_by("commit", hooks), 0));
  ASSERT_TRUE(is_there("d/hooks/post-checkout")) << "no repository, and so no hook";
  const Ran back = words_here({"undo", id});
  EXPECT_TRUE(exited(back, 1)) << back.out;
  EXPECT_TRUE(contains(back.out, "would be executed by the host")) << back.out;
  EXPECT_FALSE(is_there("d/HEAD"));
}

FOR_EVERYONE(Staged);

}  // namespace
}  // namespace cloche::test
