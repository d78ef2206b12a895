// What waits, or was half done, is judged as the project is by then.
#include "gateway/changes/stored_changes.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "gateway/changes/settle_changes.hpp"
#include "store/commit/store_fixture.hpp"

namespace cloche {
namespace {

constexpr const char* harmless = "[core]\n\tbare = false\n";
constexpr const char* names_hooks = "[core]\n\thooksPath = hk\n";

// A repository, and a call that writes two files in a directory of it.
StoreScene a_call_that_writes() {
  const Model before = {{".git", a_directory()},           {".git/HEAD", a_file("ref: refs/heads/main\n")},
                        {".git/config", a_file(harmless)}, {".git/objects", a_directory()},
                        {".git/refs", a_directory()},      {"hk", a_directory()}};
  Model after = before;
  after["hk/pre-push"] = a_file("x\n");
  after["z"] = a_file("z\n");
  return StoreScene(before, after);
}

void write_over(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

TEST(StoredChanges, WhatAKilledCommitLeftIsJudgedAnew) {
  for (const bool is_dangerous : {true, false}) {
    StoreScene scene = a_call_that_writes();
    commit_and_die(scene, 0);
    if (is_dangerous) write_over(scene.project + "/.git/config", names_hooks);
    const auto recovered = scene.store.recover([](const StoredSet& set) { return may_be_finished(set, {}); });
    ASSERT_EQ(recovered.size(), 1U);
    EXPECT_EQ(recovered[0].status, is_dangerous ? SetStatus::staged : SetStatus::committed);
    EXPECT_EQ(sys::read_file(scene.project + "/hk/pre-push").ok(), !is_dangerous);
    EXPECT_EQ(sys::read_file(scene.project + "/z").ok(), !is_dangerous);
    EXPECT_EQ(sys::read_file(scene.upper + "/hk/pre-push").ok(), is_dangerous)
        << "it waits with its contents";
  }
}

TEST(StoredChanges, TheNextCallsStartJudgesAnewAsWell) {
  for (const bool is_dangerous : {true, false}) {
    StoreScene scene = a_call_that_writes();
    scene.store = ChangeSets(scene.state, boot_id());
    commit_and_die(scene, 0);
    if (is_dangerous) write_over(scene.project + "/.git/config", names_hooks);
    finish_interrupted(scene.state, {});
    EXPECT_EQ(sys::read_file(scene.project + "/hk/pre-push").ok(), !is_dangerous);
    EXPECT_EQ(sys::read_file(scene.project + "/z").ok(), !is_dangerous);
    ASSERT_EQ(scene.store.list().size(), 1U);
    const SetHeader header = scene.store.list()[0];
    EXPECT_EQ(header.status, is_dangerous ? SetStatus::staged : SetStatus::committed);
    EXPECT_EQ(header.why.empty(), !is_dangerous);
  }
}

// A directory on its way is another one by now.
TEST(StoredChanges, ALinkThatLeadsElsewhereByNowIsNotApplied) {
  for (const bool leads_out : {true, false}) {
    const StoreScene scene({{"d", a_directory()}}, {{"d", a_directory()}, {"l", a_link("d/x")}});
    ChangeSets store(scene.state, boot_id());
    SetHeader header = scene.header();
    header.id = "s-1";
    header.start = mark_start(scene.fds[2].get()).value();
    auto work = store.begin(header);
    ASSERT_TRUE(work.ok());
    ASSERT_TRUE(store.stage(work.value(), scene.set, all_committed(scene.set)).ok());
    work.value().lock.reset();
    ASSERT_EQ(::rmdir((scene.project + "/d").c_str()), 0);
    ASSERT_EQ(::symlink(leads_out ? scene.scratch.path.c_str() : "e", (scene.project + "/d").c_str()), 0);
    const StoredChanges changes(scene.state, {});
    const auto applied = changes.apply("s-1", {});
    ASSERT_TRUE(applied.ok()) << describe(applied.error());
    EXPECT_EQ(applied.value().end, leads_out ? OperatorEnd::conflict : OperatorEnd::done);
    if (!leads_out) continue;
    ASSERT_EQ(applied.value().conflicts.size(), 1U);
    EXPECT_EQ(applied.value().conflicts[0].path, "l");
    EXPECT_NE(applied.value().conflicts[0].why.find("leads out"), std::string::npos);
    const auto by_name = changes.apply("s-1", {.only = {{0, "l"}}});
    ASSERT_TRUE(by_name.ok()) << describe(by_name.error());
    EXPECT_EQ(by_name.value().end, OperatorEnd::done);
  }
}

}  // namespace
}  // namespace cloche
