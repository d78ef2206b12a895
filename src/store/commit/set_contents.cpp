#include "store/commit/set_contents.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "base/sys/sys.hpp"
#include "store/commit/commit_check.hpp"
#include "store/commit/tree_directories.hpp"

namespace cloche {
namespace {

constexpr const char* too_large = "is too large to be shown";
constexpr const char* changed_since = "was changed since, so its contents are not shown";
constexpr const char* not_kept = "is no longer kept";

// Of a directory that may be gone by now: then there is nothing in it.
OwnedFd hold_if_there(const KnownDirectory& directory) {
  auto held = open_known(directory);
  return held.ok() ? std::move(held).value() : OwnedFd();
}

}  // namespace

// A later set, with what it changed by absolute path.
struct SetContents::Later {
  StoredSet set;
  std::optional<SetContents> contents = {};
  std::map<std::string, size_t> changes = {};
};

Result<SetContents> SetContents::open(const StoredSet& set, const LaterSets& later,
                                      const ContentsBounds& bounds) {
  SetContents contents(set, later, bounds);
  for (const StoredTree& tree : set.header.trees)
    contents.trees_.push_back(
        {TRY(open_known(tree.project)), hold_if_there(tree.source), hold_if_there(tree.undo)});
  return contents;
}

// The file that the set knows, and no other that came to its place.
SideContents SetContents::read(int root, const std::string& path, const FileState* expected,
                               const char* otherwise) {
  const auto seen = look_beneath(root, path);
  if (!seen || !S_ISREG(seen->st_mode)) return {{}, otherwise};
  const FileState now = state_of(*seen);
  const bool is_other =
      expected != nullptr && (now.size != expected->size || now.modified_ns != expected->modified_ns);
  if (is_other) return {{}, otherwise};
  if (now.size > bounds_.side || now.size > bounds_.all) return {{}, too_large};
  const OwnedFd file = open_descendant(root, path, O_RDONLY);
  struct stat opened {};
  if (!file || ::fstat(file.get(), &opened) != 0 || opened.st_ino != seen->st_ino)
    return {{}, "cannot be read"};
  auto bytes = sys::read_all(file.get(), bounds_.side);
  if (!bytes.ok()) return {{}, "cannot be read"};
  bounds_.all -= std::min<uint64_t>(bounds_.all, bytes.value().size());
  return {std::move(bytes).value(), {}};
}

SideContents SetContents::read_kept(const Change& change) {
  const auto kept = steps_.kept(change.tree, change.path);
  const int undo = trees_[change.tree].undo.get();
  if (!kept || undo < 0) return {{}, not_kept};
  return read(undo, *kept, &*change.before, not_kept);
}

// The very file that the commit put there, unchanged since; or one that a later undo put there again.
bool SetContents::is_still_placed(const Change& change) {
  const auto seen = look_beneath(trees_[change.tree].project.get(), change.path);
  if (!seen) return false;
  const Placed now = placed_as(*seen);
  const Placed* then = steps_.placed(change.tree, change.path);
  if (then == nullptr && now.changed_ns < set_.header.ended_ns) return true;  // it came with its directory
  if (then != nullptr && now == *then) return true;
  if (then != nullptr && (now.device != then->device || now.inode != then->inode)) return false;
  open_later();
  return std::any_of(later_.begin(), later_.end(), [&](const auto& later) {
    const auto& steps = later->set.steps;
    return !later->set.header.undoes.empty() &&
           std::any_of(steps.begin(), steps.end(), [&](const Step& step) { return step.placed == now; });
  });
}

SideContents SetContents::read_placed(const Change& change) {
  if (!is_still_placed(change)) return {{}, changed_since};
  return read(trees_[change.tree].project.get(), change.path, &*change.after, changed_since);
}

void SetContents::open_later() {
  const LaterSets ask = std::exchange(ask_later_, {});
  if (!ask) return;
  for (StoredSet& set : ask()) {
    auto later = std::make_shared<Later>(Later{std::move(set)});
    auto contents = open(later->set, {}, bounds_);
    if (!contents.ok()) continue;
    later->contents.emplace(std::move(contents).value());
    const auto& changes = later->set.changes;
    for (size_t i = 0; i < changes.changes.size(); ++i) {
      const Change& change = changes.changes[i];
      if (change.before) later->changes[changes.trees[change.tree].path + "/" + change.path] = i;
    }
    later_.push_back(std::move(later));
  }
}

SideContents SetContents::or_later(SideContents found, const Change& change, const FileState& expected) {
  if (found.bytes || found.why.empty() || found.why == too_large) return found;
  open_later();
  const std::string path = set_.changes.trees[change.tree].path + "/" + change.path;
  for (const auto& later : later_) {
    const auto place = later->changes.find(path);
    if (place == later->changes.end() || !is_in_project(later->set, place->second)) continue;
    const FileState& before = *later->set.changes.changes[place->second].before;
    const bool is_the_file = before.kind == FileKind::file && before.size == expected.size &&
                             before.modified_ns == expected.modified_ns;
    if (!is_the_file) continue;
    SideContents kept = later->contents->before(place->second);
    if (kept.bytes) return kept;
  }
  return found;
}

SideContents SetContents::unchanged(size_t tree, const std::string& path) {
  if (tree >= trees_.size()) return {};
  return read(trees_[tree].project.get(), path, nullptr, "is not there");
}

SideContents SetContents::before(size_t index) {
  const Change& change = set_.changes.changes[index];
  if (!is_kind(change.before, FileKind::file) || change.tree >= trees_.size()) return {};
  if (is_in_project(set_, index)) return read_kept(change);
  return or_later(read(trees_[change.tree].project.get(), change.path, &*change.before, changed_since),
                  change, *change.before);
}

SideContents SetContents::after(size_t index) {
  const Change& change = set_.changes.changes[index];
  if (!is_kind(change.after, FileKind::file) || change.tree >= trees_.size()) return {};
  if (is_in_project(set_, index)) return or_later(read_placed(change), change, *change.after);
  const int source = trees_[change.tree].source.get();
  const SideContents waiting =
      source < 0 ? SideContents{{}, not_kept} : read(source, change.path, &*change.after, not_kept);
  return or_later(waiting, change, *change.after);  // one that was taken back is kept by its undo
}

}  // namespace cloche
