// What was there before a command is there after it.
#include "store/protected/saved_members.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "base/scratch.hpp"
#include "base/sys/sys.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;
using Paths = std::vector<std::string>;

// A tree with members of each kind, saved.
struct Tree {
  Scratch scratch;
  Scratch elsewhere;
  HeldRoot root{scratch.path, std::move(sys::open(scratch.path, O_RDONLY | O_DIRECTORY)).value()};
  SavedMembers saved;

  Tree() {
    write(".envrc", "old");
    write(".git/config", "[core]");
    write(".git/hooks/pre-push", "#!/bin/sh");
    write(".git/hooks/pre-push.sample", "sample");
    write(".vscode/deep/tasks.json", "{}");
    fs::permissions(at(".git/hooks/pre-push"), fs::perms(0750));
    fs::permissions(at(".vscode/deep"), fs::perms(0711));
    fs::create_symlink("deep/tasks.json", at(".vscode/link"));
    for (const char* path : {".envrc", ".git/config", ".git/hooks", ".vscode", ".never"})
      saved.save(root, path);
  }

  fs::path at(const std::string& path) const { return scratch.path + "/" + path; }
  void write(const std::string& path, const std::string& text) const {
    fs::create_directories(at(path).parent_path());
    std::ofstream(at(path)) << text;
  }
  std::string read(const std::string& path) const {
    auto text = sys::read_file(at(path));
    return text.ok() ? text.value() : "(" + describe(text.error()) + ")";
  }
  SavedMembers::PutBack put_back() const {
    Quarantine quarantine(elsewhere.path + "/q");
    return saved.put_back(root, quarantine, Vouchers("", root.fd.get()));
  }
  void expect_as_it_was() const {
    EXPECT_EQ(read(".envrc"), "old");
    EXPECT_EQ(read(".git/config"), "[core]");
    EXPECT_EQ(read(".git/hooks/pre-push"), "#!/bin/sh");
    EXPECT_EQ(fs::status(at(".git/hooks/pre-push")).permissions(), fs::perms(0750));
    EXPECT_EQ(fs::status(at(".vscode/deep")).permissions(), fs::perms(0711));
    EXPECT_EQ(read(".vscode/deep/tasks.json"), "{}");
    EXPECT_TRUE(fs::is_symlink(at(".vscode/link")));
    EXPECT_FALSE(fs::exists(at(".never")));
  }
};

struct Row {
  const char* name;
  std::function<void(const Tree&)> done;
  Paths restored;
  Paths quarantined;
};

const Row rows[] = {
    {"nothing", [](const Tree&) {}, {}, {}},
    {"touched", [](const Tree& tree) { tree.write(".envrc", "old"); }, {}, {}},
    {"new beside it", [](const Tree& tree) { tree.write(".vscode/new", ""); }, {}, {}},
    {"a sample", [](const Tree& tree) { fs::remove(tree.at(".git/hooks/pre-push.sample")); }, {}, {}},
    {"removed", [](const Tree& tree) { fs::remove(tree.at(".envrc")); }, {".envrc"}, {}},
    {"changed", [](const Tree& tree) { tree.write(".envrc", "new"); }, {".envrc"}, {".envrc"}},
    {"renamed", [](const Tree& tree) { fs::rename(tree.at(".envrc"), tree.at("other")); }, {".envrc"}, {}},
    {"another mode",
     [](const Tree& tree) { fs::permissions(tree.at(".git/hooks/pre-push"), fs::perms(0)); },
     {".git/hooks/pre-push"},
     {".git/hooks/pre-push"}},
    {"a directory in its place",
     [](const Tree& tree) {
       fs::remove(tree.at(".envrc"));
       tree.write(".envrc/x", "");
     },
     {".envrc"},
     {".envrc"}},
    {"a link in its place",
     [](const Tree& tree) {
       fs::remove_all(tree.at(".vscode"));
       fs::create_symlink("elsewhere", tree.at(".vscode"));
     },
     {".vscode", ".vscode/deep", ".vscode/deep/tasks.json", ".vscode/link"},
     {".vscode"}},
    {"the same by another name",
     [](const Tree& tree) { fs::create_hard_link(tree.at(".envrc"), tree.at("other")); },
     {".envrc"},
     {".envrc"}},
    {"another link",
     [](const Tree& tree) {
       fs::remove(tree.at(".vscode/link"));
       fs::create_symlink("/etc/passwd", tree.at(".vscode/link"));
     },
     {".vscode/link"},
     {".vscode/link"}},
    {"a directory's mode",
     [](const Tree& tree) { fs::permissions(tree.at(".vscode/deep"), fs::perms(0700)); },
     {},
     {}},
    {"the whole repository",
     [](const Tree& tree) { fs::remove_all(tree.at(".git")); },
     {".git/config", ".git/hooks", ".git/hooks/pre-push"},
     {}},
};

TEST(SavedMembers, ArePutBackWhenTheyAreNotAsTheyWere) {
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const Tree tree;
    row.done(tree);
    const auto put = tree.put_back();
    EXPECT_EQ(put.gap, "");
    EXPECT_EQ(put.restored, row.restored);
    Paths quarantined;
    for (const auto& taken : put.quarantined) quarantined.push_back(taken.path);
    EXPECT_EQ(quarantined, row.quarantined);
    tree.expect_as_it_was();
    EXPECT_TRUE(tree.put_back().restored.empty());
  }
}

TEST(SavedMembers, NeverThroughALink) {
  const Tree tree;
  const Scratch other;
  fs::remove_all(tree.at(".git"));
  fs::create_symlink(other.path, tree.at(".git"));
  const auto put = tree.put_back();
  EXPECT_TRUE(put.gap.starts_with("'.git/config' could not be put back: ")) << put.gap;
  EXPECT_TRUE(fs::is_empty(other.path));
}

TEST(SavedMembers, ADirectoryThatKeepsAnotherModeIsToldOf) {
  if (::geteuid() != 0) GTEST_SKIP() << "skipped: only root can become who may not";
  const Tree tree;
  fs::permissions(tree.scratch.path, fs::perms(0755));
  fs::permissions(tree.at(".vscode/deep"), fs::perms(0755));
  ASSERT_EQ(::seteuid(65534), 0);
  const auto put = tree.put_back();
  ASSERT_EQ(::seteuid(0), 0);
  EXPECT_NE(put.gap.find("'.vscode/deep' could not be put back: give it its mode"), std::string::npos)
      << put.gap;
}

TEST(SavedMembers, LargeOnesAreLeftOut) {
  Tree tree;
  tree.write("large", std::string((size_t{1} << 20) + 1, 'x'));
  tree.saved.save(tree.root, "large");
  fs::remove(tree.at("large"));
  EXPECT_TRUE(tree.put_back().restored.empty());
}

// As on a disk that is full: nothing can be written, by whatever door.
struct NothingCanBeWritten {
  rlimit before{};
  NothingCanBeWritten() {
    ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before);
    const rlimit nothing{0, before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &nothing);
  }
  ~NothingCanBeWritten() {
    ::setrlimit(RLIMIT_FSIZE, &before);
    ::signal(SIGXFSZ, SIG_DFL);
  }
};

TEST(SavedMembers, WithoutRoomNoHalfIsLeft) {
  const Tree tree;
  tree.write(".envrc", "evil");
  SavedMembers::PutBack done;
  {
    const NothingCanBeWritten full;
    done = tree.put_back();
  }
  EXPECT_EQ(done.restored, Paths{});
  ASSERT_EQ(done.quarantined.size(), 1U) << "it is not left to be executed";
  EXPECT_FALSE(fs::exists(fs::symlink_status(tree.at(".envrc"))));
  EXPECT_TRUE(done.gap.starts_with("'.envrc' could not be put back: ")) << done.gap;
  EXPECT_NE(done.gap.find("there is no room for a copy of it either"), std::string::npos) << done.gap;
  for (const auto& entry : fs::directory_iterator(tree.scratch.path))
    EXPECT_FALSE(entry.path().filename().string().starts_with(".cloche-")) << entry.path();
}

// Its directory cannot be made again, because something else has that name.
TEST(SavedMembers, WhatHasNoPlaceIsKeptForTheOperator) {
  const Tree tree;
  fs::remove_all(tree.at(".vscode"));
  fs::remove_all(tree.at(".git"));
  tree.write(".git", "a file");
  const auto done = tree.put_back();
  const std::string said = "'.git/config' could not be put back: ";
  ASSERT_TRUE(done.gap.starts_with(said)) << done.gap;
  const std::string before_path = "; as it was it is kept at ";
  const size_t at = done.gap.find(before_path);
  ASSERT_NE(at, std::string::npos) << done.gap;
  const size_t from = at + before_path.size();
  const auto kept = sys::read_file(done.gap.substr(from, done.gap.find(';', from) - from));
  ASSERT_TRUE(kept.ok()) << done.gap;
  EXPECT_EQ(kept.value(), "[core]");
  EXPECT_NE(done.gap.find("'.git/hooks/pre-push' could not be put back"), std::string::npos)
      << "each is named";
}

}  // namespace
}  // namespace cloche
