#include "policy/changes/judge_members.hpp"

#include <algorithm>

#include "base/lists.hpp"
#include "base/text/visible_text.hpp"
#include "policy/protected/folded_name.hpp"
#include "policy/protected/git_config.hpp"
#include "policy/protected/git_config_paths.hpp"
#include "policy/protected/git_index.hpp"
#include "policy/protected/git_resolutions.hpp"

namespace cloche {
namespace {

constexpr std::string_view elsewhere_reason = "tells git to take hooks and config from another directory";

std::string worded(std::string_view danger) {
  return "git runs what its configuration names, and of this one " + std::string(danger);
}

bool is_dot_git_link(const Change& change) {
  return change.after && change.after->kind == FileKind::link && folded_name(name_in(change.path)) == ".git";
}

bool only_times_differ(const Change& change) {
  const Difference& differs = change.differs;
  return change.kind == ChangeKind::changed && !differs.kind && !differs.contents && !differs.mode &&
         !differs.owner && !differs.attributes;
}

// What was in a directory before it became a git directory, or before git was led there.
std::optional<std::string> danger_in(const GitContents& contents) {
  if (contents.has_hooks) return "it leads git to hooks that were there before, which git would run";
  if (contents.has_others) return "it leads git to files that were there before, and git obeys them";
  if (contents.config) {
    if (const auto danger = danger_in_git_config(*contents.config, {})) return worded(*danger);
  }
  return std::nullopt;
}

}  // namespace

ChangedMemberJudge::ChangedMemberJudge(const ChangeFacts& facts, ChangedDirectories& directories,
                                       const MovedChanges& moved)
    : facts_(facts), directories_(directories), moved_(moved) {
  for (const auto& place : facts.executed) {
    const ExecutedPath*& known = executed_[place.where];
    if (known == nullptr || place.kind == ExecutedPath::Kind::directory) known = &place;
  }
  for (const auto& [pointer, end] : facts.pointers_before) {
    if (end.place == PathEnd::Place::outside) led_before_.push_back(end);
  }
}

std::optional<std::string> ChangedMemberJudge::danger_in(const Change& change) {
  if (only_times_differ(change)) return std::nullopt;
  if (change.after) {
    if (auto danger = judge_becoming(change)) return danger;
    if (is_dot_git_link(change)) {
      if (auto danger = judge_pointer(change, elsewhere_reason)) return danger;
    }
    if (auto danger = judge_linked_repository(change)) return danger;
    if (auto danger = judge_side(change, Side::after)) return danger;
  }
  if (change.before) {
    if (auto danger = judge_side(change, Side::before)) return danger;
  }
  return judge_executed(change);
}

std::optional<std::string> ChangedMemberJudge::judge_side(const Change& change, Side side) {
  const auto member = directories_.membership(change.tree, change.path, side);
  if (!member) return std::nullopt;
  const bool is_gone = !change.after || change.differs.kind;
  if (side == Side::before && is_gone && is_gits_own(change, *member) && is_in_deleted_repository(change))
    return std::nullopt;
  auto danger = judge_rule(change, *member);
  // A configuration that names files of its checkout names others at another place, and so does a MERGE_RR.
  const auto text = facts_.texts_after.find({change.tree, change.path});
  const bool names_places = member->rule == MemberRule::git_resolutions ||
                            (member->rule == MemberRule::git_config && text != facts_.texts_after.end() &&
                             !places_said(text->second).places.empty());
  if (danger && !names_places && moved_.only_moved(change, MovedChanges::Proof::contents))
    return std::nullopt;
  return danger;
}

std::optional<std::string> ChangedMemberJudge::judge_rule(const Change& change, const Membership& member) {
  switch (member.rule) {
    case MemberRule::always:
      if (is_gitmodules(name_in(change.path))) return judge_gitmodules(change, member);
      return std::string(member.reason);
    case MemberRule::git_config: return judge_config(change, member);
    case MemberRule::git_remotes:
    case MemberRule::git_hooks: return judge_hooks(change, member);
    case MemberRule::git_todo:
    case MemberRule::git_strategy: return judge_text(change, member);
    case MemberRule::git_index: return judge_index(change, member);
    case MemberRule::git_resolutions: return judge_resolutions(change, member);
    case MemberRule::git_link:
    case MemberRule::git_pointer:
      if (!change.after) return std::nullopt;
      if (change.after->kind == FileKind::file) return judge_pointer(change, member.reason);
      return change.after->kind == FileKind::link ? Danger(member.reason) : std::nullopt;
    case MemberRule::inner_link:
      if (!is_kind(change.after, FileKind::link)) return std::nullopt;
      if (is_symbolic_head(name_in(change.path), change.after->link)) return std::nullopt;
      return std::string(member.reason);
  }
  return std::string(member.reason);
}

// core.worktree is what git writes for a submodule. Git checks files out there, so it has to lie in a tree of
// the call, and not where they would be executed.
bool ChangedMemberJudge::has_harmless_working_tree(const TreePath& config) {
  if (!is_part_of_repository({config.tree, std::string(directory_in(config.path))}, {"modules"}))
    return false;
  const auto found = facts_.working_trees.find(config);
  if (found == facts_.working_trees.end() || found->second.place != PathEnd::Place::inside) return false;
  const TreePath& where = found->second.where;
  const DirectoryMeaning& there = directories_.meaning(where.tree, where.path, Side::after);
  return there.trail.empty() && !there.covered && there.part == GitPart::none &&
         there.git_length == std::string_view::npos;
}

std::optional<std::string> ChangedMemberJudge::judge_config(const Change& change, const Membership& member) {
  const bool is_itself = member.length == change.path.size();
  if (!change.after) return std::string("git needs it in this repository");
  if (!is_itself || change.after->kind != FileKind::file) return std::string(member.reason);
  const TreePath key{change.tree, change.path};
  const auto text = facts_.texts_after.find(key);
  if (text == facts_.texts_after.end()) return worded("no more can be said: it is too long");
  const auto then = facts_.texts_before.find(key);
  const auto before =
      then != facts_.texts_before.end() ? dangers_in_git_config(then->second) : std::vector<std::string>();
  // Of several git obeys the last, which is the one that was followed.
  const std::string working_tree = places_said(text->second).working_tree;
  const bool is_harmless = !working_tree.empty() && has_harmless_working_tree(key);
  const auto allows = [&](std::string_view value) { return is_harmless && value == working_tree; };
  if (const auto danger = danger_in_git_config(text->second, before, allows)) return worded(*danger);
  if (then != facts_.texts_before.end() && object_format(then->second) != object_format(text->second))
    return "git would read what is in the repository in another way";
  if (facts_.unjudged_remotes.contains(key))
    return "git runs the hooks of a repository that it pushes to, and calls write to this one unjudged";
  return std::nullopt;
}

// Git writes it for every submodule, so it is judged by what is in it.
std::optional<std::string> ChangedMemberJudge::judge_gitmodules(const Change& change,
                                                                const Membership& member) {
  if (member.length != change.path.size()) return std::string(member.reason);
  if (!change.after) return std::nullopt;  // the last submodule went
  const auto text = facts_.texts_after.find({change.tree, change.path});
  if (change.after->kind != FileKind::file || text == facts_.texts_after.end())
    return std::string(member.reason);
  if (const auto danger = danger_in_gitmodules(text->second))
    return std::string(member.reason) + ", and " + *danger;
  return std::nullopt;
}

// The samples of git init are run by no git.
std::optional<std::string> ChangedMemberJudge::judge_hooks(const Change& change, const Membership& member) {
  const bool is_itself = member.length == change.path.size();
  const auto is_harmless = [&](const std::optional<FileState>& state) {
    if (!state) return true;
    if (is_itself) return state->kind == FileKind::directory;
    return member.rule == MemberRule::git_hooks && state->kind == FileKind::file &&
           is_sample_hook(change.path);
  };
  if (is_harmless(change.before) && is_harmless(change.after)) return std::nullopt;
  return std::string(member.reason);
}

// To take such a file away is what git does when it is done.
std::optional<std::string> ChangedMemberJudge::judge_text(const Change& change, const Membership& member) {
  if (!change.after) return std::nullopt;
  const auto text = facts_.texts_after.find({change.tree, change.path});
  if (change.after->kind != FileKind::file || text == facts_.texts_after.end())
    return std::string(member.reason);
  if (member.rule == MemberRule::git_todo)
    return has_exec_line(text->second) ? Danger(member.reason) : std::nullopt;
  const auto runs = member.part == GitPart::rebase ? is_strategy_by_path : has_strategy_by_path;
  return runs(text->second) ? Danger(member.reason) : std::nullopt;
}

std::optional<std::string> ChangedMemberJudge::judge_index(const Change& change, const Membership& member) {
  const bool is_file = is_kind(change.after, FileKind::file);
  if (!change.after || (is_file && change.kind == ChangeKind::changed && !change.differs.contents))
    return std::nullopt;
  const auto text = facts_.texts_after.find(change.where());
  if (!is_file || text == facts_.texts_after.end()) return std::string(member.reason);
  const auto names = facts_.sha256_indexes.contains(change.where()) ? ObjectNames::sha256 : ObjectNames::sha1;
  if (const auto danger = danger_in_git_index(text->second, names))
    return std::string(member.reason) + ", and " + *danger;
  return std::nullopt;
}

// A merge in a call leaves its conflicts in files that it wrote, in the working tree around the .git. These
// are judged as changes of their own: so none of them is hidden, a link or behind one, or a protected file.
// With any other file git on the host would do what the call itself could not.
std::optional<std::string> ChangedMemberJudge::judge_resolutions(const Change& change,
                                                                 const Membership& member) {
  if (!change.after) return std::nullopt;
  const TreePath where = change.where();
  const auto text = facts_.texts_after.find(where);
  if (change.after->kind != FileKind::file || text == facts_.texts_after.end())
    return std::string(member.reason);
  const auto named = paths_in_merge_rr(text->second);
  if (!named) return std::string(member.reason) + ", and it is not written as git writes one";
  if (!named->empty() && !facts_.usual_working_trees.contains(where)) return std::string(member.reason);
  const auto then = facts_.texts_before.find(where);
  const auto known = then != facts_.texts_before.end() ? paths_in_merge_rr(then->second) : std::nullopt;
  const std::string top(directory_in(directory_in(change.path)));
  for (const std::string& path : *named) {
    const std::string file = joined(top, path);
    const Change* written = directories_.find(change.tree, file);
    // Not one that is judged by what is in it: that changes when git writes to it.
    const bool is_written = written != nullptr && is_kind(written->after, FileKind::file) &&
                            !directories_.membership(change.tree, file, Side::after) && !danger_in(*written);
    if (!is_written && !(known && contains(*known, path)))
      return std::string(member.reason) + ", and the call did not write '" + shown(path) + "'";
  }
  return std::nullopt;
}

std::optional<std::string> ChangedMemberJudge::judge_pointer(const Change& change, std::string_view reason) {
  const auto found = facts_.pointers_after.find({change.tree, change.path});
  if (found == facts_.pointers_after.end()) return std::string(reason);
  const PathEnd& end = found->second;
  if (end.place == PathEnd::Place::nowhere) return std::nullopt;
  if (end.place == PathEnd::Place::inside) return judge_target(change, end.where, reason);
  const bool led_there = end.place == PathEnd::Place::outside &&
                         (contains(led_before_, end) || facts_.repositories_outside.contains(end.where.path));
  return led_there ? std::nullopt : Danger(reason);
}

std::optional<std::string> ChangedMemberJudge::judge_target(const Change& change, const TreePath& target,
                                                            std::string_view reason) {
  const std::string name = folded_name(name_in(change.path));
  // It says where a worktree is, not where git takes anything from.
  if (name == "gitdir") return std::nullopt;
  if (name == "commondir" && !is_commondir_of_gits(change, target)) return std::string(reason);
  if (leads_to_own_repository(change, target)) return std::nullopt;
  if (name == ".git" && !is_part_of_repository(target, {"worktrees", "modules"})) return std::string(reason);
  const auto contents = facts_.git_contents.find(target);
  if (contents != facts_.git_contents.end()) {
    if (auto danger = cloche::danger_in(contents->second)) return danger;
    return std::nullopt;
  }
  // What the call made is judged by itself. Where nothing is, a later call could put anything.
  const Change* made = directories_.find(target.tree, target.path);
  const bool is_new = made != nullptr && is_directory(made->after);
  return is_new ? std::nullopt : Danger(reason);
}

// Some file of git's, far from here, may name the link.
std::optional<std::string> ChangedMemberJudge::judge_linked_repository(const Change& change) {
  const auto found = facts_.links.find({change.tree, change.path});
  if (found == facts_.links.end() || found->second.place != PathEnd::Place::inside) return std::nullopt;
  const auto contents = facts_.git_contents.find(found->second.where);
  const bool is_repository = contents != facts_.git_contents.end() && contents->second.is_repository;
  if (!is_repository || leads_to_own_repository(change, found->second.where)) return std::nullopt;
  return cloche::danger_in(contents->second);
}

// As git writes it for a worktree: REPOSITORY/worktrees/NAME/commondir, which leads to REPOSITORY. One at
// another place would give what lies there another configuration.
bool ChangedMemberJudge::is_commondir_of_gits(const Change& change, const TreePath& target) {
  const std::string_view worktrees = directory_in(directory_in(change.path));
  return change.tree == target.tree && name_in(worktrees) == "worktrees" &&
         target.path == directory_in(worktrees);
}

// As git makes it for a worktree or a submodule: REPOSITORY/worktrees/NAME or REPOSITORY/modules/NAME, where
// a name may have slashes. To any other directory git is led by no command of every day, and what makes a
// repository of that may come in parts and in several calls.
bool ChangedMemberJudge::is_part_of_repository(const TreePath& target,
                                               std::initializer_list<std::string_view> parts) {
  for (std::string_view at = directory_in(target.path); !at.empty(); at = directory_in(at)) {
    if (std::ranges::find(parts, name_in(at)) == parts.end()) continue;
    const DirectoryMeaning& around = directories_.meaning(target.tree, directory_in(at), Side::after);
    if (around.is_git || around.is_common || around.part == GitPart::dot_git) return true;
  }
  return false;
}

// A worktree or a submodule of the repository that it lies in: what is in there is judged when it changes.
bool ChangedMemberJudge::leads_to_own_repository(const Change& change, const TreePath& target) {
  for (std::string_view at = change.path; !at.empty();) {
    at = directory_in(at);
    if (const auto known = facts_.git_directories.find({change.tree, std::string(at)});
        known != facts_.git_directories.end()) {
      for (const auto& git : known->second) {
        if (git.tree == target.tree && is_at_or_below(git.path, target.path)) return true;
      }
    }
    const std::string git = at.empty() ? ".git" : std::string(at) + "/.git";
    const Change* made = directories_.find(change.tree, git);
    const bool is_made = made != nullptr && is_directory(made->after);
    if (is_made && change.tree == target.tree && is_at_or_below(git, target.path)) return true;
  }
  return false;
}

// HEAD, objects and refs put beside what was there make a git directory of it. Without a HEAD it may be the
// common part of another, or a directory of sources with such names: then only what git would run counts.
std::optional<std::string> ChangedMemberJudge::judge_becoming(const Change& change) {
  if (!is_name_of_git(name_in(change.path))) return std::nullopt;
  const std::string_view around = directory_in(change.path);
  const auto contents = facts_.git_contents.find({change.tree, std::string(around)});
  if (contents == facts_.git_contents.end()) return std::nullopt;
  const DirectoryMeaning& before = directories_.meaning(change.tree, around, Side::before);
  const DirectoryMeaning& after = directories_.meaning(change.tree, around, Side::after);
  if (!becomes_git(before, after)) return std::nullopt;
  if (after.is_git || after.is_worktree) return cloche::danger_in(contents->second);
  return cloche::danger_in({.config = contents->second.config,
                            .has_hooks = contents->second.has_known_hooks,
                            .has_others = contents->second.has_linked_hooks});
}

std::optional<std::string> ChangedMemberJudge::judge_executed(const Change& change) {
  if (executed_.empty()) return std::nullopt;
  const ExecutedPath* place = nullptr;
  if (const auto found = executed_.find({change.tree, change.path}); found != executed_.end()) {
    const bool is_only_directory = is_directory(change.after ? change.after : change.before);
    if (found->second->kind == ExecutedPath::Kind::directory || !is_only_directory) place = found->second;
  }
  for (std::string_view at = change.path; place == nullptr && !at.empty();) {
    at = directory_in(at);
    const auto found = executed_.find({change.tree, std::string(at)});
    if (found != executed_.end() && found->second->kind == ExecutedPath::Kind::directory)
      place = found->second;
  }
  // A link on the way to it leads elsewhere.
  if (place == nullptr && (is_kind(change.after, FileKind::link) || is_kind(change.before, FileKind::link))) {
    const std::string within = change.path + "/";
    const auto next = executed_.lower_bound({change.tree, within});
    if (next != executed_.end() && next->first.tree == change.tree && next->first.path.starts_with(within))
      place = next->second;
  }
  // Also what only moved: it comes to a place that executes it, or the place loses what it executed.
  if (place == nullptr) return std::nullopt;
  return place->reason;
}

// A member because of the repository that it is in, and not by its own name.
bool ChangedMemberJudge::is_gits_own(const Change& change, const Membership& member) {
  if (member.rule != MemberRule::always) return true;
  const auto path = std::string_view(change.path).substr(0, member.length);
  const DirectoryMeaning& around = directories_.meaning(change.tree, directory_in(path), Side::before);
  return match_name(around.trail, name_in(path)).member == nullptr;
}

bool ChangedMemberJudge::is_in_deleted_repository(const Change& change) {
  for (std::string_view at = change.path;; at = directory_in(at)) {
    const Change* own = directories_.find(change.tree, at);
    const bool is_gone = own != nullptr && is_directory(own->before) && !is_directory(own->after);
    if (is_gone) {
      const DirectoryMeaning& was = directories_.meaning(change.tree, at, Side::before);
      if (was.is_git || was.is_worktree) return true;
    }
    if (at.empty()) return false;
  }
}

}  // namespace cloche
