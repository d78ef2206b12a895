#include "policy/changes/moved_changes.hpp"

#include <algorithm>

namespace cloche {
namespace {

constexpr size_t most_candidates = 256;  // a set may hold a hundred thousand files of one name

bool looks_same(const FileState& then, const FileState& now) {
  return then.kind == now.kind && then.mode == now.mode && then.link == now.link &&
         (then.kind != FileKind::file || then.size == now.size);
}

// How much of the ends of two paths is the same, in whole names.
size_t common_end(std::string_view a, std::string_view b) {
  size_t same = 0;
  size_t whole = 0;
  while (same < a.size() && same < b.size() && a[a.size() - 1 - same] == b[b.size() - 1 - same]) {
    if (a[a.size() - 1 - same] == '/') whole = same;
    ++same;
  }
  const bool a_ends = same == a.size() || a[a.size() - 1 - same] == '/';
  const bool b_ends = same == b.size() || b[b.size() - 1 - same] == '/';
  return a_ends && b_ends ? same : whole;
}

}  // namespace

MovedChanges::MovedChanges(const ChangeSet& set, const ChangeFacts& facts, ChangedDirectories& directories)
    : facts_(facts), directories_(directories) {
  for (const auto& change : set.changes) {
    const bool is_deleted = change.kind == ChangeKind::deleted && change.before;
    const bool is_created = change.kind == ChangeKind::created && change.after;
    if (!is_deleted && !is_created) continue;
    (is_deleted ? deleted_ : created_)[name_in(change.path)].push_back(&change);
    if (is_created && change.after->kind != FileKind::directory)
      created_by_time_[change.after->modified_ns].push_back(&change);
  }
}

bool MovedChanges::is_same(const Change& deleted, const Change& created, Proof proof) const {
  if (!looks_same(*deleted.before, *created.after)) return false;
  if (deleted.before->kind != FileKind::file) return true;
  if (proof == Proof::times) return deleted.before->modified_ns == created.after->modified_ns;
  const auto then = facts_.digests_before.find({deleted.tree, deleted.path});
  const auto now = facts_.digests_after.find({created.tree, created.path});
  return then != facts_.digests_before.end() && now != facts_.digests_after.end() &&
         then->second == now->second;
}

// `within`: how long the end of both paths must be that went along, so that the member did as a whole.
bool MovedChanges::is_same_member(const Change& deleted, const Change& created, size_t& within) const {
  const auto then = directories_.membership(deleted.tree, deleted.path, Side::before);
  const auto now = directories_.membership(created.tree, created.path, Side::after);
  within = 0;
  if (!then && !now) return true;
  if (!then || !now || then->rule != now->rule || then->reason != now->reason) return false;
  const std::string_view name = name_in(std::string_view(deleted.path).substr(0, then->length));
  within = deleted.path.size() - then->length + name.size();
  return deleted.path.size() - then->length == created.path.size() - now->length;
}

// Neither of the two may mean anything by its own name or as a part of a repository: what becomes a .git, or
// comes into one, did not only move.
bool MovedChanges::is_renamed(size_t tree_then, std::string_view then, size_t tree_now,
                              std::string_view now) const {
  const Change* gone = directories_.find(tree_then, then);
  const Change* come = directories_.find(tree_now, now);
  if (gone == nullptr || gone->kind != ChangeKind::deleted || gone->before->kind != FileKind::directory)
    return false;
  if (come == nullptr || come->kind != ChangeKind::created || come->after->kind != FileKind::directory)
    return false;
  return directories_.meaning(tree_then, then, Side::before).is_plain() &&
         directories_.meaning(tree_now, now, Side::after).is_plain();
}

bool MovedChanges::went_along(const Change& deleted, const Change& created) const {
  size_t within = 0;
  if (!is_same_member(deleted, created, within)) return false;
  size_t end = common_end(deleted.path, created.path);
  for (; end > 0 && end >= within;) {
    if (end < deleted.path.size() && end < created.path.size()) {
      const auto then = std::string_view(deleted.path).substr(0, deleted.path.size() - end - 1);
      const auto now = std::string_view(created.path).substr(0, created.path.size() - end - 1);
      if (is_renamed(deleted.tree, then, created.tree, now)) return true;
    }
    const std::string_view rest = std::string_view(deleted.path).substr(deleted.path.size() - end);
    const size_t slash = rest.find('/');
    if (slash == std::string_view::npos) break;
    end -= slash + 1;
  }
  return false;
}

bool MovedChanges::only_moved(const Change& change, Proof proof) const {
  if (change.kind == ChangeKind::changed) return false;
  const bool is_deleted = change.kind == ChangeKind::deleted;
  const ByName& others = is_deleted ? created_ : deleted_;
  const auto found = others.find(name_in(change.path));
  if (found == others.end() || found->second.size() > most_candidates) return false;
  return std::ranges::any_of(found->second, [&](const Change* other) {
    const Change& deleted = is_deleted ? change : *other;
    const Change& created = is_deleted ? *other : change;
    return is_same(deleted, created, proof) && went_along(deleted, created);
  });
}

// The likeliest: by the longest common end of the two paths.
const Change* MovedChanges::counterpart(const Change& deletion) const {
  if (deletion.kind != ChangeKind::deleted || !deletion.before) return nullptr;
  const auto found = created_by_time_.find(deletion.before->modified_ns);
  if (found == created_by_time_.end() || found->second.size() > most_candidates) return nullptr;
  const Change* best = nullptr;
  for (const Change* created : found->second) {
    if (!looks_same(*deletion.before, *created->after)) continue;
    if (best == nullptr || common_end(deletion.path, created->path) > common_end(deletion.path, best->path))
      best = created;
  }
  return best;
}

}  // namespace cloche
