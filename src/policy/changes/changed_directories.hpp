// What the directories around the changes are to git and to the protected set, before the call and after it:
// from the names that were there and the change set, directory by directory from the root of each tree down.
// Pure; each directory is settled once.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/sys/path.hpp"
#include "model/change_set.hpp"
#include "policy/changes/change_facts.hpp"

namespace cloche {

enum class Side { before, after };

// A path that is a member of the protected set, or lies in one.
struct Membership {
  MemberRule rule = MemberRule::always;
  std::string_view reason = {};
  size_t length = 0;             // of the member's own path, as a part of the path
  GitPart part = GitPart::none;  // of the directory that the member is in
};

// One directory on one side.
struct DirectoryMeaning {
  Trail trail = {};
  GitPart part = GitPart::none;
  std::optional<Membership> covered = {};  // it is a member, or lies in one
  bool is_git = false;
  bool is_common = false;
  bool is_worktree = false;
  size_t git_length = std::string_view::npos;  // of the outermost git directory that it is or lies in
  std::unordered_map<std::string, MemberName> members = {};
  std::unordered_map<std::string, SubdirectoryName> subdirectories = {};  // only those that mean something

  bool is_plain() const {
    return trail.empty() && part == GitPart::none && !covered && !is_git && !is_common && !is_worktree;
  }
};

// Whether git takes a directory for its own that it did not take for it before.
bool becomes_git(const DirectoryMeaning& before, const DirectoryMeaning& after);

class ChangedDirectories {
 public:
  ChangedDirectories(const ChangeSet& set, const ChangeFacts& facts);

  // The change of that very path; nullptr: there is none.
  const Change* find(size_t tree, std::string_view path) const;
  // Directories that hold a change, and those above them.
  const DirectoryMeaning& meaning(size_t tree, std::string_view directory, Side side);
  std::optional<Membership> membership(size_t tree, std::string_view path, Side side);
  // Whether the path is there on that side as a directory, as far as the set and the facts know.
  bool is_directory(size_t tree, std::string_view path, Side side) const;

 private:
  struct Key {
    size_t tree;
    std::string_view path;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const { return std::hash<std::string_view>()(key.path) + key.tree; }
  };
  // By tree, then by path; owned, because a path that is asked for may be no path of the set.
  using Meanings = std::map<size_t, std::unordered_map<std::string, DirectoryMeaning>>;

  DirectoryMeaning root_meaning(size_t tree) const;
  DirectoryMeaning inherit(const DirectoryMeaning& around, std::string_view path) const;
  void settle(size_t tree, std::string_view path, Side side, DirectoryMeaning& meaning) const;

  const ChangeSet& set_;
  const ChangeFacts& facts_;
  std::unordered_map<Key, size_t, Hash> changes_;
  std::unordered_map<Key, std::vector<size_t>, Hash> children_;
  Meanings meanings_[2];
};

}  // namespace cloche
