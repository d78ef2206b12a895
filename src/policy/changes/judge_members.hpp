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
  ChangedMemberJudge(const ChangeSet& set, const ChangeFacts& facts, ChangedDirectories& directories,
                     const MovedChanges& moved);

  // Why the change is withheld: which program would execute it, and when. Nothing: it is no such change.
  std::optional<std::string> danger_in(const Change& change);
  // Of a change in which there is no danger: why it would be one elsewhere. Empty: it would not.
  std::string note_on(const Change& change);

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
  // A checkout that the call made, where no user has worked yet.
  struct NewCheckout {
    bool has_own_git =
        false;  // its git directory is new as well, and so has no hooks but those that are judged
  };
  std::optional<NewCheckout> new_checkout_around(const Change& change, size_t member_length);
  std::optional<NewCheckout> checkout_at(size_t tree, std::string_view top);
  bool is_obeyed_alone(const Change& change, const ProtectedName& row, const NewCheckout& checkout) const;
  bool is_harmless_there(const Change& change, const Membership& member);
  bool is_made_repository(const TreePath& git) const;
  // Whether what was there before is where it was: no directory, link or repository went or was replaced.
  bool leaves_all_in_place();
  bool takes_away(const Change& change);
  bool gives_hooks_to_what_was_there(const Change& dot_git);
  // Whether the path lies in, or is, a git directory that the set deletes as a whole.
  bool is_in_deleted_repository(const Change& change);
  bool is_gits_own(const Change& change, const Membership& member);
  static bool is_commondir_of_gits(const Change& change, const TreePath& target);
  bool is_part_of_repository(const TreePath& target, std::initializer_list<std::string_view> parts);
  bool leads_to_own_repository(const Change& change, const TreePath& target);
  bool has_harmless_working_tree(const TreePath& config);

  const ChangeSet& set_;
  const ChangeFacts& facts_;
  ChangedDirectories& directories_;
  const MovedChanges& moved_;
  std::map<TreePath, const ExecutedPath*> executed_;
  std::map<TreePath, std::optional<NewCheckout>> checkouts_;  // by their tops
  std::optional<bool> leaves_all_in_place_;
  std::vector<PathEnd> led_before_;  // outside, by pointers that the set changes or deletes
};

}  // namespace cloche
