// For unit tests: a project, what a call does to it, and what the judge says. The change set comes from a
// plain comparison of the project before and after, so that nothing depends on how an overlay is read.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/scratch.hpp"
#include "base/sys/sys.hpp"
#include "policy/changes/judge_changes.hpp"
#include "store/changes/change_facts.hpp"

namespace cloche {

namespace fs = std::filesystem;

inline std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

inline FileState state_of(const std::string& path) {
  struct stat seen {};
  EXPECT_EQ(::lstat(path.c_str(), &seen), 0) << path;
  FileState state;
  state.mode = seen.st_mode & 07777U;
  state.modified_ns = seen.st_mtim.tv_sec * 1'000'000'000LL + seen.st_mtim.tv_nsec;
  state.kind = S_ISDIR(seen.st_mode)    ? FileKind::directory
               : S_ISLNK(seen.st_mode)  ? FileKind::link
               : S_ISFIFO(seen.st_mode) ? FileKind::fifo
               : S_ISSOCK(seen.st_mode) ? FileKind::socket
               : S_ISREG(seen.st_mode)  ? FileKind::file
                                        : FileKind::device;
  if (state.kind == FileKind::file) state.size = static_cast<uint64_t>(seen.st_size);
  if (state.kind == FileKind::link) state.link = fs::read_symlink(path).string();
  return state;
}

inline std::map<std::string, FileState> states_below(const std::string& root) {
  std::map<std::string, FileState> states;
  for (const auto& entry : fs::recursive_directory_iterator(root))
    states[entry.path().string().substr(root.size() + 1)] = state_of(entry.path().string());
  return states;
}

inline Difference difference(const std::string& path_then, const FileState& then, const std::string& path_now,
                             const FileState& now) {
  Difference differs;
  differs.kind = then.kind != now.kind;
  differs.mode = then.mode != now.mode;
  differs.contents =
      !differs.kind &&
      (then.link != now.link || (then.kind == FileKind::file && bytes_of(path_then) != bytes_of(path_now)));
  differs.times = now.kind == FileKind::file && then.modified_ns != now.modified_ns;
  return differs;
}

// Copies, because git waits for the disk when it makes one.
inline constexpr const char* repository = "cp -a \"$MADE/repository/.\" .";
inline constexpr const char* library = "cp -a \"$MADE/library\" \"$OUT/lib\"; ";

class Project {
 public:
  Project() { fs::create_directories(root()); }

  std::string root() const { return scratch_.path + "/home/ws"; }
  std::string home() const { return scratch_.path + "/home"; }
  std::string outside() const { return scratch_.path; }
  std::string at(const std::string& path) const { return root() + "/" + path; }

  void write(const std::string& path, const std::string& text = "x\n") const {
    fs::create_directories(fs::path(at(path)).parent_path());
    std::ofstream(at(path), std::ios::binary) << text;
  }
  // Repositories that many tests begin with, made once.
  static const std::string& made() {
    static const Scratch scratch;
    static const bool is_done = [] {
      fs::create_directories(scratch.path + "/work");
      run_in(scratch.path + "/work", scratch.path, "",
             "mkdir -p \"$OUT/template/hooks\" \"$OUT/template/info\"; "
             "echo x > \"$OUT/template/hooks/pre-commit.sample\"; echo > \"$OUT/template/info/exclude\"; "
             "git init -q -b main \"$OUT/repository\"; cd \"$OUT/repository\"; echo a > a; mkdir src; "
             "echo b > src/b; git add .; git commit -qm one; git init -q -b main \"$OUT/library\"; "
             "cd \"$OUT/library\"; echo l > l; git add .; git commit -qm lib");
      return true;
    }();
    EXPECT_TRUE(is_done);
    return scratch.path;
  }
  // By a shell in the project, as a user without a configuration of their own.
  void run(const std::string& script) const { run_in(root(), outside(), made(), script); }

  // What is there now is as it was before the call.
  void begin() const {
    fs::remove_all(scratch_.path + "/before");
    run("cp -a . \"$OUT/before\"");
  }
  // What is there now is what the call left; then the project is as it was again.
  void end() {
    fs::rename(root(), scratch_.path + "/upper");
    fs::rename(scratch_.path + "/before", root());
    set_ = compare();
  }
  // As if the judge had let everything pass that it lets pass.
  void commit(const JudgedChanges& judged) const {
    const std::string upper = scratch_.path + "/upper/";
    for (size_t i = set_.changes.size(); i-- > 0;) {
      if (judged.verdicts[i].fate == Fate::committed && !set_.changes[i].after)
        fs::remove(at(set_.changes[i].path));
    }
    for (size_t i = 0; i < set_.changes.size(); ++i) {
      const auto& change = set_.changes[i];
      if (judged.verdicts[i].fate != Fate::committed || !change.after) continue;
      if (change.after->kind == FileKind::directory) {
        fs::create_directories(at(change.path));
      } else {
        run("cp -a '" + upper + change.path + "' '" + at(change.path) + "'");
      }
    }
    fs::remove_all(upper);
  }

  const ChangeSet& set() const { return set_; }
  template <typename Use>
  auto with_layers(const Use& use) const {
    const OwnedFd lower = std::move(sys::open(root(), O_RDONLY | O_DIRECTORY)).value();
    const OwnedFd upper = std::move(sys::open(scratch_.path + "/upper", O_RDONLY | O_DIRECTORY)).value();
    const std::vector<TreeLayers> layers = {{set_.trees.front(), lower.get(), upper.get()}};
    return use(layers, GitSources{home(), {home() + "/.gitconfig"}, outside() + "/state"});
  }
  ChangeFacts facts(const ChangeFactLimits& limits = {}) const {
    return with_layers([&](const std::vector<TreeLayers>& layers, const GitSources& git) {
      return std::move(look_around_changes(set_, layers, git, limits)).value();
    });
  }
  JudgedChanges judge(const ChangeRules& rules = {}) const { return judge_changes(set_, facts(), rules); }

 private:
  static void run_in(const std::string& directory, const std::string& outside, const std::string& made,
                     const std::string& script) {
    const std::string whole =
        "cd '" + directory + "' && export HOME='" + outside + "/home' OUT='" + outside + "' MADE='" + made +
        "' GIT_CONFIG_NOSYSTEM=1 GIT_TEMPLATE_DIR='" + (made.empty() ? outside : made) +
        "/template' GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b "
        "GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.fsync "
        "GIT_CONFIG_VALUE_0=none && umask 022 && set -e && exec >/dev/null && exec 2>>\"$OUT/log\" && " +
        script;
    EXPECT_EQ(::system(whole.c_str()), 0) << script << "\n" << bytes_of(outside + "/log");
  }
  ChangeSet compare() const {
    ChangeSet set;
    set.trees = {{root()}};
    const std::string upper = scratch_.path + "/upper";
    const auto then = states_below(root());
    const auto now = states_below(upper);
    for (const auto& [path, state] : then) {
      const auto found = now.find(path);
      Change change{0, path, ChangeKind::deleted, state};
      if (found != now.end()) {
        change.kind = ChangeKind::changed;
        change.after = found->second;
        change.differs = difference(at(path), state, upper + "/" + path, found->second);
        if (!change.differs.any()) continue;
      }
      set.changes.push_back(std::move(change));
    }
    for (const auto& [path, state] : now) {
      if (!then.contains(path)) set.changes.push_back({0, path, ChangeKind::created, {}, state});
    }
    std::sort(set.changes.begin(), set.changes.end(),
              [](const Change& a, const Change& b) { return a.path < b.path; });
    return set;
  }

  Scratch scratch_;
  ChangeSet set_;
};

inline std::vector<std::string> paths_with(const ChangeSet& set, const JudgedChanges& judged, Fate fate) {
  std::vector<std::string> paths;
  for (size_t i = 0; i < set.changes.size(); ++i) {
    if (judged.verdicts[i].fate == fate) paths.push_back(set.changes[i].path);
  }
  return paths;
}

inline std::string reasons_of(const ChangeSet& set, const JudgedChanges& judged) {
  std::string text = judged.stage ? "staged: " + *judged.stage + "\n" : "";
  for (size_t i = 0; i < set.changes.size(); ++i) {
    if (judged.verdicts[i].fate != Fate::committed)
      text += set.changes[i].path + ": " + judged.verdicts[i].reason + "\n";
  }
  return text;
}

}  // namespace cloche
