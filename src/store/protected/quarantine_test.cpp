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
  OwnedFd root{std::move(sys::open(scratch.path, O_RDONLY | O_DIRECTORY)).value()};

  Result<Quarantined> take(Quarantine& quarantine, const std::string& path) const {
    return quarantine.take(root.get(), scratch.path, path);
  }

  void write(const std::string& name) const {
    fs::create_directories(fs::path(scratch.path + "/" + name).parent_path());
    std::ofstream(scratch.path + "/" + name) << name;
  }
  bool has(const std::string& name) const {
    return fs::exists(fs::symlink_status(scratch.path + "/" + name));
  }
};

TEST(Quarantine, KeepsWhatItTakes) {
  const Scratch place;
  Tree tree;
  tree.write(".envrc");
  tree.write("a/.vscode/b/c");
  Quarantine quarantine(place.path + "/q");
  for (const char* name : {".envrc", "a/.vscode"}) {
    const auto taken = tree.take(quarantine, name);
    ASSERT_TRUE(taken.ok()) << describe(taken.error());
    EXPECT_EQ(taken.value().host_path, tree.scratch.path + "/" + name);
    EXPECT_TRUE(taken.value().kept_at.starts_with(place.path + "/q/")) << taken.value().kept_at;
    EXPECT_TRUE(fs::exists(taken.value().kept_at));
    EXPECT_FALSE(tree.has(name));
  }
  EXPECT_EQ(sys::read_file(place.path + "/q/2/.vscode/b/c").value(), "a/.vscode/b/c");
}

TEST(Quarantine, WithoutAPlaceGivesANameThatNothingExecutes) {
  Tree tree;
  tree.write("a/.envrc");
  tree.write("a/.envrc.cloche-quarantined");
  Quarantine nowhere("");
  const auto taken = tree.take(nowhere, "a/.envrc");
  ASSERT_TRUE(taken.ok());
  EXPECT_EQ(taken.value().kept_at, tree.scratch.path + "/a/.envrc.cloche-quarantined-1");
  EXPECT_FALSE(tree.has("a/.envrc"));
}

TEST(Quarantine, SaysWhenItIsGone) {
  const Scratch place;
  Tree tree;
  Quarantine quarantine(place.path + "/q");
  for (const char* name : {".claude", "a/.claude"}) {
    const auto taken = tree.take(quarantine, name);
    ASSERT_FALSE(taken.ok());
    EXPECT_EQ(taken.error().number, ENOENT);
  }
  EXPECT_TRUE(fs::is_empty(place.path + "/q"));
}

TEST(Quarantine, FollowsNoLink) {
  Tree tree;
  tree.write("b/.envrc");
  fs::create_symlink("b", tree.scratch.path + "/a");
  Quarantine nowhere("");
  EXPECT_FALSE(tree.take(nowhere, "a/.envrc").ok());
  EXPECT_TRUE(tree.has("b/.envrc"));
}

}  // namespace
}  // namespace cloche
