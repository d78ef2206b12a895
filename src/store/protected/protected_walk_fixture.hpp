// A tree to stage, the two looks at it, and rows of what a command does in between.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/scratch.hpp"
#include "base/sys/sys.hpp"
#include "store/protected/protected_walk.hpp"

namespace cloche {

inline constexpr const char* evil_config = "[core]\n\tfsmonitor = ./x\n";

class Tree {
 public:
  Tree() = default;
  ~Tree() { open_again(scratch_.path); }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  void write(const std::string& name, const std::string& text = "x\n") {
    std::filesystem::create_directories(at(name).parent_path());
    std::ofstream(at(name)) << text;
  }
  void make(const std::string& name) { std::filesystem::create_directories(at(name)); }
  void move(const std::string& from, const std::string& to) { std::filesystem::rename(at(from), at(to)); }
  void link(const std::string& says, const std::string& name) {
    std::filesystem::create_symlink(says, at(name));
  }
  void exchange(const std::string& a, const std::string& b) {
    EXPECT_EQ(::renameat2(AT_FDCWD, at(a).c_str(), AT_FDCWD, at(b).c_str(), RENAME_EXCHANGE), 0);
  }
  void hard_link(const std::string& from, const std::string& to) {
    std::filesystem::create_hard_link(at(from), at(to));
  }
  void repository(const std::string& name) {
    ASSERT_FALSE(name.empty());  // or the names below would be absolute
    for (const char* part : {"objects", "refs", "hooks"}) make(name + "/" + part);
    write(name + "/HEAD", "ref: refs/heads/main\n");
    write(name + "/config", "[core]\n\tbare = false\n");
    write(name + "/hooks/pre-commit.sample");
  }
  std::filesystem::path at(const std::string& name) const {
    return std::filesystem::path(scratch_.path) / name;
  }
  // The tree is what lies below this name; the rest is around it.
  void look_only_in(const std::string& name) { below_ = name; }
  std::string root() const { return std::filesystem::canonical(at(below_)); }

  // The operator's own configuration of git, outside.
  void configure(const std::string& text) {
    const std::string file = own_.path + "/gitconfig";
    std::ofstream(file) << text;
    git = {.home = std::filesystem::canonical(at(".")), .files = {file}};
  }
  GitSources git = {};

  // Nothing that was there before has the time of what comes now.
  static void let_the_clock_tick() { std::this_thread::sleep_for(std::chrono::milliseconds(15)); }

  TreeFacts before(const std::vector<RememberedLead>& remembered = {},
                   const std::vector<RememberedLead>& others = {}) const {
    TreeFacts found{.is_complete = true};
    std::function<AllLeads()> find_others;
    if (!others.empty()) find_others = [&] { return AllLeads{others}; };
    EXPECT_TRUE(look_before(root(), {{}, git, find_others, remembered}, found, held_).ok());
    return found;
  }
  LookAfter after(const TreeFacts& known, const ChangeTime& since, LookLimits limits = {},
                  std::string_view remembered = {}) const {
    limits.git = git;
    HeldRoot held{root(), std::move(sys::open(root(), O_RDONLY | O_DIRECTORY)).value()};
    LookAfter found = look_after(held, known, since, limits, remembered);
    std::sort(found.suspects.begin(), found.suspects.end(),
              [](const Suspect& a, const Suspect& b) { return a.path < b.path; });
    return found;
  }

 private:
  // Or what a row closed could not be removed.
  static void open_again(const std::filesystem::path& directory) {
    ::chmod(directory.c_str(), 0700);
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
      if (!entry.is_symlink() && entry.is_directory()) open_again(entry.path());
    }
  }

  Scratch scratch_;
  Scratch own_;
  std::string below_ = ".";
  mutable std::vector<OwnedFd> held_;  // as a call does, so that no other file gets the number of a member
};

inline std::vector<std::string> paths_of(const LookAfter& found) {
  std::vector<std::string> paths;
  for (const auto& suspect : found.suspects) paths.push_back(suspect.path);
  return paths;
}

struct WalkRow {
  const char* what;
  std::function<void(Tree&)> stage;
  std::function<void(Tree&)> command;
  std::vector<std::string> suspects;
};

inline void expect_suspects(const WalkRow& row, const LookLimits& limits = {}) {
  Tree tree;
  if (row.stage) row.stage(tree);
  Tree::let_the_clock_tick();
  const auto known = tree.before();
  const ChangeTime since = change_time_now();
  row.command(tree);
  const LookAfter found = tree.after(known, since, limits);
  EXPECT_EQ(paths_of(found), row.suspects) << row.what;
  EXPECT_EQ(found.gap, "") << row.what;
}

inline void expect_suspects_in_remembered_tree(const WalkRow& row) {
  Tree tree;
  tree.make("some/where/else");
  if (row.stage) row.stage(tree);
  Tree::let_the_clock_tick();
  const auto known = tree.before();
  const LookAfter earlier = tree.after(known, change_time_now(), {.fewest_remembered = 1});
  EXPECT_NE(earlier.memory, "") << row.what;
  const ChangeTime since = change_time_now();
  row.command(tree);
  const LookAfter found = tree.after(known, since, {}, earlier.memory);
  EXPECT_EQ(paths_of(found), row.suspects) << row.what;
  EXPECT_EQ(found.gap, "") << row.what;
}

}  // namespace cloche
