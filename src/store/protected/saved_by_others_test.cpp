// Copies that several calls in one tree share.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include <algorithm>

#include "base/scratch.hpp"
#include "base/sys/directory.hpp"
#include "base/sys/sys.hpp"
#include "store/protected/open_call.hpp"
#include "store/protected/saved_members.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

struct Tree {
  Scratch scratch;
  Scratch state;
  HeldRoot root{scratch.path, std::move(sys::open(scratch.path, O_RDONLY | O_DIRECTORY)).value()};

  Tree() {
    write(".envrc", "old");
    write(".git/hooks/pre-push", "old");
  }
  void write(const std::string& path, const std::string& text) const {
    fs::create_directories(fs::path(scratch.path + "/" + path).parent_path());
    std::ofstream(scratch.path + "/" + path) << text;
  }
  std::string read(const std::string& path) const {
    auto text = sys::read_file(scratch.path + "/" + path);
    return text.ok() ? text.value() : "(none)";
  }
  OpenCall begin(int64_t time) const {
    return OpenCall::begin(
        state.path, root.fd.get(), {time, 0}, {}, [&](SavedMembers& saved, const OpenCall& call) {
          const auto is_certain = [&](const ChangeTime& changed) { return !call.is_doubtful(changed); };
          for (const char* path : {".envrc", ".git/hooks", "later"}) saved.save(root, path, is_certain);
        });
  }
  void put_back(const SavedMembers& saved, Places places = Places::all) const {
    Quarantine quarantine(state.path + "/q");
    EXPECT_EQ(saved.put_back(root, quarantine, Vouchers("", root.fd.get()), places).gap, "");
  }
  // Files of copies: where leads led is written down for every call.
  size_t copies() const {
    const auto names = names_in(state.path + "/before");
    return static_cast<size_t>(std::count_if(
        names.begin(), names.end(), [](const std::string& name) { return !name.ends_with(".leads"); }));
  }
};

TEST(SavedByOthers, TheFirstOnesCountForTheLast) {
  const Tree tree;
  OpenCall first = tree.begin(10);
  tree.write(".envrc", "evil");
  tree.write(".git/hooks/pre-push", "evil");
  OpenCall second = tree.begin(20);
  first.close();
  tree.put_back(second.saved());
  EXPECT_EQ(tree.read(".envrc"), "old");
  EXPECT_EQ(tree.read(".git/hooks/pre-push"), "old");
  second.close();
  EXPECT_EQ(tree.copies(), 0U);
}

// Time 10 was long before anything in the tree was written.
TEST(SavedByOthers, WhatAnotherMayHaveMadeIsNotSaved) {
  const Tree tree;
  OpenCall first = OpenCall::begin(tree.state.path, tree.root.fd.get(), {10, 0}, {});
  const OpenCall second = tree.begin(20);
  EXPECT_TRUE(second.saved().is_empty());
}

// The directory is as old as it was; the file in it is not.
TEST(SavedByOthers, AlsoNotInsideOfADirectory) {
  const Tree tree;
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const ChangeTime now = change_time_now();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  tree.write(".git/hooks/pre-push", "evil");
  SavedMembers saved;
  saved.save(tree.root, ".git/hooks", [&](const ChangeTime& changed) { return changed < now; });
  tree.write(".git/hooks/pre-push", "whatever");
  tree.put_back(saved);
  EXPECT_EQ(tree.read(".git/hooks/pre-push"), "whatever");
}

TEST(SavedByOthers, ThoseOfADeadCallGoToEmptyPlaces) {
  const Tree tree;
  tree.begin(10).leave();
  EXPECT_EQ(tree.copies(), 1U);
  fs::remove_all(tree.scratch.path + "/.git");
  tree.write(".envrc", "edited by the user");
  OpenCall next = tree.begin(20);
  tree.put_back(next.saved_by_abandoned(), Places::empty);
  EXPECT_EQ(tree.read(".envrc"), "edited by the user");
  EXPECT_EQ(tree.read(".git/hooks/pre-push"), "old");
  next.add_saved(next.saved_by_abandoned().unchanged(tree.root));
  next.forget_abandoned();
  fs::remove_all(tree.scratch.path + "/.git");
  fs::remove(tree.scratch.path + "/.envrc");
  tree.put_back(next.saved());
  EXPECT_EQ(tree.read(".git/hooks/pre-push"), "old");
  EXPECT_EQ(tree.read(".envrc"), "(none)") << "nobody knows what it was";
  next.close();
  EXPECT_EQ(tree.copies(), 0U);
}

TEST(SavedByOthers, TheirCopiesAreNobodyElses) {
  const Tree tree;
  const OpenCall call = tree.begin(10);
  struct stat seen {};
  const std::string directory = tree.state.path + "/before";
  ASSERT_EQ(::stat(directory.c_str(), &seen), 0);
  EXPECT_EQ(seen.st_mode & 0777U, 0700U);
  ASSERT_EQ(::stat((directory + "/" + names_in(directory).front()).c_str(), &seen), 0);
  EXPECT_EQ(seen.st_mode & 0777U, 0600U);
}

TEST(SavedByOthers, ComeBackFromTheirText) {
  const Tree tree;
  tree.write("later", std::string("a\0b\n", 4));
  fs::create_symlink("elsewhere", tree.scratch.path + "/link");
  fs::permissions(tree.scratch.path + "/later", fs::perms(0751));
  SavedMembers saved;
  for (const char* path : {"later", "link", ".git"}) saved.save(tree.root, path);
  const std::string text = saved.text();
  const SavedMembers again = SavedMembers::from_text(text);
  EXPECT_EQ(again.text(), text);
  for (const char* path : {"later", "link", ".git"}) fs::remove_all(tree.scratch.path + "/" + path);
  tree.put_back(again);
  EXPECT_EQ(tree.read("later"), std::string("a\0b\n", 4));
  EXPECT_EQ(tree.read(".git/hooks/pre-push"), "old");
  EXPECT_EQ(fs::read_symlink(tree.scratch.path + "/link"), "elsewhere");
  EXPECT_EQ(fs::status(tree.scratch.path + "/later").permissions(), fs::perms(0751));
  for (size_t cut = 0; cut < text.size(); ++cut)
    EXPECT_TRUE(text.starts_with(SavedMembers::from_text(std::string_view(text).substr(0, cut)).text()));
}

// As the calls of one server may, which end at the same time.
TEST(SavedByOthers, SeveralPutBackTheSame) {
  const Tree tree;
  for (int i = 0; i < 100; ++i) tree.write(".vscode/" + std::to_string(i), "old");
  SavedMembers saved;
  for (const char* path : {".vscode", ".envrc"}) saved.save(tree.root, path);
  for (const bool remains : {false, true}) {
    remains ? tree.write(".envrc", "evil") : void(fs::remove_all(tree.scratch.path + "/.vscode"));
    std::vector<std::thread> calls;
    for (int i = 0; i < 4; ++i) calls.emplace_back([&] { tree.put_back(saved); });
    for (auto& call : calls) call.join();
    EXPECT_EQ(tree.read(".envrc"), "old");
    for (int i = 0; i < 100; ++i) EXPECT_EQ(tree.read(".vscode/" + std::to_string(i)), "old");
  }
  EXPECT_EQ(names_in(tree.scratch.path).size(), 3U) << "nothing beside it";
}

// A change that leaves no time: told by the bytes.
TEST(SavedByOthers, TimesSayNothing) {
  const Tree tree;
  SavedMembers saved;
  saved.save(tree.root, ".envrc");
  const std::string path = tree.scratch.path + "/.envrc";
  fs::create_hard_link(path, tree.scratch.path + "/second");
  SavedMembers with_two_names;
  with_two_names.save(tree.root, ".envrc");
  struct stat before {};
  ASSERT_EQ(::stat(path.c_str(), &before), 0);
  tree.put_back(with_two_names);
  struct stat now {};
  ASSERT_EQ(::stat(path.c_str(), &now), 0);
  EXPECT_EQ(now.st_ino, before.st_ino) << "it had two names before";
  tree.put_back(saved);
  ASSERT_EQ(::stat(path.c_str(), &now), 0);
  EXPECT_NE(now.st_ino, before.st_ino) << "it had one name before";
}

}  // namespace
}  // namespace cloche
