// What the operator does with what calls wrote: cloche diff, cloche undo and cloche changes, on real calls.
#include <thread>

#include "tools/changes_fixture.hpp"

namespace cloche::test {
namespace {

TEST_P(Changes, DiffShowsAndUndoTakesBack) {
  file("x.py", "a\nfoo\n");
  file("old.py", "old\n");
  file("d/one", "1\n");
  ASSERT_TRUE(exited(write_by("commit", "sed -i s/foo/bar/ x.py; rm -r old.py d; mkdir n; echo n > n/f"), 0));
  EXPECT_EQ(text_of("x.py"), "a\nbar\n");
  const std::string patch =
      "diff --git a/d/one b/d/one\ndeleted file mode 100644\n--- a/d/one\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n"
      "diff --git a/n/f b/n/f\nnew file mode 100644\n--- /dev/null\n+++ b/n/f\n@@ -0,0 +1 @@\n+n\n"
      "diff --git a/old.py b/old.py\ndeleted file mode 100644\n--- a/old.py\n+++ /dev/null\n@@ -1 +0,0 "
      "@@\n-old\n"
      "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n a\n-foo\n+bar\n";
  EXPECT_TRUE(printed(words_here({"diff"}), patch));
  EXPECT_TRUE(printed(words_here({"diff", "last", "f"}, {.argv = {}, .cwd = workspace() / "n"}),
                      patch.substr(patch.find("diff --git a/n"),
                                   patch.find("diff --git a/old") - patch.find("diff --git a/n"))));
  EXPECT_TRUE(exited(words_here({"diff", "last", "untouched"}), 1));

  const Ran rehearsed = words_here({"undo", "last", "old.py", "--dry-run"});
  EXPECT_TRUE(exited(rehearsed, 0));
  EXPECT_TRUE(contains(rehearsed.out, "would be undone")) << rehearsed.out;
  EXPECT_FALSE(is_there("old.py"));
  EXPECT_TRUE(exited(words_here({"undo", "last", "old.py"}), 0));
  EXPECT_EQ(text_of("old.py"), "old\n");
  EXPECT_FALSE(is_there("d"));
  const Ran undone = words_here({"undo"});
  EXPECT_TRUE(exited(undone, 0));
  EXPECT_TRUE(contains(undone.out, "own Edit tool")) << undone.out;
  EXPECT_EQ(text_of("x.py"), "a\nfoo\n");
  EXPECT_EQ(text_of("d/one"), "1\n");
  EXPECT_FALSE(is_there("n"));
  EXPECT_TRUE(exited(words_here({"undo"}), 1));
}

// Nothing younger than a day is thrown away: the call that would go beyond the bound is staged.
TEST_P(Changes, WhatUndoCannotKeepIsStaged) {
  scene().write("own-config/cloche/config.json", R"({"undo": {"count": 1}})", 0600);
  const auto with_bound = [&](const Words& words) {
    return words_here(words, {.argv = {}, .env = {{"XDG_CONFIG_HOME", scene_root() / "own-config"}}});
  };
  file("x", "1\n");
  ASSERT_TRUE(exited(with_bound({"run", "--writes", "commit", "--", "sh", "-c", "echo 2 > x"}), 0));
  const Ran staged = with_bound({"run", "--writes", "commit", "--", "sh", "-c", "echo 3 > x"});
  EXPECT_TRUE(contains(staged.err, "younger than a day")) << staged.err;
  EXPECT_EQ(text_of("x"), "2\n");
  EXPECT_TRUE(printed(with_bound({"log", "prune"}), ""));
  EXPECT_TRUE(exited(with_bound({"changes", "apply"}), 0));  // the operator wants it all the same
  EXPECT_EQ(text_of("x"), "3\n");
  EXPECT_TRUE(exited(with_bound({"undo"}), 0));
  EXPECT_TRUE(exited(with_bound({"undo"}), 0));
  EXPECT_EQ(text_of("x"), "1\n");
}

TEST_P(Changes, WhatWasWithheldIsBroughtInByName) {
  ASSERT_TRUE(exited(write_by("commit", "mkdir -p a/b; echo evil > a/b/.envrc; echo f > a/f"), 0));
  EXPECT_FALSE(is_there("a/b/.envrc"));
  const Ran shown = words_here({"changes"});
  EXPECT_TRUE(contains(shown.out, "withheld")) << shown.out;
  EXPECT_TRUE(contains(shown.out, "a/b/.envrc: direnv runs it")) << shown.out;
  EXPECT_TRUE(contains(words_here({"changes", "diff"}).out, "withheld: direnv runs it")) << shown.out;
  const Ran unnamed = words_here({"changes", "apply"});
  EXPECT_TRUE(exited(unnamed, 1));
  EXPECT_TRUE(contains(unnamed.out, "--only PATH")) << unnamed.out;
  EXPECT_FALSE(is_there("a/b/.envrc"));
  EXPECT_TRUE(exited(words_here({"changes", "apply", "--only", "a/f"}), 125));
  EXPECT_TRUE(exited(words_here({"changes", "apply", "--only", "a/b/.envrc"}), 0));
  EXPECT_EQ(text_of("a/b/.envrc"), "evil\n");
  EXPECT_TRUE(exited(words_here({"changes", "apply"}), 1));
  // The call is both sets, the newest first.
  EXPECT_TRUE(exited(words_here({"undo", "c-0001"}), 0));
  EXPECT_FALSE(is_there("a"));
}

// As `cloche run` says it of a new .vscode.
TEST_P(Changes, AWithheldDirectoryIsBroughtInWithWhatWasWithheldForIt) {
  const std::string write = "mkdir -p .vscode/deep; echo {} > .vscode/tasks.json; echo e > .vscode/deep/x";
  const Ran written =
      words_here({"run", "--writes", "commit", "--", "sh", "-c", write + "; echo e > .envrc"});
  EXPECT_TRUE(contains(written.err, "--only PATH brings it in")) << written.err;
  EXPECT_FALSE(is_there(".vscode"));
  const Ran applied = words_here({"changes", "apply", "--only", ".vscode"});
  EXPECT_TRUE(exited(applied, 0)) << applied.out;
  EXPECT_EQ(text_of(".vscode/tasks.json"), "{}\n");
  EXPECT_EQ(text_of(".vscode/deep/x"), "e\n");
  EXPECT_FALSE(is_there(".envrc"));
}

TEST_P(Changes, AStagedSetIsAppliedInPartsOrDropped) {
  file("x", "old\n");
  ASSERT_TRUE(
      exited(write_by("stage", "echo new > x; mkdir s; echo 1 > s/1; echo 2 > s/2; echo e > .envrc"), 0));
  EXPECT_EQ(text_of("x"), "old\n");
  EXPECT_FALSE(is_there("s"));
  EXPECT_TRUE(exited(words_here({"diff"}), 1));  // nothing of it is in the project
  EXPECT_TRUE(exited(words_here({"changes", "apply", "--only", "s/1"}), 0));
  EXPECT_EQ(text_of("s/1"), "1\n");
  EXPECT_FALSE(is_there("s/2"));
  EXPECT_TRUE(exited(words_here({"changes", "apply"}), 0));
  EXPECT_EQ(text_of("s/2"), "2\n");
  EXPECT_EQ(text_of("x"), "new\n");
  EXPECT_FALSE(is_there(".envrc"));
  EXPECT_TRUE(exited(words_here({"changes", "drop"}), 0));
  EXPECT_TRUE(exited(words_here({"changes", "apply"}), 1));
  EXPECT_TRUE(exited(words_here({"undo", "c-0001"}), 0));
  EXPECT_EQ(text_of("x"), "old\n");
  EXPECT_FALSE(is_there("s"));

  ASSERT_TRUE(exited(write_by("stage", "echo other > x"), 0));
  EXPECT_TRUE(exited(words_here({"changes", "drop"}), 0));
  EXPECT_EQ(text_of("x"), "old\n");
  for (const Json& set : sets()) EXPECT_NE(set["status"].string, "staged");
}

TEST_P(Changes, WhatTheHostChangedIsNotOverwritten) {
  file("x", "old\n");
  file("y", "old\n");
  ASSERT_TRUE(exited(write_by("stage", "echo call > x; echo call > y"), 0));
  file("x", "host\n");
  const Ran refused_set = words_here({"changes", "apply"});
  EXPECT_TRUE(exited(refused_set, 1));
  EXPECT_TRUE(contains(refused_set.out, "x was changed since the call began")) << refused_set.out;
  EXPECT_EQ(text_of("x"), "host\n");
  EXPECT_EQ(text_of("y"), "old\n");
  EXPECT_TRUE(exited(words_here({"changes", "apply", "--ours", "x"}), 0));
  EXPECT_EQ(text_of("x"), "host\n");
  EXPECT_EQ(text_of("y"), "call\n");
  EXPECT_TRUE(exited(words_here({"changes", "apply", "--only", "x"}), 1));
  EXPECT_TRUE(exited(words_here({"changes", "apply", "--only", "x", "--theirs", "x"}), 0));
  EXPECT_EQ(text_of("x"), "call\n");

  ASSERT_TRUE(exited(write_by("stage", "echo again > x; echo again > y"), 0));
  file("x", "host\n");
  EXPECT_TRUE(exited(words_here({"changes", "apply", "--theirs", "x"}), 0));
  EXPECT_EQ(text_of("x"), "again\n");
  EXPECT_TRUE(exited(words_here({"undo"}), 0));
  EXPECT_EQ(text_of("x"), "host\n");

  ASSERT_TRUE(exited(write_by("commit", "echo last > x; echo last > y"), 0));
  file("x", "host again\n");
  const Ran kept = words_here({"undo"});
  EXPECT_TRUE(exited(kept, 1));
  EXPECT_TRUE(contains(kept.out, "x was changed or replaced since")) << kept.out;
  EXPECT_EQ(text_of("y"), "last\n");
  EXPECT_TRUE(exited(words_here({"undo", "last", "y"}), 0));
  EXPECT_EQ(text_of("y"), "call\n");
  EXPECT_EQ(text_of("x"), "host again\n");
}

TEST_P(Changes, AResultBeginsWithWhatIsNotInTheProject) {
  file("x", "old\n");
  scene().write("signal", "", 0666);  // a single file has no layer: what is written there is seen at once
  const std::string signal = scene_root() / "signal";
  const std::string code = "echo mine > x; echo written > " + signal + "; while ! grep -q go " + signal +
                           "; do sleep 0.01; done; echo done";
  Command how = words({"call", "run_script", script(code), "--rw", signal, "--writes", "commit"});
  how.env["XDG_STATE_HOME"] = scene_root() / "own-state";
  Started started(how);
  for (int i = 0; i < 1500 && !contains(read_file(signal), "written"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  file("x", "host\n");
  ASSERT_TRUE(exited(outside("echo go > " + signal), 0));
  const Ran ran = started.finish();
  EXPECT_TRUE(exited(ran, 125)) << ran.out << ran.err;
  const std::string why = "not in the project: x was changed since the call began";
  EXPECT_TRUE(ran.out.starts_with("[what this call wrote is " + why)) << ran.out;
  EXPECT_TRUE(contains(ran.out, "\nexit_code: 0\nstdout: done\n")) << ran.out;
  EXPECT_FALSE(contains(ran.out, "cloche changes")) << "no command for a model: " << ran.out;
  const std::string id = sets().at(0)["set"].string;
  EXPECT_TRUE(contains(ran.err, why + "; cloche changes show " + id)) << ran.err;
  for (const Words& lists : {Words{"log"}, Words{"doctor"}})
    EXPECT_TRUE(contains(words_here(lists).out, "change set " + id)) << lists[0];
  EXPECT_TRUE(exited(words_here({"changes", "apply", "--theirs", "x"}), 0));
  EXPECT_EQ(text_of("x"), "mine\n");
}

TEST_P(Changes, WhatAScriptLeavesInTheBackgroundIsJudgedToo) {
  const Ran ran = words_here({"call", "run_script", script(leaves_a_writer)});
  EXPECT_TRUE(exited(ran, 0));
  EXPECT_TRUE(contains(ran.out, "not in the project: deep/.envrc: direnv runs it")) << ran.out;
  EXPECT_EQ(text_of("deep/er/plain"), "plain\n");
  EXPECT_FALSE(is_there("deep/er/.envrc") || is_there("deep/.envrc"));
}

TEST_P(Changes, TheListOfRunsCountsThem) {
  ASSERT_TRUE(exited(write_by("commit", "mkdir d; echo a > d/a; echo b > d/b; echo evil > d/.envrc"), 0));
  ASSERT_TRUE(exited(write_by("commit", "rm d/a; echo c > d/b"), 0));
  ASSERT_TRUE(exited(write_by("stage", "echo s > s"), 0));
  const Ran listed = words_here({"log"});
  EXPECT_TRUE(contains(listed.out, "CALLS  REFUSED  CHANGES ")) << listed.out;
  EXPECT_TRUE(contains(listed.out, "3      0        5 changed, 1 withheld, 1 staged " + workspace().string()))
      << listed.out;
  EXPECT_TRUE(exited(words_here({"call", "read_artifact", R"({"path": "/etc/passwd"})"}), 126));
  EXPECT_TRUE(contains(words_here({"log"}).out, "1      1        none  ")) << words_here({"log"}).out;
}

TEST_P(Changes, FileToolsSayWhatIsStaged) {
  const Ran ran =
      words_here({"call", "write_artifact", R"({"path": "a", "content": "b"})", "--writes", "stage"});
  EXPECT_TRUE(exited(ran, 0)) << ran.err;
  EXPECT_TRUE(ran.out.starts_with("[what this call wrote is not in the project: an operator looks"))
      << ran.out;
  EXPECT_TRUE(contains(ran.out, "\nwrote a (1 byte)")) << ran.out;
  EXPECT_FALSE(is_there("a"));
}

TEST_P(Changes, TheOperatorsRulesAskAndWithhold) {
  scene().write("home/.config/cloche/config.json", R"({"changes": [
      {"paths": ["*.sql"], "action": "deny", "match": ["m/1.sql"]},
      {"kinds": ["deleted"], "more_than": 1, "action": "ask"}]})",
                0600);
  for (const char* name : {"a", "b", "c"}) file(name, "x\n");
  const Ran denied = write_by("commit", "echo x > new.sql; echo x > new; rm a");
  EXPECT_TRUE(exited(denied, 0));
  EXPECT_TRUE(contains(denied.err, "new.sql: a rule of the operator's does not allow it")) << denied.err;
  EXPECT_TRUE(is_there("new"));
  EXPECT_FALSE(is_there("new.sql"));
  EXPECT_FALSE(is_there("a"));
  EXPECT_TRUE(contains(words_here({"changes", "show"}).out, "config.json:2)")) << "the operator's rule";
  const Ran asked = write_by("commit", "rm b c");
  EXPECT_TRUE(contains(asked.err, "an operator has to say: a rule of the operator's asks about it"))
      << asked.err;
  EXPECT_TRUE(is_there("b"));
  file(".cloche/config.json", R"({"changes": [{"action": "allow"}]})");
  EXPECT_TRUE(refused(write_by("commit", "true"), {125}, {"config.json:1: changes: a project can only"}));
}

TEST_P(Changes, ARuleCountsWhatTheCallsOfATaskChanged) {
  scene().write("home/.config/cloche/config.json", R"({"changes": [
      {"kinds": ["deleted"], "more_than": 2, "per": "task", "action": "deny"}]})",
                0600);
  for (const char* name : {"a", "b", "c", "d", "e"}) file(name, "x\n");
  const auto remove = [&](const std::string& task, const std::string& name) {
    return exited(words_here({"run", "--task", task, "--", "rm", name}), 0);
  };
  EXPECT_TRUE(remove("t", "a") && remove("t", "b") && remove("t", "c"));
  EXPECT_FALSE(is_there("a") || is_there("b"));
  EXPECT_TRUE(is_there("c")) << "the third of the task";
  EXPECT_TRUE(remove("other", "d")) << "another task";
  EXPECT_FALSE(is_there("d"));
  file("a", "again\n");
  EXPECT_TRUE(remove("t", "a"));
  EXPECT_FALSE(is_there("a")) << "a path counts once";
  const std::string counts = "own-state/cloche/task-changes";
  size_t files = 0;
  for (const auto& file : fs::directory_iterator(scene_root() / counts)) {
    scene().write(counts + "/" + file.path().filename().string(), "?", 0600);
    ++files;
  }
  EXPECT_EQ(files, 2U);
  const Ran unknown = words_here({"run", "--task", "t", "--", "rm", "e"});
  EXPECT_TRUE(contains(unknown.err, "is not what was written there")) << unknown.err;
  EXPECT_TRUE(is_there("e")) << "what cannot be counted is not brought in";
}

TEST_P(Changes, WhatIsTooMuchToBeJudgedIsStaged) {
  const Ran many =
      words_here({"run", "--writes", "commit", "--changes", "5", "--", "bash", "-c", "touch {1..9}"});
  EXPECT_TRUE(exited(many, 0)) << many.err;
  EXPECT_TRUE(contains(many.err, "too-many-entries")) << many.err;
  EXPECT_FALSE(is_there("1"));
  const Ran slow = words_here(
      {"run", "--writes", "commit", "--judge-time", "1ms", "--", "bash", "-c", "mkdir d; touch d/{1..3000}"});
  EXPECT_TRUE(exited(slow, 0)) << slow.err;
  EXPECT_TRUE(contains(slow.err, "too-slow") || contains(slow.err, "not enough time")) << slow.err;
  EXPECT_FALSE(is_there("d"));
}

TEST_P(Changes, ARunIsTakenBackNewestFirst) {
  file("f", "0\n");
  for (const char* number : {"1", "2", "3"})
    ASSERT_TRUE(exited(write_by("commit", "echo " + std::string(number) + " > f; mkdir -p d; cp f d/g"), 0));
  const std::string call = sets().at(0)["call"].string;
  const std::string run_id = call.substr(0, call.find('/'));
  // The bytes of a file that a later call replaced are those that this call kept.
  EXPECT_TRUE(printed(words_here({"diff", "c-0002", "f"}),
                      "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+2\n"));
  EXPECT_TRUE(exited(words_here({"undo", "c-0001"}), 1));
  EXPECT_TRUE(exited(words_here({"undo", run_id, "--dry-run"}), 0));
  EXPECT_EQ(text_of("f"), "3\n");
  EXPECT_TRUE(exited(words_here({"undo", run_id}), 0));
  EXPECT_EQ(text_of("f"), "0\n");
  EXPECT_FALSE(is_there("d"));
  EXPECT_TRUE(exited(words_here({"undo", run_id}), 1));
}

// The name of a run is any name of a directory, and not its alone.
TEST_P(Changes, RunsOfOneNameHaveSetsOfTheirOwn) {
  for (const char* parent : {"one", "two", "two"}) {
    const fs::path run = scene().write(fs::path(parent) / ".keep", "").parent_path() / "a run";
    fs::remove_all(run);
    const Ran ran = words_here({"run", "--run", run, "--writes", "commit", "--", "sh", "-c", "echo x > f"});
    EXPECT_TRUE(exited(ran, 0));
    EXPECT_EQ(read_file(run / "artifacts/f"), "x\n");
  }
}

TEST_P(Changes, ASetOfAWorkspaceThatWasReplacedIsRefused) {
  ASSERT_TRUE(exited(write_by("stage", "echo x > x"), 0));
  const std::string id = sets().at(0)["set"].string;
  ASSERT_TRUE(exited(outside("cd .. && mv workspace moved && mkdir workspace"), 0));
  EXPECT_TRUE(refused(words_here({"changes", "apply", id}), {125}, {"another one has its place"}));
  EXPECT_TRUE(refused(words_here({"undo", id}), {125}, {"another one has its place"}));
  EXPECT_FALSE(is_there("x"));
  EXPECT_TRUE(printed(words_here({"changes"}), "no change sets\n"));
  EXPECT_TRUE(exited(words_here({"changes", "drop", id}), 0));
}

// Its sets go with it, and nothing that has its old name is touched.
TEST_P(Changes, AWorkspaceThatWasRenamedKeepsItsSets) {
  file("sub/.keep", "");
  ASSERT_TRUE(exited(write_by("commit", "echo one > a"), 0));
  ASSERT_TRUE(exited(write_by("stage", "echo two > b; echo three > c"), 0));
  const std::string name = workspace().filename();
  const auto moved = [&](const std::string& from, const std::string& to) {
    return exited(outside("cd ..; mv " + from + " " + to + " && mkdir " + from + " && touch " + from + "/a"),
                  0);
  };
  if (!moved(name, name + "-2")) GTEST_SKIP() << "skipped: this user cannot rename the workspace";
  const auto in_new = [&](const Words& words) {
    return words_here(words, {.argv = {}, .cwd = workspace().string() + "-2/sub"});
  };
  const Ran applied = in_new({"changes", "apply", "--only", "../b"});
  EXPECT_TRUE(exited(applied, 0)) << applied.out << applied.err;
  EXPECT_EQ(read_file(workspace().string() + "-2/b"), "two\n");
  const Ran undone = in_new({"undo"});
  EXPECT_TRUE(exited(undone, 0)) << undone.out << undone.err;
  EXPECT_TRUE(exited(in_new({"undo"}), 0));
  EXPECT_FALSE(fs::exists(workspace().string() + "-2/a"));
  EXPECT_TRUE(is_there("a")) << "another directory by the same name";
}

TEST_P(Changes, WordsThatMeanNothingAreSaidToDoSo) {
  EXPECT_TRUE(exited(words_here({"diff"}), 1));
  EXPECT_TRUE(exited(words_here({"undo"}), 1));
  EXPECT_TRUE(exited(words_here({"changes", "apply"}), 1));
  EXPECT_TRUE(refused(words_here({"diff", "nothing"}), {125}, {"no change set, call or run"}));
  EXPECT_TRUE(refused(words_here({"undo", "--stat"}), {2}, {"see cloche undo --help"}));
  EXPECT_TRUE(refused(words_here({"changes", "undo"}), {2}, {"unknown action"}));
  ASSERT_TRUE(exited(write_by("stage", "echo 1 > z"), 0));
  ASSERT_TRUE(exited(write_by("stage", "echo 2 > z"), 0));
  EXPECT_TRUE(refused(words_here({"changes", "apply"}), {2}, {"2 change sets wait"}));
}

// What was beyond the bound is not lost with what was within it.
TEST_P(Changes, WhatWasReadInPartIsAppliedWhole) {
  const std::string write = "for i in $(seq 50); do echo $i > f$i; done; echo e > .envrc";
  ASSERT_TRUE(exited(words_here({"run", "--changes", "20", "--", "sh", "-c", write}), 0));
  EXPECT_TRUE(contains(words_here({"changes", "show"}).out, "not judged yet"));
  const Ran one = words_here({"changes", "apply", "--only", "f7"});
  EXPECT_TRUE(exited(one, 0)) << one.out;
  EXPECT_TRUE(is_there("f7"));
  const Ran rest = words_here({"changes", "apply"});
  EXPECT_TRUE(exited(rest, 0)) << rest.out;
  for (int i = 1; i <= 50; ++i) EXPECT_TRUE(is_there("f" + std::to_string(i))) << i;
  EXPECT_FALSE(is_there(".envrc")) << "which the host would execute";
  EXPECT_TRUE(exited(words_here({"changes", "apply", "--only", ".envrc"}), 0));
}

TEST_P(Changes, OfASetThatWasReadInPartAPathCanBeDropped) {
  file(".cloche/config.json", R"({"changes": [{"paths": ["*.lock"], "action": "deny"}]})");
  const std::string write = "for i in $(seq 50); do echo $i > f$i; done; echo l > a.lock";
  ASSERT_TRUE(exited(words_here({"run", "--changes", "20", "--", "sh", "-c", write}), 0));
  ASSERT_TRUE(exited(words_here({"changes", "drop", "--only", "f7"}), 0));
  const Ran rest = words_here({"changes", "apply"});
  EXPECT_TRUE(exited(rest, 0)) << rest.out;
  EXPECT_FALSE(is_there("f7"));
  EXPECT_TRUE(is_there("f8"));
  EXPECT_FALSE(is_there("a.lock")) << "as a rule of the project has it";
}

TEST_P(Changes, ADirectoryThatBothMadeIsOneForBoth) {
  ASSERT_TRUE(
      exited(write_by("stage", "mkdir -p out/d; chmod 700 out/d; echo c > out/c; echo c > out/d/both"), 0));
  file("out/h", "host\n");
  file("out/d/both", "host\n");
  ASSERT_TRUE(exited(outside("chmod 755 out out/d"), 0));
  const Ran conflict = words_here({"changes", "apply"});
  EXPECT_TRUE(exited(conflict, 1));
  EXPECT_TRUE(contains(conflict.out, "\n  out/d/both was created since the call began\n")) << conflict.out;
  EXPECT_FALSE(contains(conflict.out, "  out was")) << conflict.out;
  EXPECT_TRUE(exited(words_here({"changes", "apply", "--ours", "out"}), 1)) << "nothing is left of it";
  const Ran one = words_here({"changes", "apply", "--only", "out/c"});
  EXPECT_TRUE(exited(one, 0)) << one.out;
  EXPECT_EQ(text_of("out/c"), "c\n");
  EXPECT_EQ(text_of("out/d/both"), "host\n");
  const Ran theirs = words_here({"changes", "apply", "--only", "out", "--theirs", "out"});
  EXPECT_TRUE(exited(theirs, 0)) << theirs.out;
  EXPECT_EQ(text_of("out/d/both"), "c\n");
  EXPECT_EQ(outside("stat -c %a out/d").out, "700\n");
  EXPECT_EQ(text_of("out/h"), "host\n");
  EXPECT_TRUE(exited(words_here({"undo"}), 0));
  EXPECT_EQ(text_of("out/d/both"), "host\n");
  EXPECT_EQ(outside("stat -c %a out/d").out, "755\n");
}

FOR_EVERYONE(Changes);

}  // namespace
}  // namespace cloche::test
