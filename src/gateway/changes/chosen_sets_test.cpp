#include "gateway/changes/chosen_sets.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/scratch.hpp"

namespace cloche {
namespace {

const KnownDirectory no_directory = {};

SetHeader a_set(const std::string& id, const std::string& label, SetStatus status, uint64_t inode = 1) {
  SetHeader set{.id = id, .status = status};
  set.workspace = {"/w" + std::to_string(inode), 7, inode};
  set.label = label;
  return set;
}

SetHeader an_undo(const std::string& id, const std::string& of, const std::string& label) {
  SetHeader set = a_set(id, label, SetStatus::committed);
  set.undoes = of;
  return set;
}

// Newest first.
std::vector<SetHeader> a_store() {
  using enum SetStatus;
  return {
      a_set("x-alone", "x-alone", staged),        an_undo("u-1", "r2-c-0002", "r2/c-0002"),
      a_set("a-1", "r2/c-0001", committed),       a_set("r2-c-0002", "r2/c-0002", undone),
      a_set("r2-c-0001", "r2/c-0001", committed), a_set("r1-c-0002", "r1/c-0002", committed, 2),
      a_set("r1-c-0001", "r1/c-0001", committed),
  };
}

std::string chosen(const std::string& word, uint64_t inode = 1,
                   const std::vector<SetHeader>& all = a_store()) {
  const auto sets = choose_sets(all, word, {{"/w", 7, inode}, ""});
  if (!sets.ok()) return "error";
  std::string ids;
  for (const SetHeader& set : sets.value()) ids += (ids.empty() ? "" : " ") + set.id;
  return ids;
}

TEST(ChosenSets, AreFoundByWord) {
  const struct {
    std::string word;
    uint64_t inode;
    std::string ids;
  } rows[] = {
      {"last", 1, "a-1"},  // neither what is staged nor an undo
      {"last", 2, "r1-c-0002"},
      {"last", 3, ""},
      {"x-alone", 1, "x-alone"},
      {"x-alone", 2, "x-alone"},  // an id is the same everywhere
      {"u-1", 1, "u-1"},
      {"r2-c-0001", 1, "r2-c-0001"},
      {"r2/c-0001", 1, "a-1 r2-c-0001"},  // with what was brought in of it later
      {"r2/c-0002", 1, "r2-c-0002"},      // without its undo
      {"c-0001", 1, "a-1 r2-c-0001"},     // the newest of that name
      {"c-0002", 2, "r1-c-0002"},
      {"c-0002", 3, "error"},
      {"r2", 1, "a-1 r2-c-0002 r2-c-0001"},
      {"r1", 1, "r1-c-0002 r1-c-0001"},
      {"r", 1, "error"},
      {"", 1, "error"},
      {"nothing", 1, "error"},
  };
  for (const auto& row : rows) EXPECT_EQ(chosen(row.word, row.inode), row.ids) << row.word;
}

TEST(ChosenSets, TheLastOneIsOneThatMayBe) {
  const auto all = a_store();
  const auto last = [&](const IsCandidate& may_be_last) {
    const auto sets = choose_sets(all, "last", {{"/w", 7, 1}, ""}, may_be_last);
    return sets.value().empty() ? "none" : sets.value().front().id;
  };
  EXPECT_EQ(last([](const SetHeader& set) { return set.id != "a-1"; }), "r2-c-0001");
  EXPECT_EQ(last([](const SetHeader&) { return false; }), "none");
}

TEST(ChosenSets, WhatTakesBackAnUndoIsAChangeAgain) {
  auto all = a_store();
  all.insert(all.begin(), an_undo("u-2", "u-1", "r2/c-0002"));
  EXPECT_TRUE(is_undo(all, all[2]));
  EXPECT_FALSE(is_undo(all, all[0]));
  EXPECT_EQ(chosen("last", 1, all), "u-2");
  all[0].status = SetStatus::undone;
  all.insert(all.begin(), an_undo("u-3", "u-2", "r2/c-0002"));
  EXPECT_EQ(chosen("last", 1, all), "a-1");
  // A store that was tampered with is not followed for ever.
  EXPECT_NO_FATAL_FAILURE(is_undo({an_undo("u-9", "u-9", "")}, an_undo("u-9", "u-9", "")));
}

std::string resolved(const std::string& written, const std::string& below, uint64_t here = 1) {
  SetHeader set = a_set("s", "s", SetStatus::committed);
  set.workspace.path = "/w";
  set.trees = {{{"/w", 7, 1}, no_directory, no_directory},
               {{"/w/.git/worktrees/x", 7, 5}, no_directory, no_directory},
               {{"/other", 7, 6}, no_directory, no_directory}};
  const auto paths = resolve_paths(set, {written}, {{"/w", 7, here}, below});
  if (!paths.ok()) return "error";
  return std::to_string(paths.value()[0].tree) + ":" + paths.value()[0].path;
}

TEST(ChosenSets, PathsAreWrittenFromTheCurrentDirectory) {
  const struct {
    std::string written, below, answer;
  } rows[] = {
      {"a", "", "0:a"},
      {"./a/../b", "", "0:b"},
      {"a", "sub", "0:sub/a"},
      {"../a", "sub", "0:a"},
      {".", "", "0:"},
      {".", "sub", "0:sub"},
      {"..", "sub/x", "0:sub"},
      {"..", "", "error"},
      {"/w/a", "sub", "0:a"},
      {"/other/o", "", "2:o"},
      {"/others/o", "", "error"},
      {".git/worktrees/x/HEAD", "", "1:HEAD"},
  };
  for (const auto& row : rows) EXPECT_EQ(resolved(row.written, row.below), row.answer) << row.written;
  EXPECT_EQ(resolved("a", "sub", 9), "0:a");  // from elsewhere: from the workspace
}

TEST(ChosenSets, TheWorkspaceIsTheNearestOneWithASet) {
  const Scratch scratch;
  const std::string inner = scratch.path + "/a/b";
  ASSERT_EQ(::mkdir((scratch.path + "/a").c_str(), 0700), 0);
  ASSERT_EQ(::mkdir(inner.c_str(), 0700), 0);
  struct stat seen {};
  ASSERT_EQ(::stat(scratch.path.c_str(), &seen), 0);
  SetHeader set = a_set("s", "s", SetStatus::committed);
  set.workspace = {"/moved/from/here", seen.st_dev, seen.st_ino};
  const auto here = workspace_here({set}, inner);
  ASSERT_TRUE(here.ok());
  EXPECT_EQ(here.value().directory.path, scratch.path) << "by its present name";
  EXPECT_EQ(here.value().directory.inode, set.workspace.inode);
  EXPECT_EQ(here.value().below, "a/b");
  // The number alone may be that of a directory that was removed.
  ASSERT_TRUE(know_directory(scratch.path).ok());
  SetHeader older = set;
  older.workspace.born_ns = 1;
  if (know_directory(scratch.path).value().born_ns != 0) {
    EXPECT_EQ(workspace_here({older}, inner).value().below, "");
  }
  const auto none = workspace_here({}, inner);
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none.value().directory.path, inner);
  EXPECT_EQ(none.value().below, "");
  EXPECT_FALSE(workspace_here({}, scratch.path + "/gone").ok());
}

}  // namespace
}  // namespace cloche
