#include "store/layers/conflicts.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/sys/sys.hpp"
#include "policy/protected/git_index.hpp"
#include "store/layers/directory_origin.hpp"
#include "store/layers/layer_entry.hpp"
#include "store/layers/open_writers.hpp"
#include "store/workspace/safe_walk.hpp"

namespace cloche {
namespace {

constexpr size_t longest_index = 256U << 20U;

// Whether it is still what the list was made from.
bool is_as_read(const FileState& before, const FileState& now) {
  if (before.kind != now.kind || before.mode != now.mode || before.uid != now.uid || before.gid != now.gid)
    return false;
  if (now.kind == FileKind::directory) return true;  // its times move with every name in it
  return before.size == now.size && before.modified_ns == now.modified_ns && before.link == now.link;
}

// The host and the call made the same of it, at different times.
bool is_equal_but_for_times(const Change& change) {
  Difference differs = change.differs;
  differs.times = false;
  return change.kind == ChangeKind::changed && !differs.any();
}

// What the conflicts of one path depend on of the other paths of the set.
struct OtherChanges {
  // Of the files that the call itself took away: when each was written last, and its size.
  std::set<std::pair<int64_t, uint64_t>> deleted = {};
  // The directories of each tree beneath which something changed that was there before the call.
  std::set<TreePath> had_changes = {};

  static OtherChanges of(const ChangeSet& set);
};

// The conflicts of one tree.
class ConflictSearch {
 public:
  ConflictSearch(const TreeLayers& layers, const CallStart& start, std::span<const HeldIndex> indexes,
                 std::vector<Conflict>& into, const OtherChanges& others)
      : layers_(layers), start_(start), indexes_(indexes), into_(into), others_(others) {}

  void check(const Change& change);
  // What the index that the call changed is in the project by now; nothing: it is none, or the host did more.
  std::optional<FileState> refreshed_index(const Change& change);

 private:
  // A directory of the lower layer that changes lie in.
  enum class Standing {
    there,
    absent,       // as it should be: the call created it
    conflicting,  // has been said
  };

  Standing standing_of(const std::string& directory);
  Standing look_at_directory(const std::string& directory);
  bool enter(std::string_view directory);
  void check_created(const Change& change);
  void check_existing(const Change& change);
  void check_root(const Change& change);
  void check_writers(const Change& change, const struct stat& seen);
  bool is_touched(const Change& change, const struct stat& seen, const FileState& now) const;
  bool is_since_start(const struct stat& seen) const;
  bool have_names_moved(std::string_view directory) const;
  bool may_be_another(const std::string& directory, int now, const struct stat& seen) const;
  bool was_copied_up(const std::string& path) const;
  bool is_only_refreshed_index(const Change& change) const;
  void add(const std::string& path, std::string_view what);

  const TreeLayers& layers_;
  const CallStart& start_;
  std::span<const HeldIndex> indexes_;
  std::vector<Conflict>& into_;
  const OtherChanges& others_;
  size_t tree_ = 0;

  std::unordered_map<std::string, Standing> directories_ = {};
  std::unordered_set<std::string> not_below_ = {};  // the lower layer has no directory there
  std::unordered_set<std::string> said_ = {};
  std::optional<bool> leases_tell_ = {};  // asked when it matters
  // The directory of the last path, in the lower layer.
  std::string at_ = {};
  OwnedFd at_fd_ = {};
  std::string name_ = {};
};

void ConflictSearch::add(const std::string& path, std::string_view what) {
  if (said_.insert(path).second) into_.push_back({tree_, path, std::string(what)});
}

bool ConflictSearch::is_since_start(const struct stat& seen) const {
  return is_since(start_, nanoseconds(seen.st_ctim));
}

bool ConflictSearch::have_names_moved(std::string_view directory) const {
  const OwnedFd fd = open_descendant(layers_.lower, directory, O_PATH | O_DIRECTORY);
  struct stat seen {};
  return !fd || ::fstat(fd.get(), &seen) != 0 || is_since(start_, nanoseconds(seen.st_mtim));
}

// Whether the host may have put another directory in the place of the one that the call had. Where the kernel
// has noted which one that was, it is known. Otherwise the times tell: of a directory whose names changed
// both have moved; of one that was renamed into its place, or given another mode, only the time of change.
// Names that moved in it explain its times; but if names moved around it as well, it may be another one. That
// is no harm where the call only made something new in it: it would be there in any case.
bool ConflictSearch::may_be_another(const std::string& directory, int now, const struct stat& seen) const {
  if (!is_since_start(seen)) return false;
  if (const auto same = is_made_from(layers_.upper, directory, layers_.attributes, now)) return !*same;
  if (!is_since(start_, nanoseconds(seen.st_mtim))) return true;
  return have_names_moved(directory_in(directory)) && others_.had_changes.contains({tree_, directory});
}

// A host's edit of a file in it moves none of its times.
ConflictSearch::Standing ConflictSearch::look_at_directory(const std::string& directory) {
  if (not_below_.contains(directory)) return Standing::absent;
  const OwnedFd fd = open_descendant(layers_.lower, directory, O_PATH | O_DIRECTORY);
  struct stat seen {};
  if (fd && ::fstat(fd.get(), &seen) == 0) {
    if (!may_be_another(directory, fd.get(), seen)) return Standing::there;
    add(directory, conflict::directory_replaced);
  } else {
    add(directory, is_absent(errno) ? conflict::directory_replaced : conflict::unreadable);
  }
  return Standing::conflicting;
}

// From the top down, and each directory once. The root itself is held, so it is the one that the call had.
ConflictSearch::Standing ConflictSearch::standing_of(const std::string& directory) {
  if (directory.empty()) return Standing::there;
  if (const auto known = directories_.find(directory); known != directories_.end()) return known->second;
  size_t slash = directory.rfind('/');
  while (slash != std::string::npos && !directories_.contains(directory.substr(0, slash)))
    slash = slash == 0 ? std::string::npos : directory.rfind('/', slash - 1);
  Standing standing =
      slash == std::string::npos ? Standing::there : directories_.at(directory.substr(0, slash));
  while (slash != directory.size()) {
    slash = std::min(directory.size(), directory.find('/', slash == std::string::npos ? 0 : slash + 1));
    const std::string prefix = directory.substr(0, slash);
    if (standing == Standing::there) standing = look_at_directory(prefix);
    directories_.emplace(prefix, standing);
  }
  return standing;
}

bool ConflictSearch::enter(std::string_view directory) {
  if (at_fd_ && at_ == directory) return true;
  at_fd_ = open_descendant(layers_.lower, directory, O_PATH | O_DIRECTORY);
  at_ = directory;
  return static_cast<bool>(at_fd_);
}

// The overlay's note says that it came from the lower layer, though not from which path there.
bool ConflictSearch::was_copied_up(const std::string& path) const {
  const OwnedFd directory = open_descendant(layers_.upper, directory_in(path), O_PATH | O_DIRECTORY);
  if (!directory) return false;
  const std::string name = last_of(path);
  const auto names = attribute_names({directory.get(), name.c_str()});
  return names.ok() && overlay_marks(names.value(), layers_.attributes).origin;
}

// What the call changed and the host deleted looks like something new: the lower layer has it no more. It is
// one that came from the lower layer, in a directory whose names the host changed.
void ConflictSearch::check_created(const Change& change) {
  if (look_in(at_fd_.get(), name_)) return add(change.path, conflict::created);
  if (errno != ENOENT) return add(change.path, conflict::unreadable);
  const auto directory = look_in(at_fd_.get(), ".");
  // Or the call has moved it here from another place.
  const bool is_moved = others_.deleted.contains({change.after->modified_ns, change.after->size});
  if (directory && is_since_start(*directory) && !is_moved && was_copied_up(change.path))
    add(change.path, conflict::deleted);
}

std::optional<std::string> read_index_at(int root, const std::string& path) {
  const OwnedFd fd = open_descendant(root, path, O_RDONLY);
  struct stat seen {};
  if (!fd || ::fstat(fd.get(), &seen) != 0 || !S_ISREG(seen.st_mode)) return std::nullopt;
  auto text = sys::read_all(fd.get(), longest_index);
  return text ? std::optional(std::move(text).value()) : std::nullopt;
}

std::optional<std::string> read_held(const OwnedFd& file) {
  struct stat seen {};
  if (!file || ::fstat(file.get(), &seen) != 0 || seen.st_size > static_cast<off_t>(longest_index))
    return std::nullopt;
  std::string text(static_cast<size_t>(seen.st_size), '\0');
  const ssize_t got = ::pread(file.get(), text.data(), text.size(), 0);
  return got == static_cast<ssize_t>(text.size()) ? std::optional(std::move(text)) : std::nullopt;
}

// The host's git only noted anew what the files look like on the disk: the project's index is still the one
// that the call began with, or the one that it made.
bool ConflictSearch::is_only_refreshed_index(const Change& change) const {
  if (name_ != "index" || !look_in(at_fd_.get(), "HEAD")) return false;
  const auto now = read_index_at(layers_.lower, change.path);
  if (!now) return false;
  for (const HeldIndex& held : indexes_) {
    if (held.tree != change.tree || held.path != change.path) continue;
    struct stat seen {};
    const bool written_in_place =
        !held.file || ::fstat(held.file.get(), &seen) != 0 || is_since(start_, nanoseconds(seen.st_mtim));
    if (written_in_place) continue;
    const auto then = read_held(held.file);
    if (then && is_same_index(*then, *now)) return true;
  }
  if (change.kind != ChangeKind::changed) return false;
  const auto ours = read_index_at(layers_.upper, change.path);
  return ours && is_same_index(*ours, *now);
}

bool ConflictSearch::is_touched(const Change& change, const struct stat& seen, const FileState& now) const {
  const bool as_read = is_as_read(*change.before, now);
  if (as_read && (!is_since_start(seen) || is_equal_but_for_times(change))) return false;
  return !is_only_refreshed_index(change);
}

std::optional<FileState> ConflictSearch::refreshed_index(const Change& change) {
  name_ = last_of(change.path);
  if (!enter(directory_in(change.path))) return std::nullopt;
  const auto seen = look_in(at_fd_.get(), name_);
  if (!seen) return std::nullopt;
  const FileState now = state_of({at_fd_.get(), name_.c_str()}, *seen);
  return is_only_refreshed_index(change) ? std::optional(now) : std::nullopt;
}

void ConflictSearch::check_writers(const Change& change, const struct stat& seen) {
  if (!S_ISREG(seen.st_mode)) return;
  const OwnedFd fd = open_child(at_fd_.get(), name_.c_str(), O_RDONLY);
  if (!fd || ask_lease(fd.get()) != LeaseAnswer::open_for_writing) return;
  if (!leases_tell_) leases_tell_ = grants_leases(layers_.upper);
  if (*leases_tell_) add(change.path, conflict::open_for_writing);
}

void ConflictSearch::check_existing(const Change& change) {
  const auto seen = look_in(at_fd_.get(), name_);
  if (!seen) return add(change.path, errno == ENOENT ? conflict::deleted : conflict::unreadable);
  const FileState now = state_of({at_fd_.get(), name_.c_str()}, *seen);
  if (is_touched(change, *seen, now)) return add(change.path, conflict::changed);
  check_writers(change, *seen);
}

void ConflictSearch::check_root(const Change& change) {
  struct stat seen {};
  if (::fstat(layers_.lower, &seen) != 0) return add("", conflict::unreadable);
  const FileState now = state_of({layers_.lower, "."}, seen);
  if (!is_as_read(*change.before, now) || is_since_start(seen)) add("", conflict::changed);
}

void ConflictSearch::check(const Change& change) {
  tree_ = change.tree;
  if (makes_directory(change)) not_below_.insert(change.path);
  if (change.path.empty()) return check_root(change);
  const std::string parent(directory_in(change.path));
  const Standing standing = standing_of(parent);
  if (standing == Standing::absent) return;
  name_ = last_of(change.path);
  if (!enter(parent)) {
    if (standing == Standing::there) add(change.path, conflict::unreadable);
    return;  // otherwise the directory has been said
  }
  return change.kind == ChangeKind::created ? check_created(change) : check_existing(change);
}

OtherChanges OtherChanges::of(const ChangeSet& set) {
  OtherChanges others;
  for (const Change& change : set.changes) {
    if (change.kind == ChangeKind::deleted && change.before)
      others.deleted.insert({change.before->modified_ns, change.before->size});
    if (change.kind == ChangeKind::created) continue;
    for (std::string_view at = change.path; !at.empty();) {
      at = directory_in(at);
      if (!others.had_changes.insert({change.tree, std::string(at)}).second) break;
    }
  }
  return others;
}

}  // namespace

HeldIndex hold_index(size_t tree, int lower, const std::string& path) {
  return {tree, path, open_descendant(lower, path, O_RDONLY)};
}

Result<std::vector<Conflict>> find_conflicts(std::span<const TreeLayers> trees, const ChangeSet& set,
                                             const CallStart& start, std::span<const HeldIndex> indexes) {
  std::vector<Conflict> found;
  if (clock_was_set(start, clock_offset_ns())) {
    for (const Change& change : set.changes)
      found.push_back({change.tree, change.path, std::string(conflict::clock_was_set)});
    return found;
  }
  const OtherChanges others = OtherChanges::of(set);
  std::vector<ConflictSearch> searches;
  for (const TreeLayers& layers : trees) searches.emplace_back(layers, start, indexes, found, others);
  for (const Change& change : set.changes) {
    if (change.tree >= searches.size())
      return Error{Cause::internal, "a change of a tree that is not in its set"};
    searches[change.tree].check(change);
  }
  return found;
}

IndexesNow take_refreshed_indexes(std::span<const TreeLayers> trees, ChangeSet& set, const CallStart& start,
                                  std::span<const HeldIndex> indexes) {
  IndexesNow answer = IndexesNow::none;
  std::vector<Conflict> none;
  const OtherChanges others;  // of no matter to the index alone
  for (Change& change : set.changes) {
    if (change.kind != ChangeKind::changed || last_of(change.path) != "index") continue;
    const auto now = ConflictSearch(trees[change.tree], start, indexes, none, others).refreshed_index(change);
    if (!now) return IndexesNow::none;
    if (!is_as_read(*change.before, *now)) answer = IndexesNow::refreshed;
    if (answer == IndexesNow::none) answer = IndexesNow::as_read;
    change.before = *now;
  }
  return answer;
}

}  // namespace cloche
