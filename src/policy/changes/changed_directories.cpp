#include "policy/changes/changed_directories.hpp"

#include <utility>

#include "policy/protected/folded_name.hpp"

namespace cloche {
namespace {

NameKind name_kind(FileKind kind) {
  if (kind == FileKind::directory) return NameKind::directory;
  return kind == FileKind::link ? NameKind::link : NameKind::other;
}

const std::optional<FileState>& state_on(const Change& change, Side side) {
  return side == Side::before ? change.before : change.after;
}

}  // namespace

bool becomes_git(const DirectoryMeaning& before, const DirectoryMeaning& after) {
  // A worktree's part takes its configuration and hooks from another place; a repository has its own.
  if (after.is_git) return !before.is_git;
  const bool was_git = before.is_git || before.is_worktree;
  if (after.is_worktree) return !was_git;
  return after.is_common && !before.is_common && !was_git;
}

ChangedDirectories::ChangedDirectories(const ChangeSet& set, const ChangeFacts& facts)
    : set_(set), facts_(facts) {
  changes_.reserve(set.changes.size());
  for (size_t i = 0; i < set.changes.size(); ++i) {
    const Change& change = set.changes[i];
    changes_.emplace(Key{change.tree, change.path}, i);
    if (!change.path.empty()) children_[Key{change.tree, directory_in(change.path)}].push_back(i);
  }
}

const Change* ChangedDirectories::find(size_t tree, std::string_view path) const {
  const auto found = changes_.find(Key{tree, path});
  return found != changes_.end() ? &set_.changes[found->second] : nullptr;
}

bool ChangedDirectories::is_directory(size_t tree, std::string_view path, Side side) const {
  if (const Change* change = find(tree, path)) return cloche::is_directory(state_on(*change, side));
  return facts_.directories.contains({tree, std::string(path)});
}

DirectoryMeaning ChangedDirectories::root_meaning(size_t tree) const {
  DirectoryMeaning root;
  if (tree >= facts_.trees.size()) return root;
  root.trail = facts_.trees[tree].trail;
  root.part = facts_.trees[tree].part;
  if (root.part != GitPart::none) root.git_length = 0;
  if (!facts_.trees[tree].covered_by.empty())
    root.covered = Membership{MemberRule::always, facts_.trees[tree].covered_by, 0};
  return root;
}

// What the directory around says of this one.
DirectoryMeaning ChangedDirectories::inherit(const DirectoryMeaning& around, std::string_view path) const {
  DirectoryMeaning here;
  const std::string name(name_in(path));
  // Agents keep whole checkouts in `worktrees` of their own directory: that one is as the top of any tree,
  // and what has a name of the protected set in it is a member.
  if (around.covered && holds_checkouts(path) && around.covered->length == directory_in(path).size() &&
      around.covered->rule == MemberRule::always)
    return here;
  here.git_length = around.git_length;
  if (around.covered) {
    here.covered = around.covered;
  } else if (const auto member = around.members.find(name); member != around.members.end()) {
    here.covered = Membership{member->second.rule, member->second.reason, path.size(), around.part};
  } else if (const auto sub = around.subdirectories.find(name); sub != around.subdirectories.end()) {
    here.trail = sub->second.trail;
    here.part = sub->second.part;
  }
  return here;
}

void ChangedDirectories::settle(size_t tree, std::string_view path, Side side,
                                DirectoryMeaning& meaning) const {
  if (meaning.covered) return;
  DirectoryNames names(meaning.trail, meaning.part);
  const Change* own = find(tree, path);
  const bool was_there = own == nullptr || cloche::is_directory(own->before);
  const auto around =
      was_there ? facts_.directories.find({tree, std::string(path)}) : facts_.directories.end();
  if (around != facts_.directories.end()) {
    for (const auto& name : around->second.names) {
      const std::string child = joined(path, name.name);
      if (!changes_.contains(Key{tree, child})) names.add(name.name, name.kind);
    }
  }
  if (const auto children = children_.find(Key{tree, path}); children != children_.end()) {
    for (const size_t index : children->second) {
      const auto& state = state_on(set_.changes[index], side);
      if (state) names.add(name_in(set_.changes[index].path), name_kind(state->kind));
    }
  }
  names.settle();
  meaning.is_git = names.is_git_directory();
  meaning.is_common = names.is_common_part();
  meaning.is_worktree = names.is_worktree_part();
  if (meaning.is_git && meaning.git_length == std::string_view::npos) meaning.git_length = path.size();
  for (const auto& member : names.members()) meaning.members.emplace(member.name, member);
  for (const auto& sub : names.subdirectories()) {
    if (sub.part != GitPart::none || !sub.trail.empty()) meaning.subdirectories.emplace(sub.name, sub);
  }
}

// A subdirectory without a change may still be asked for, when something leads there.
const DirectoryMeaning& ChangedDirectories::meaning(size_t tree, std::string_view directory, Side side) {
  auto& known = meanings_[side == Side::before ? 0 : 1][tree];
  if (const auto found = known.find(std::string(directory)); found != known.end()) return found->second;
  // From the nearest one that is known, downwards; not by recursion, because a tree may be deep.
  std::string at(directory);
  DirectoryMeaning* around = nullptr;
  while (around == nullptr && !at.empty()) {
    at = std::string(directory_in(at));
    if (const auto found = known.find(at); found != known.end()) around = &found->second;
  }
  if (around == nullptr) {
    around = &known.emplace(std::string(), root_meaning(tree)).first->second;
    settle(tree, {}, side, *around);
  }
  while (at.size() < directory.size()) {
    const std::string_view next = directory.substr(0, directory.find('/', at.empty() ? 0 : at.size() + 1));
    DirectoryMeaning meaning = inherit(*around, next);
    settle(tree, next, side, meaning);
    at = std::string(next);
    around = &known.emplace(at, std::move(meaning)).first->second;  // stays where it is when the map grows
  }
  return *around;
}

std::optional<Membership> ChangedDirectories::membership(size_t tree, std::string_view path, Side side) {
  if (path.empty()) return root_meaning(tree).covered;
  const DirectoryMeaning& around = meaning(tree, directory_in(path), side);
  if (around.covered) {
    const bool is_checkouts = holds_checkouts(path) && is_directory(tree, path, side) &&
                              around.covered->rule == MemberRule::always &&
                              around.covered->length == directory_in(path).size();
    return is_checkouts ? std::nullopt : around.covered;
  }
  const auto member = around.members.find(std::string(name_in(path)));
  if (member == around.members.end()) return std::nullopt;
  return Membership{member->second.rule, member->second.reason, path.size(), around.part};
}

}  // namespace cloche
