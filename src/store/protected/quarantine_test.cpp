// What is taken out of a tree, and where it is then.
#include "store/protected/quarantine.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/scratch.hpp"
#include "base/sys/sys.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

struct Tree {
  Scratch scratch;
  HeldRoot root{scratch.path, std::move(sys::open(scratch.path, O_RDONLY | O_DIRECTORY)).value()};

  void write(const std::string& name) const {
    fs::create_directories(fs::path(scratch.path + "/" + name).parent_path());
    std::ofstream(scratch.path + "/" + name) << name;
  }
  bool has(const std::string& name) const {
    return fs::exists(fs::symlink_status(scratch.path + "/" + name));
  }
};

// Another file system where there is one, so that things have to be copied.
std::vector<std::string> places() {
  std::vector<std::string> found = {testing::TempDir()};
  struct stat here {};
  struct stat there {};
  if (::stat(testing::TempDir().c_str(), &here) == 0 && ::stat("/dev/shm", &there) == 0 &&
      here.st_dev != there.st_dev)
    found.emplace_back("/dev/shm/");
  return found;
}

TEST(Quarantine, KeepsWhatItTakes) {
  for (const auto& place : places()) {
    std::string directory = place + "cloche-unit-XXXXXX";
    ASSERT_NE(::mkdtemp(directory.data()), nullptr);
    Tree tree;
    tree.write(".envrc");
    tree.write("a/.vscode/b/c");
    fs::create_symlink("nowhere", tree.scratch.path + "/a/.vscode/link");
    Quarantine quarantine(directory + "/q");
    for (const char* name : {".envrc", "a/.vscode"}) {
      const auto taken = quarantine.take(tree.root, {name, "because"});
      ASSERT_TRUE(taken.ok()) << describe(taken.error());
      ASSERT_TRUE(taken.value().has_value());
      EXPECT_EQ(taken.value()->path, name);
      EXPECT_TRUE(taken.value()->kept_at.starts_with(directory + "/q/")) << taken.value()->kept_at;
      EXPECT_TRUE(fs::exists(taken.value()->kept_at));
      EXPECT_FALSE(tree.has(name));
    }
    EXPECT_EQ(fs::read_symlink(directory + "/q/2/.vscode/link"), "nowhere");
    EXPECT_EQ(sys::read_file(directory + "/q/2/.vscode/b/c").value(), "a/.vscode/b/c");
    fs::remove_all(directory);
  }
}

TEST(Quarantine, WithoutAPlaceGivesANameThatNothingExecutes) {
  Tree tree;
  tree.write("a/.envrc");
  tree.write("a/.envrc.cloche-quarantined");
  const auto taken = Quarantine("").take(tree.root, {"a/.envrc", "because"});
  ASSERT_TRUE(taken.ok() && taken.value());
  EXPECT_EQ(taken.value()->kept_at, tree.scratch.path + "/a/.envrc.cloche-quarantined-1");
  EXPECT_FALSE(tree.has("a/.envrc"));
}

TEST(Quarantine, WhatSomebodyElseTookIsNoFailure) {
  for (const auto& place : places()) {
    std::string directory = place + "cloche-unit-XXXXXX";
    ASSERT_NE(::mkdtemp(directory.data()), nullptr);
    Tree tree;
    Quarantine quarantine(directory + "/q");
    for (const char* name : {".claude", "a/.claude"}) {
      const auto taken = quarantine.take(tree.root, {name, "because"});
      ASSERT_TRUE(taken.ok()) << describe(taken.error());
      EXPECT_FALSE(taken.value().has_value());
    }
    EXPECT_TRUE(!fs::exists(directory + "/q") || fs::is_empty(directory + "/q"));
    fs::remove_all(directory);
  }
}

TEST(Quarantine, FollowsNoLink) {
  Tree tree;
  tree.write("b/.envrc");
  fs::create_symlink("b", tree.scratch.path + "/a");
  EXPECT_FALSE(Quarantine("").take(tree.root, {"a/.envrc", "because"}).ok());
  EXPECT_TRUE(tree.has("b/.envrc"));
}

}  // namespace
}  // namespace cloche
