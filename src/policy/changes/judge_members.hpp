// Whether a change is one to the protected set: to what the host executes later without being asked. Pure.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "policy/changes/changed_directories.hpp"
#include "policy/changes/moved_changes.hpp"

namespace cloche {

class ChangedMemberJudge {
 public:
  ChangedMemberJudge(const ChangeFacts& facts, ChangedDirectories& directories, const MovedChanges& moved);

  // Why the change is withheld: which program would execute it, and when. Nothing: it is no such change.
  std::optional<std::string> danger_in(const Change& change);

 private:
  using Danger = std::optional<std::string>;

  Danger judge_side(const Change& change, Side side);
  Danger judge_rule(const Change& change, const Membership& member);
  Danger judge_config(const Change& change, const Membership& member);
  Danger judge_gitmodules(const Change& change, const Membership& member);
  Danger judge_hooks(const Change& change, const Membership& member);
  Danger judge_text(const Change& change, const Membership& member);
  Danger judge_index(const Change& change, const Membership& member);
  Danger judge_resolutions(const Change& change, const Membership& member);
  Danger judge_pointer(const Change& change, std::string_view reason);
  Danger judge_target(const Change& change, const TreePath& target, std::string_view reason);
  Danger judge_linked_repository(const Change& change);
  Danger judge_becoming(const Change& change);
  Danger judge_executed(const Change& change);
  // Whether the path lies in, or is, a git directory that the set deletes as a whole.
  bool is_in_deleted_repository(const Change& change);
  bool is_gits_own(const Change& change, const Membership& member);
  static bool is_commondir_of_gits(const Change& change, const TreePath& target);
  bool is_part_of_repository(const TreePath& target, std::initializer_list<std::string_view> parts);
  bool leads_to_own_repository(const Change& change, const TreePath& target);
  bool has_harmless_working_tree(const TreePath& config);

  const ChangeFacts& facts_;
  ChangedDirectories& directories_;
  const MovedChanges& moved_;
  std::map<TreePath, const ExecutedPath*> executed_;
  std::vector<PathEnd> led_before_;  // outside, by pointers that the set changes or deletes
};

}  // namespace cloche
