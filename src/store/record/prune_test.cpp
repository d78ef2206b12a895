// What is removed, and what is left alone.
#include "store/record/prune.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/sys/directory.hpp"
#include "store/commit/store_fixture.hpp"
#include "store/record/record_fixture.hpp"
#include "store/record/stored_head.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

class Pruning : public RecordTest {
 protected:
  // A finished run with a call and the home of a task.
  RunPlace finished_run() const {
    const RunPlace where = place_new_run(state()).value();
    write_call(*open(where), "T-001", "x");
    fs::create_directories(where.directory + "/tasks/T-001/home/deep");
    return where;
  }
  static void make_old(const RunPlace& where) {
    const timespec times[2] = {{1000, 0}, {1000, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, where.audit().c_str(), times, 0), 0);
  }
};

TEST_F(Pruning, ARunOfTheStateGoesWhole) {
  const RunPlace where = finished_run();
  EXPECT_TRUE(fs::exists(stored_head_path(where)));
  EXPECT_EQ(prune_run(where).value(), Pruned::record);
  EXPECT_FALSE(fs::exists(where.directory));
  EXPECT_FALSE(fs::exists(stored_head_path(where)));
  EXPECT_FALSE(find_run("last", state()).ok());
}

TEST_F(Pruning, OfAGivenRunOnlyTheHomesGo) {
  const RunPlace where = place();
  write_call(*open(where), "T-001", "x");
  put_text(where.workspace() + "/report.md", "kept");
  fs::create_directories(where.directory + "/tasks/T-001/home");
  EXPECT_EQ(prune_run(where).value(), Pruned::task_homes);
  EXPECT_FALSE(fs::exists(where.directory + "/tasks"));
  EXPECT_EQ(text_in(where.workspace() + "/report.md"), "kept");
  EXPECT_EQ(verdict(where), "ok");
}

TEST_F(Pruning, ARunInUseIsLeftAlone) {
  const RunPlace where = finished_run();
  make_old(where);
  auto run = open(where);
  const auto refused = prune_run(where);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().what.text().find("is in use"), std::string::npos);
  EXPECT_EQ(prune_state(state(), 1000).left.size(), 1U);
  EXPECT_TRUE(fs::exists(where.directory + "/tasks/T-001/home/deep"));
  run.reset();
  EXPECT_EQ(prune_state(state(), 1000).records, std::vector{where.run_id()});
}

TEST_F(Pruning, ByAgeOnlyTheOldGo) {
  const RunPlace old = finished_run();
  const RunPlace young = finished_run();
  make_old(old);
  const PruneReport report = prune_state(state(), 3'600'000);
  EXPECT_EQ(report.records, std::vector{old.run_id()});
  EXPECT_TRUE(report.task_homes.empty());
  EXPECT_FALSE(fs::exists(old.directory));
  EXPECT_EQ(verdict(young), "ok");
  EXPECT_TRUE(fs::exists(young.directory + "/tasks"));
}

// What a call without a record took away, and what is remembered of trees.
TEST_F(Pruning, WhatCallsWithoutARecordLeftGoesByAge) {
  const std::string old = state() + "/quarantine/1000-1";
  const std::string young = state() + "/quarantine/2000-2";
  for (const auto& call : {old, young}) {
    fs::create_directories(call + "/1/.vscode");
    put_text(call + "/1/.vscode/tasks.json", "{}");
  }
  fs::permissions(old + "/1/.vscode", fs::perms::none);  // as a command may leave it
  const timespec times[2] = {{1000, 0}, {1000, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, old.c_str(), times, 0), 0);
  EXPECT_TRUE(prune_state(state(), {}).quarantines.empty());
  EXPECT_TRUE(fs::exists(old));
  const PruneReport report = prune_state(state(), uint64_t{3600} * 1000);
  EXPECT_EQ(report.quarantines, std::vector<std::string>{"1000-1"});
  EXPECT_TRUE(report.left.empty());
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(young + "/1/.vscode/tasks.json"));
}

// What a state knows by device and inode goes, and with it what lies there and belongs to no set.
TEST_F(Pruning, ChangeSetsBeyondTheBoundsGoWithTheirLayers) {
  const std::string layers = state() + "/layers/stored";
  const ChangeSets sets(state(), "boot");
  for (const char* id : {"old", "young", "waits", "unknown"}) fs::create_directories(layers + "/" + id);
  for (const std::string id : {"old", "young", "waits"}) {
    SetHeader header{.id = id};
    header.created_ms = id == "young" ? ::time(nullptr) * 1000 : 1000;
    header.places = {know_directory(layers + "/" + id).value()};
    auto begun = sets.begin(header);
    ASSERT_TRUE(begun.ok());
    const SetStatus status = id == "waits" ? SetStatus::staged : SetStatus::committed;
    ASSERT_TRUE(sets.set_status(begun.value(), status).ok());
  }
  EXPECT_EQ(prune_state(state(), {}, {.count = 2}).change_sets, 0U);
  EXPECT_EQ(prune_state(state(), {}, {.count = 1}).change_sets, 1U);
  EXPECT_EQ(prune_state(state(), {}, {.count = 0}).change_sets, 0U);
  EXPECT_EQ(names_in(layers), (std::vector<std::string>{"waits", "young"}));
  EXPECT_EQ(sets.list().size(), 2U);
}

// Only what has the judge finishes it.
TEST_F(Pruning, WhatAKilledCommitLeftIsNotFinished) {
  StoreScene scene({{"a", a_file("1")}, {"b", a_file("1")}}, {{"a", a_file("2")}, {"b", a_file("2")}});
  scene.store = ChangeSets(scene.state, boot_id());
  commit_and_die(scene, 0);
  prune_state(scene.state, {});
  EXPECT_EQ(sys::read_file(scene.project + "/b").value(), "1");
  ASSERT_EQ(scene.store.list().size(), 1U);
  EXPECT_EQ(scene.store.list()[0].status, SetStatus::committing);
}

TEST_F(Pruning, WithoutAnAgeTheRecordsStay) {
  const RunPlace where = finished_run();
  EXPECT_EQ(prune_state(state(), std::nullopt).task_homes, std::vector{where.run_id()});
  EXPECT_FALSE(fs::exists(where.directory + "/tasks"));
  EXPECT_EQ(verdict(where), "ok");
  EXPECT_TRUE(prune_state(state(), std::nullopt).task_homes.empty());
  EXPECT_TRUE(prune_state("", 1).records.empty());
}

// A task's home is written by what ran in it; a link in there leads nowhere.
TEST_F(Pruning, LinksInAHomeAreNotFollowed) {
  const RunPlace where = finished_run();
  fs::create_directory(scratch_.path + "/precious");
  put_text(scratch_.path + "/precious/file", "kept");
  fs::create_directory_symlink(scratch_.path + "/precious", where.directory + "/tasks/T-001/home/link");
  fs::create_directory_symlink(scratch_.path + "/precious", where.directory + "/tasks/T-002");
  EXPECT_TRUE(prune_run(where).ok());
  EXPECT_EQ(text_in(scratch_.path + "/precious/file"), "kept");
}

}  // namespace
}  // namespace cloche
