// What of a change set only moved: a directory that was renamed is listed as everything deleted in one place
// and created in another. Pure.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "policy/changes/changed_directories.hpp"

namespace cloche {

class MovedChanges {
 public:
  MovedChanges(const ChangeSet& set, const ChangeFacts& facts, ChangedDirectories& directories);

  // How two files are known for the same. Times can be set by the call: they are proof of nothing where
  // something is executed.
  enum class Proof { times, contents };
  // Whether a directory around it was renamed and it went along: a member of the protected set stays the
  // same member in a project that has another name.
  bool only_moved(const Change& change, Proof proof) const;

  // Of a deletion: the creation, anywhere and under any name, of what looks the same; nullptr: none.
  const Change* counterpart(const Change& deletion) const;

 private:
  bool is_same(const Change& deleted, const Change& created, Proof proof) const;
  bool is_same_member(const Change& deleted, const Change& created, size_t& within) const;
  bool went_along(const Change& deleted, const Change& created) const;
  bool is_renamed(size_t tree_then, std::string_view then, size_t tree_now, std::string_view now) const;

  const ChangeFacts& facts_;
  ChangedDirectories& directories_;
  using ByName = std::unordered_map<std::string_view, std::vector<const Change*>>;
  ByName deleted_;
  ByName created_;
  std::unordered_map<int64_t, std::vector<const Change*>> created_by_time_;  // of files and links
};

}  // namespace cloche
