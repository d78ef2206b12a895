#include "store/commit/change_sets.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <fstream>
#include <functional>

#include "store/commit/store_fixture.hpp"

namespace cloche {
namespace {

StoreScene random_scene(unsigned seed) {
  RandomTrees random(seed);
  Model before = random.next();
  Model after = random.changed(before);
  after["always"] = a_file("new");  // never without a change
  return StoreScene(std::move(before), std::move(after));
}

TEST(ChangeSets, TextsKeepEverything) {
  const StoreScene scene = random_scene(7);
  ASSERT_TRUE(scene.commit().ok());
  const StoredSet set = scene.last();
  EXPECT_EQ(set.changes, scene.set);
  EXPECT_EQ(set.verdicts.size(), scene.set.changes.size());
  EXPECT_EQ(parse_steps(steps_text(set.steps)).value(), set.steps);
  EXPECT_EQ(parse_header(header_text(set.header)).value(), set.header);
  const std::string text = header_text(set.header);
  for (size_t size = 0; size < text.size(); ++size) EXPECT_FALSE(parse_header(text.substr(0, size)).ok());
}

// Of a small commit they are in the header, and no second file is written.
TEST(ChangeSets, FewStepsAreInTheHeader) {
  for (const size_t count : {1, 16, 17}) {
    Model after;
    for (size_t i = 0; i < count; ++i) after["f" + std::to_string(i)] = a_file("new");
    StoreScene scene({}, after);
    ASSERT_TRUE(scene.commit().ok());
    const StoredSet set = scene.last();
    EXPECT_EQ(set.steps.size(), count);
    EXPECT_EQ(set.header.steps.size(), count <= 16 ? count : 0);
    const std::string file = scene.state + "/changes/" + set.header.id + "/steps";
    EXPECT_EQ(::access(file.c_str(), F_OK) == 0, count > 16);
    for (const Step& step : set.steps) EXPECT_NE(step.placed.inode, 0U);
    const auto plan = plan_undo(set, {});
    ASSERT_TRUE(plan.ok()) << describe(plan.error());
    scene.undo_by(plan.value(), set.header.id);
    EXPECT_EQ(read_tree(scene.project), scene.before);
  }
}

// As it was stored before the header had the steps.
TEST(ChangeSets, HeadersWithoutStepsAreRead) {
  const SetHeader header{.id = "a", .label = "run/c-0001", .ended_ns = 5};
  std::string text = header_text(header);
  ASSERT_TRUE(text.starts_with("cloche-changes-3") && text.ends_with(std::string_view("\0"
                                                                                      "0"
                                                                                      "\0",
                                                                                      3)));
  text.replace(0, 16, "cloche-changes-2").resize(text.size() - 2);
  EXPECT_EQ(parse_header(text).value(), header);
}

TEST(ChangeSets, UndoRestoresTheTreeAndIsUndoneItself) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    StoreScene scene = random_scene(seed + 100);
    const auto committed = scene.commit();
    ASSERT_TRUE(committed.ok());
    ASSERT_EQ(committed.value().end, CommitEnd::committed) << seed << text_of(committed.value());
    const auto plan = plan_undo(scene.last(), {});
    ASSERT_TRUE(plan.ok()) << describe(plan.error());
    const std::string first = scene.last().header.id;
    const std::string second = scene.undo_by(plan.value(), first);
    EXPECT_EQ(scene.store.find(first).value().header.status, SetStatus::undone);
    // Planned before the tree is read, because reading a closed file changes its ctime.
    const auto redo = plan_undo(scene.store.find(second).value(), {});
    ASSERT_TRUE(redo.ok()) << describe(redo.error());
    ASSERT_EQ(read_tree(scene.project), scene.before) << seed;
    scene.undo_by(redo.value(), second);
    ASSERT_EQ(read_tree(scene.project), scene.after) << seed;
  }
}

TEST(ChangeSets, KilledAtAnyStepIsFinishedOrTakenBack) {
  for (unsigned seed = 0; seed < 5; ++seed) {
    for (size_t last = 0;; ++last) {
      StoreScene scene = random_scene(seed + 300);
      if (seed == 3) scene.transfer = Transfer::copy;
      if (seed == 4) scene.keep_state_in_memory();
      if (last >= scene.steps().size()) break;
      commit_and_die(scene, last);
      const bool goes_on = last % 2 == 0;
      const auto recovered = scene.store.recover([&](const StoredSet&) { return goes_on; });
      ASSERT_EQ(recovered.size(), 1U);
      EXPECT_EQ(recovered[0].status, goes_on ? SetStatus::committed : SetStatus::staged);
      EXPECT_TRUE(scene.store.recover(all_allowed).empty());
      if (!goes_on) {
        ASSERT_EQ(read_tree(scene.project), scene.before) << seed << " " << last;
        continue;
      }
      const auto plan = plan_undo(scene.last(), {});
      ASSERT_EQ(read_tree(scene.project), scene.after) << seed << " " << last;
      ASSERT_TRUE(plan.ok()) << describe(plan.error());
      scene.undo_by(plan.value(), scene.last().header.id);
      ASSERT_EQ(read_tree(scene.project), scene.before) << seed << " " << last;
    }
  }
}

// The host writes to one file that is in the project already, and to one that is not.
TEST(ChangeSets, WhatTheHostWritesDuringACommitThatIsTakenBackStays) {
  for (const bool is_new : {false, true}) {
    for (const Transfer transfer : {Transfer::rename, Transfer::copy}) {
      Model before{{"a", a_file("1")}, {"b", a_file("1")}};
      if (is_new) before.erase("a");
      StoreScene scene(before, {{"a", a_file("2")}, {"b", a_file("2")}});
      scene.transfer = transfer;
      const auto append = [&](const char* name) {
        std::ofstream(scene.project + "/" + name, std::ios::app) << " and the host's";
      };
      CommitOptions options;
      options.after_step = [&](size_t step) {
        if (step != 0) return;
        append("a");
        append("b");
      };
      const auto committed = scene.commit(options);
      ASSERT_TRUE(committed.ok()) << describe(committed.error());
      EXPECT_EQ(committed.value().end, CommitEnd::taken_back) << text_of(committed.value());
      EXPECT_NE(text_of(committed.value()).find("'a' was changed by another process"), std::string::npos);
      EXPECT_EQ(sys::read_file(scene.project + "/a").value(), "2 and the host's");
      EXPECT_EQ(sys::read_file(scene.project + "/b").value(), "1 and the host's");
    }
  }
}

// What the host writes in a directory that the call deleted, after it was compared and before it is moved
// away.
TEST(ChangeSets, WhatTheHostWritesInADirectoryThatIsDeletedTakesTheCommitBack) {
  for (const char* name : {"d/old", "d/new", "d/e/new"}) {
    StoreScene scene(
        {{"a", a_file("1")}, {"d", a_directory()}, {"d/e", a_directory()}, {"d/old", a_file("1")}},
        {{"a", a_file("2")}});
    CommitOptions options;
    options.after_step = [&](size_t step) {
      if (step == 0) std::ofstream(scene.project + "/" + name, std::ios::app) << "the host's";
    };
    const auto committed = scene.commit(options);
    ASSERT_TRUE(committed.ok()) << describe(committed.error());
    EXPECT_EQ(committed.value().end, CommitEnd::taken_back) << text_of(committed.value());
    EXPECT_NE(text_of(committed.value()).find("changed by another process"), std::string::npos);
    EXPECT_TRUE(sys::read_file(scene.project + "/" + name).value().ends_with("the host's")) << name;
    EXPECT_EQ(sys::read_file(scene.project + "/a").value(), "1");
  }
}

// The process that commits is killed after its first step; the host then puts a file of its own in the place
// of one that is in the project already, and of one that is not.
TEST(ChangeSets, WhatTheHostReplacesAfterACommitWasKilledStays) {
  const auto replace = [](const std::string& path) {
    std::ofstream(path + ".new") << "the host's";
    ASSERT_EQ(::rename((path + ".new").c_str(), path.c_str()), 0);
  };
  for (const bool goes_on : {true, false}) {
    for (const bool is_new : {false, true}) {
      Model before{{"a", a_file("1")}, {"e", a_file("1")}};
      if (is_new) before.erase("a");
      StoreScene scene(before, {{"a", a_file("2")}, {"e", a_file("2")}});
      commit_and_die(scene, 0);
      replace(scene.project + "/a");
      if (!goes_on) replace(scene.project + "/e");
      const auto recovered = scene.store.recover(all_allowed);
      ASSERT_EQ(recovered.size(), 1U);
      EXPECT_EQ(recovered[0].status, goes_on ? SetStatus::committed : SetStatus::staged)
          << goes_on << is_new << testing::PrintToString(recovered[0].reasons);
      EXPECT_EQ(sys::read_file(scene.project + "/a").value(), "the host's");
      EXPECT_EQ(sys::read_file(scene.project + "/e").value(), goes_on ? "2" : "the host's");
      if (!goes_on) continue;
      const auto plan = plan_undo(scene.last(), {});
      ASSERT_TRUE(plan.ok()) << describe(plan.error());
      ASSERT_EQ(plan.value().conflicts.size(), 1U);
      EXPECT_EQ(plan.value().conflicts[0].path, "a");
    }
  }
}

// A step of two operations, ended between them.
TEST(ChangeSets, KilledBetweenLinkAndRenameIsFinished) {
  for (const bool goes_on : {true, false}) {
    StoreScene scene({{"a", a_file("1")}, {"b", a_file("1")}}, {{"a", a_file("2")}, {"b", a_file("2")}});
    commit_and_die(scene, 0);
    ASSERT_EQ(
        ::link((scene.project + "/b").c_str(), (scene.store.list()[0].trees[0].undo.path + "/1").c_str()), 0);
    const auto recovered = scene.store.recover([&](const StoredSet&) { return goes_on; });
    ASSERT_EQ(recovered.size(), 1U);
    EXPECT_EQ(read_tree(scene.project), goes_on ? scene.after : scene.before);
  }
}

// What the host did to a half committed tree is kept, and the rest goes back.
// On another mount the copies lie in the project by then.
TEST(ChangeSets, KilledBeforeTheFirstStepLeavesNothingInTheProject) {
  StoreScene scene = random_scene(303);
  scene.keep_state_in_memory();
  const pid_t child = ::fork();
  if (child == 0) {
    CommitOptions options;
    options.before_first = [](const std::vector<Step>&) -> Result<void> { ::_exit(7); };
    (void)scene.commit(options);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_EQ(WEXITSTATUS(status), 7);
  ASSERT_NE(read_tree(scene.project), scene.before);
  const auto recovered = scene.store.recover(all_allowed);
  ASSERT_EQ(recovered.size(), 1U);
  EXPECT_EQ(recovered[0].status, SetStatus::dropped);
  EXPECT_EQ(read_tree(scene.project), scene.before);
}

TEST(ChangeSets, RecoveryTakesBackWhatCannotBeFinished) {
  StoreScene scene({{"a", a_file("1")}, {"b", a_file("1")}}, {{"a", a_file("2")}, {"b", a_file("2")}});
  commit_and_die(scene, 0);
  make_node(scene.project + "/x", a_file("host"));
  ASSERT_EQ(::rename((scene.project + "/x").c_str(), (scene.project + "/b").c_str()), 0);
  const auto recovered = scene.store.recover(all_allowed);
  ASSERT_EQ(recovered.size(), 1U);
  EXPECT_EQ(recovered[0].status, SetStatus::staged);
  EXPECT_EQ(read_tree(scene.project), (Model{{"a", a_file("1")}, {"b", a_file("host")}}));
}

TEST(ChangeSets, AnotherBootsCommitIsLeftUnlessItWasSynced) {
  for (const auto sync : {FileSync::later, FileSync::at_once}) {
    StoreScene scene({{"a", a_file("1")}, {"b", a_file("1")}}, {{"a", a_file("2")}, {"b", a_file("2")}});
    const pid_t child = ::fork();
    if (child == 0) {
      CommitOptions options{.sync = sync};
      options.after_step = [](size_t) { ::_exit(0); };
      (void)scene.commit(options);
    }
    ::waitpid(child, nullptr, 0);
    const auto recovered = ChangeSets(scene.state, "another-boot").recover(all_allowed);
    ASSERT_EQ(recovered.size(), 1U);
    const bool is_synced = sync == FileSync::at_once;
    EXPECT_EQ(recovered[0].status, is_synced ? SetStatus::committed : SetStatus::committing);
    EXPECT_EQ(sys::read_file(scene.project + "/b").value(), is_synced ? "2" : "1");
  }
}

TEST(ChangeSets, DirectoriesThatDoNotMatchAreLeftAlone) {
  StoreScene scene({{"a", a_file("1")}, {"b", a_file("1")}}, {{"a", a_file("2")}, {"b", a_file("2")}});
  commit_and_die(scene, 0);
  ASSERT_EQ(::rename(scene.upper.c_str(), (scene.scratch.path + "/moved").c_str()), 0);
  make_tree(scene.scratch.path, {{"upper", a_directory()}, {"upper/b", a_file("forged")}});
  const auto recovered = scene.store.recover(all_allowed);
  ASSERT_EQ(recovered.size(), 1U);
  EXPECT_EQ(recovered[0].status, SetStatus::committing);
  EXPECT_EQ(sys::read_file(scene.project + "/b").value(), "1");
  EXPECT_EQ(sys::read_file(scene.upper + "/b").value(), "forged");
}

TEST(ChangeSets, ASetInWorkIsNotRecovered) {
  StoreScene scene({}, {{"a", a_file("1")}});
  auto begun = scene.store.begin(scene.header());
  ASSERT_TRUE(begun.ok());
  EXPECT_TRUE(scene.store.recover(all_allowed).empty());
  const auto dropped = scene.store.drop(begun.value().header.id);
  ASSERT_FALSE(dropped.ok());
  EXPECT_EQ(describe(dropped.error()),
            "another call or command is using this change set; try again when it has ended");
  begun.value().lock.reset();
  const auto recovered = scene.store.recover(all_allowed);
  ASSERT_EQ(recovered.size(), 1U);
  EXPECT_EQ(recovered[0].status, SetStatus::dropped);
  EXPECT_TRUE(scene.store.list().empty());
}

TEST(ChangeSets, ForgedStateIsNotBelieved) {
  StoreScene scene({}, {{"a", a_file("1")}});
  ASSERT_TRUE(scene.commit().ok());
  const StoredSet set = scene.last();
  const std::string file = scene.state + "/changes/" + set.header.id + "/set";
  ASSERT_EQ(::chmod(file.c_str(), 0666), 0);  // another user could have written it
  EXPECT_TRUE(scene.store.list().empty());
  EXPECT_FALSE(scene.store.find(set.header.id).ok());
  EXPECT_FALSE(scene.store.find("../changes/" + set.header.id).ok());
}

TEST(ChangeSets, UndoesSinglePathsAndThenTheRest) {
  StoreScene scene({{"a", a_file("1")},
                    {"d", a_directory(0755)},
                    {"d/e", a_directory(0700)},
                    {"d/e/f", a_file("1")},
                    {"d/g", a_file("1")}},
                   {{"a", a_file("2")}, {"n", a_directory()}, {"n/f", a_file("2")}, {"n/g", a_file("2")}});
  ASSERT_EQ(scene.commit().value().end, CommitEnd::committed);
  const std::string id = scene.last().header.id;
  const auto some = plan_undo(scene.last(), {{0, "d/e/f"}, {0, "n/f"}});
  ASSERT_TRUE(some.ok()) << describe(some.error());
  scene.undo_by(some.value(), id);
  Model expected = scene.after;
  expected.erase("n/f");
  for (const char* path : {"d", "d/e", "d/e/f"}) expected[path] = scene.before.at(path);
  EXPECT_EQ(read_tree(scene.project), expected);
  EXPECT_EQ(scene.store.find(id).value().header.status, SetStatus::committed);
  EXPECT_FALSE(plan_undo(scene.last(), {{0, "d/e/f"}}).ok());
  const auto rest = plan_undo(scene.store.find(id).value(), {});
  ASSERT_TRUE(rest.ok()) << describe(rest.error());
  scene.undo_by(rest.value(), id);
  EXPECT_EQ(read_tree(scene.project), scene.before);
  EXPECT_EQ(scene.store.find(id).value().header.status, SetStatus::undone);
}

// An undo takes back what was committed; what was withheld was never in the project, and waits on.
TEST(ChangeSets, AnUndoLeavesWhatWasWithheld) {
  for (const bool is_withheld : {true, false}) {
    StoreScene scene({{"a", a_file("1")}}, {{"a", a_file("2")}, {"b", a_file("2")}});
    auto verdicts = all_committed(scene.set);
    if (is_withheld) verdicts[1] = {.fate = Fate::withheld, .reason = "a test says so"};
    auto begun = scene.store.begin(scene.header());
    ASSERT_TRUE(scene.store.commit(begun.value(), scene.set, verdicts).ok());
    begun.value().lock.reset();
    const std::string id = scene.last().header.id;
    const auto plan = plan_undo(scene.last(), {});
    ASSERT_TRUE(plan.ok()) << describe(plan.error());
    scene.undo_by(plan.value(), id);
    EXPECT_EQ(read_tree(scene.project), scene.before);
    const StoredSet set = scene.store.find(id).value();
    EXPECT_EQ(set.header.status, is_withheld ? SetStatus::committed : SetStatus::undone);
    EXPECT_EQ(set.header.kept, KeptBytes());
    for (size_t i = 0; i < set.changes.changes.size(); ++i) EXPECT_FALSE(is_in_project(set, i));
    EXPECT_EQ(sys::read_file(scene.upper + "/b").ok(), is_withheld);
  }
}

SetInWork staged_for(const StoreScene& scene, const std::string& id, const std::string& task) {
  SetHeader header = scene.header();
  header.id = id;
  header.task = task;
  SetInWork work = scene.store.begin(header).value();
  EXPECT_TRUE(scene.store.stage(work, scene.set, all_committed(scene.set)).ok());
  work.lock.reset();
  return work;
}

TEST(ChangeSets, WhatIsStagedWithoutATaskIsGivenToOneLater) {
  const StoreScene scene({}, {{"a", a_file("1")}});
  const KnownDirectory workspace = know_directory(scene.project).value();
  staged_for(scene, "s-1", "");
  EXPECT_FALSE(scene.store.staged_of("t", workspace));
  ASSERT_TRUE(scene.store.give_to_task("s-1", "t").ok());
  ASSERT_TRUE(scene.store.staged_of("t", workspace));
  EXPECT_EQ(scene.store.staged_of("t", workspace)->header.id, "s-1");
  EXPECT_EQ(scene.store.find("s-1").value().header.task, "t");
  // A task has one set that waits; what came beside it is of no task.
  for (const bool is_given : {true, false}) {
    const std::string id = is_given ? "s-2" : "s-3";
    const SetInWork second = staged_for(scene, id, is_given ? "" : "t");
    if (is_given) {
      ASSERT_TRUE(scene.store.give_to_task(id, "t").ok());
    }
    EXPECT_EQ(scene.store.find(id).value().header.task, "");
    EXPECT_EQ(scene.store.staged_of("t", workspace)->header.id, "s-1");
  }
  // What waits no more is given to nothing.
  auto work = scene.store.work_on("s-2").value();
  ASSERT_TRUE(scene.store.set_status(work, SetStatus::dropped).ok());
  work.lock.reset();
  ASSERT_TRUE(scene.store.give_to_task("s-2", "other").ok());
  EXPECT_FALSE(scene.store.staged_of("other", workspace));
}

struct HostChange {
  const char* name;
  std::function<void(const std::string& project)> happens;
  std::string path;
};

TEST(ChangeSets, UndoConflictsWithWhatTheHostChangedSince) {
  const std::vector<HostChange> rows = {
      {"rewritten", [](const std::string& p) { ::truncate((p + "/a").c_str(), 0); }, "a"},
      {"touched", [](const std::string& p) { ::chmod((p + "/a").c_str(), 0600); }, "a"},
      {"deleted", [](const std::string& p) { ::unlink((p + "/a").c_str()); }, "a"},
      {"made again", [](const std::string& p) { make_node(p + "/gone", a_file("host")); }, "gone"},
      {"changed below", [](const std::string& p) { ::truncate((p + "/n/f").c_str(), 0); }, "n"},
      {"added below", [](const std::string& p) { make_node(p + "/n/x", a_file("host")); }, "n"},
      {"deleted below", [](const std::string& p) { ::unlink((p + "/n/f").c_str()); }, "n"},
  };
  for (const HostChange& row : rows) {
    StoreScene scene({{"a", a_file("1")}, {"gone", a_file("1")}},
                     {{"a", a_file("2")}, {"n", a_directory()}, {"n/f", a_file("2")}});
    ASSERT_EQ(scene.commit().value().end, CommitEnd::committed);
    row.happens(scene.project);
    const auto plan = plan_undo(scene.last(), {});
    ASSERT_TRUE(plan.ok());
    ASSERT_EQ(plan.value().conflicts.size(), 1U) << row.name;
    EXPECT_EQ(plan.value().conflicts[0].path, row.path) << row.name;
  }
}

TEST(ChangeSets, PruneKeepsWhatIsYoungOrStaged) {
  const StoreScene scene({}, {{"a", a_file("1")}});
  constexpr int64_t day = 24LL * 60 * 60 * 1000;
  for (int i = 0; i < 6; ++i) {
    SetHeader header = scene.header();
    header.created_ms = (i + 1) * day;
    header.id = "s-" + std::to_string(i);
    header.kept = {10, 1};
    auto begun = scene.store.begin(header);
    ASSERT_TRUE(begun.ok());
    ASSERT_TRUE(
        scene.store.set_status(begun.value(), i == 0 ? SetStatus::staged : SetStatus::committed).ok());
  }
  const auto ids = [&] {
    std::string text;
    for (const auto& header : scene.store.list(know_directory(scene.project).value()))
      text += header.id + " ";
    return text;
  };
  EXPECT_EQ(ids(), "s-5 s-4 s-3 s-2 s-1 s-0 ");
  EXPECT_EQ(scene.store.prune({.count = 4, .bytes = 1000}, 7 * day).dropped, 1U);
  EXPECT_EQ(ids(), "s-5 s-4 s-3 s-2 s-0 ");
  EXPECT_EQ(scene.store.prune({.count = 100, .bytes = 30}, 7 * day).dropped, 1U);
  EXPECT_EQ(scene.store.prune({.ignored_bytes = 0}, 5 * day).dropped, 1U);
  EXPECT_EQ(ids(), "s-5 s-4 s-0 ");
}

SetHeader kept_header(const StoreScene& scene, const std::string& id, int64_t created_ms, KeptBytes kept) {
  SetHeader header = scene.header();
  header.id = id;
  header.created_ms = created_ms;
  header.kept = kept;
  return header;
}

int64_t days_ago(int days) { return (::time(nullptr) - days * 24LL * 60 * 60) * 1000; }

struct Room {
  const char* name;
  UndoBounds bounds;
  int age_days;
  bool is_ignored;
  CommitEnd end;
};

TEST(ChangeSets, WhatUndoCannotKeepIsNotCommitted) {
  constexpr size_t large = 2 << 20;
  const Room rows[] = {
      {"within", {.count = 2, .bytes = 3 << 20}, 0, false, CommitEnd::committed},
      {"too many young ones", {.count = 1}, 0, false, CommitEnd::refused},
      {"too many old ones", {.count = 1}, 2, false, CommitEnd::committed},
      {"too large beside a young one", {.bytes = 2 << 20}, 0, false, CommitEnd::refused},
      {"too large beside an old one", {.bytes = 2 << 20}, 2, false, CommitEnd::committed},
      {"too large alone", {.bytes = 1 << 20}, 2, false, CommitEnd::refused},
      {"ignored", {.bytes = 1 << 20}, 0, true, CommitEnd::committed},
      {"ignored, too large", {.ignored_bytes = 1 << 20}, 0, true, CommitEnd::refused},
  };
  for (const Room& row : rows) {
    const StoreScene scene({{".gitignore", a_file(row.is_ignored ? "build/\n" : "")},
                            {"build", a_directory()},
                            {"build/f", a_file(std::string(large, 'x'))}},
                           {{".gitignore", a_file(row.is_ignored ? "build/\n" : "")},
                            {"build", a_directory()},
                            {"build/f", a_file("new")}});
    // One that is there already, and in the tally as its commit would have it.
    auto old = scene.store.begin(kept_header(scene, "s-old", days_ago(row.age_days), {1 << 20, 0}));
    ASSERT_TRUE(scene.store.set_status(old.value(), SetStatus::committed).ok());
    old.value().lock.reset();
    scene.store.prune({.count = 100, .bytes = 100 << 20}, days_ago(0));
    const auto committed = scene.commit({.bounds = row.bounds});
    ASSERT_TRUE(committed.ok()) << row.name;
    EXPECT_EQ(committed.value().end, row.end) << row.name << text_of(committed.value());
    EXPECT_EQ(read_tree(scene.project), row.end == CommitEnd::committed ? scene.after : scene.before);
    const bool is_dropped = row.age_days > 0;
    EXPECT_EQ(scene.store.find("s-old").ok(), !is_dropped) << row.name;
  }
}

TEST(ChangeSets, TrashIsRemovedWithClosedDirectoriesAndNothingElse) {
  const StoreScene scene({}, {{"a", a_file("1")}});
  make_tree(scene.scratch.path,
            {{"p", a_directory()}, {"p/w", a_directory(0000)}, {"q", a_directory()}, {"q/f", a_file("x")}});
  ::chmod((scene.scratch.path + "/p/w").c_str(), 0700);
  make_tree(scene.scratch.path, {{"p/w/work", a_directory(0000)}, {"p/w", a_directory(0000)}});
  SetHeader header = scene.header();
  header.places = {know_directory(scene.scratch.path + "/p").value(),
                   know_directory(scene.scratch.path + "/q").value()};
  ++header.places[1].inode;  // not the one that was meant
  auto begun = scene.store.begin(header);
  begun.value().lock.reset();
  ASSERT_TRUE(scene.store.drop(begun.value().header.id).ok());
  EXPECT_EQ(::access((scene.scratch.path + "/p").c_str(), F_OK), 0);
  scene.store.empty_trash();
  EXPECT_NE(::access((scene.scratch.path + "/p").c_str(), F_OK), 0);
  EXPECT_EQ(::access((scene.scratch.path + "/q/f").c_str(), F_OK), 0);
  EXPECT_TRUE(names_in(scene.state + "/changes/trash").empty());
}

}  // namespace
}  // namespace cloche
