#include "store/layers/layer_reader.hpp"

#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <unordered_set>

#include "base/sys/sys.hpp"
#include "store/layers/layer_comparison.hpp"
#include "store/layers/layer_entry.hpp"
#include "store/workspace/safe_walk.hpp"

namespace cloche {
namespace {

// Which layers say what is in a directory.
enum class Scope {
  merged,    // the upper, on top of the lower
  replaced,  // the upper alone; what only the lower has is deleted
  created,   // the upper; the lower has no such directory
  deleted,   // the lower; the upper has no such directory
};

struct Waiting {
  std::string path;
  unsigned depth = 0;
  Scope scope = Scope::merged;
  bool has_file_whiteouts = false;
};

bool is_device_whiteout(const struct stat& seen) {
  return S_ISCHR(seen.st_mode) && seen.st_rdev == makedev(0, 0);
}

class TreeReader {
 public:
  TreeReader(size_t tree, const TreeLayers& layers, const ReadLimits& limits, uint64_t& entries_left,
             uint64_t& bytes_left, ReadChanges& into)
      : tree_(tree),
        layers_(layers),
        limits_(limits),
        entries_left_(entries_left),
        bytes_left_(bytes_left),
        into_(into) {}

  // False: a limit was reached.
  Result<bool> read();

 private:
  Result<void> read_root();
  Result<void> read_directory(const Waiting& directory);
  Result<void> read_names(const Waiting& directory);
  void delete_names(const std::unordered_set<std::string>& but);
  Result<void> add_upper(const char* name);
  void add_deleted(const char* name, const struct stat& lower);
  Result<void> add_pair(const char* name, const struct stat& upper, const struct stat& lower,
                        const std::string& names);
  Result<void> compare_pair(const LayerPair& pair, Change change);
  Result<FileState> upper_state(const LayerEntry& entry, const struct stat& seen, const OverlayMarks& marks);
  Result<void> enter_upper(const char* name, Scope scope, const OverlayMarks& marks);
  void wait_for(const std::string& path, Scope scope, bool has_file_whiteouts);
  bool open_upper(const Waiting& directory);
  bool open_lower(const Waiting& directory);
  std::string lower_attributes(const LayerEntry& entry);
  bool count_entry();
  void find(ReadProblem problem, const std::string& path, std::string what);
  void stop(ReadProblem problem, const std::string& path, std::string what);
  std::string path_of(const char* name) const { return is_dots(name) ? *path_ : joined(*path_, name); }

  size_t tree_;
  const TreeLayers& layers_;
  const ReadLimits& limits_;
  uint64_t& entries_left_;
  uint64_t& bytes_left_;
  ReadChanges& into_;
  bool stopped_ = false;
  std::vector<Waiting> waiting_ = {};

  // The directory that is being read.
  const std::string* path_ = nullptr;
  unsigned depth_ = 0;
  Scope scope_ = Scope::merged;
  bool has_file_whiteouts_ = false;
  OwnedFd upper_ = {};
  OwnedFd lower_ = {};
};

void TreeReader::find(ReadProblem problem, const std::string& path, std::string what) {
  into_.findings.push_back({problem, tree_, path, std::move(what)});
}

void TreeReader::stop(ReadProblem problem, const std::string& path, std::string what) {
  find(problem, path, std::move(what));
  stopped_ = true;
}

bool TreeReader::count_entry() {
  if (entries_left_ == 0) {
    stop(ReadProblem::too_many_entries, *path_, std::to_string(limits_.entries));
    return false;
  }
  if (sys::monotonic_ms() >= limits_.until_ms) {
    stop(ReadProblem::too_slow, *path_, "");
    return false;
  }
  --entries_left_;
  return true;
}

void TreeReader::wait_for(const std::string& path, Scope scope, bool has_file_whiteouts) {
  if (depth_ >= limits_.depth) return stop(ReadProblem::too_deep, path, std::to_string(limits_.depth));
  waiting_.push_back({path, depth_ + 1, scope, has_file_whiteouts});
}

// Opens what the call closed, and writes down how the call left it. The attribute comes second because
// nothing can be written to a directory that is closed; a reading that is killed between the two is not
// resumed.
bool TreeReader::open_upper(const Waiting& directory) {
  const bool is_root = directory.path.empty();
  const auto open_it = [&] { return open_descendant(layers_.upper, directory.path, directory_flags); };
  const auto can_be_searched = [](const OwnedFd& fd) { return look_in(fd.get(), ".").has_value(); };
  upper_ = open_it();
  if (upper_ && can_be_searched(upper_)) return true;
  if (!upper_ && errno != EACCES) {
    find(ReadProblem::upper_unreadable, directory.path, system_error("open it").what.text());
    return false;
  }
  const OwnedFd by_path =
      is_root ? OwnedFd() : open_descendant(layers_.upper, directory.path, O_PATH | O_DIRECTORY);
  const int held = is_root ? layers_.upper : by_path.get();
  struct stat seen {};
  bool opened = held >= 0 && ::fstat(held, &seen) == 0 && set_mode(held, (seen.st_mode & 07777U) | 0700U);
  upper_ = opened ? open_it() : OwnedFd();
  if (upper_) {
    const std::string attribute = saved_mode_attribute(layers_.attributes);
    char mode[8];
    const auto length = std::to_chars(mode, mode + sizeof mode, seen.st_mode & 07777U, 8).ptr - mode;
    // XATTR_CREATE: what the call left is what the first reading found.
    opened =
        ::fsetxattr(upper_.get(), attribute.c_str(), mode, static_cast<size_t>(length), XATTR_CREATE) == 0 ||
        errno == EEXIST;
  }
  if (upper_ && opened) return true;
  find(ReadProblem::upper_unreadable, directory.path, system_error("open it to its owner").what.text());
  upper_ = OwnedFd();
  return false;
}

// Of a merged directory only single names are looked up, so the right to search it is enough.
bool TreeReader::open_lower(const Waiting& directory) {
  const bool lists = directory.scope != Scope::merged;
  lower_ = open_descendant(layers_.lower, directory.path, lists ? directory_flags : O_PATH | O_DIRECTORY);
  if (lower_ && look_in(lower_.get(), ".")) return true;
  // Gone, or something else by now: the host did that meanwhile, and the search for conflicts says so.
  const bool is_gone = !lower_ && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP);
  if (!is_gone) find(ReadProblem::lower_unreadable, directory.path, system_error("open it").what.text());
  lower_ = OwnedFd();
  return is_gone;
}

// Their names. What would mislead an overlay is found on the way.
std::string TreeReader::lower_attributes(const LayerEntry& entry) {
  auto names = attribute_names(entry);
  if (!names) {
    if (names.error().number != ENOENT)
      find(ReadProblem::lower_unreadable, path_of(entry.name), describe(names.error()));
    return {};
  }
  std::string misleading = attribute_that_misleads(names.value(), layers_.attributes);
  if (!misleading.empty()) find(ReadProblem::lower_attribute, path_of(entry.name), std::move(misleading));
  return std::move(names).value();
}

void TreeReader::add_deleted(const char* name, const struct stat& lower) {
  const LayerEntry entry{lower_.get(), name};
  lower_attributes(entry);
  Change change{tree_, path_of(name), ChangeKind::deleted};
  change.before = state_of(entry, lower);
  if (S_ISDIR(lower.st_mode)) wait_for(change.path, Scope::deleted, false);
  into_.set.changes.push_back(std::move(change));
}

// The state as the call left it, also where a directory was opened since.
Result<FileState> TreeReader::upper_state(const LayerEntry& entry, const struct stat& seen,
                                          const OverlayMarks& marks) {
  FileState state = state_of(entry, seen);
  if (!marks.saved_mode) return state;
  const std::string saved = TRY(attribute_value(entry, saved_mode_attribute(layers_.attributes)));
  const auto read = std::from_chars(saved.data(), saved.data() + saved.size(), state.mode, 8);
  if (read.ec != std::errc() || state.mode > 07777)
    return Error{Cause::internal, "the saved mode of a directory is no mode"};
  return state;
}

Result<void> TreeReader::enter_upper(const char* name, Scope scope, const OverlayMarks& marks) {
  bool has_file_whiteouts = false;
  if (marks.opaque) {
    const std::string attribute = std::string(prefix_of(layers_.attributes)) + "opaque";
    const std::string value = TRY(attribute_value({upper_.get(), name}, attribute));
    has_file_whiteouts = value == opaque_has_whiteouts;
    if (value == opaque_is_whole && scope == Scope::merged) scope = Scope::replaced;
    if (value != opaque_is_whole && !has_file_whiteouts)
      find(ReadProblem::upper_attribute, path_of(name), attribute);
  }
  wait_for(path_of(name), scope, has_file_whiteouts);
  return {};
}

// A name that both layers have.
Result<void> TreeReader::add_pair(const char* name, const struct stat& upper, const struct stat& lower,
                                  const std::string& names) {
  const std::string below = lower_attributes({lower_.get(), name});
  const LayerPair pair{{upper_.get(), name}, {lower_.get(), name}, upper, lower, names, below};
  const OverlayMarks marks = overlay_marks(names, layers_.attributes);
  Change change{tree_, path_of(name), ChangeKind::changed};
  change.before = state_of(pair.lower, lower);
  change.after = TRY(upper_state(pair.upper, upper, marks));
  const bool was_directory = S_ISDIR(lower.st_mode);
  const bool is_directory = S_ISDIR(upper.st_mode);
  if (is_directory) {
    // What lies beneath a directory that hides its lower one is not merged either.
    const Scope scope = !was_directory ? Scope::created : scope_;
    if (auto entered = enter_upper(name, scope, marks); !entered) return entered;
  } else if (was_directory) {
    wait_for(change.path, Scope::deleted, false);
  }
  return compare_pair(pair, std::move(change));
}

Result<void> TreeReader::compare_pair(const LayerPair& pair, Change change) {
  const auto compared = compare_layers(pair, *change.before, *change.after, bytes_left_);
  switch (compared.obstacle) {
    case ComparisonObstacle::none: break;
    case ComparisonObstacle::over_budget:
      stop(ReadProblem::too_much_to_compare, change.path, std::to_string(limits_.compared_bytes));
      return {};
    case ComparisonObstacle::upper: find(ReadProblem::upper_unreadable, change.path, compared.why); break;
    case ComparisonObstacle::lower: find(ReadProblem::lower_unreadable, change.path, compared.why); break;
  }
  change.differs = compared.differs;
  if (change.differs.any()) into_.set.changes.push_back(std::move(change));
  return {};
}

Result<void> TreeReader::add_upper(const char* name) {
  if (!count_entry()) return {};
  const auto upper = look_in(upper_.get(), name);
  if (!upper) return system_error("look at a file of the upper layer");
  std::optional<struct stat> lower;
  if (lower_) {
    lower = look_in(lower_.get(), name);
    if (!lower && errno != ENOENT)
      find(ReadProblem::lower_unreadable, path_of(name), system_error("look at it").what.text());
  }
  const auto delete_lower = [&] {
    if (lower) add_deleted(name, *lower);
    return Result<void>();
  };
  if (is_device_whiteout(*upper)) return delete_lower();

  const LayerEntry entry{upper_.get(), name};
  const ReadableForNow readable(entry, *upper);
  const std::string names = TRY(attribute_names(entry));
  const OverlayMarks marks = overlay_marks(names, layers_.attributes);
  if (marks.whiteout && has_file_whiteouts_ && S_ISREG(upper->st_mode) && upper->st_size == 0)
    return delete_lower();
  if (marks.whiteout) find(ReadProblem::upper_attribute, path_of(name), "whiteout");
  if (!marks.unexpected.empty()) find(ReadProblem::upper_attribute, path_of(name), marks.unexpected);
  if (lower) return add_pair(name, *upper, *lower, names);

  Change change{tree_, path_of(name), ChangeKind::created};
  change.after = TRY(upper_state(entry, *upper, marks));
  into_.set.changes.push_back(std::move(change));
  return S_ISDIR(upper->st_mode) ? enter_upper(name, Scope::created, marks) : Result<void>();
}

// Every name of the lower directory but these.
void TreeReader::delete_names(const std::unordered_set<std::string>& but) {
  const bool read = for_each_name(lower_.get(), [&](const dirent& entry) {
    if (but.contains(entry.d_name)) return true;
    if (!count_entry()) return false;
    const auto lower = look_in(lower_.get(), entry.d_name);
    if (lower) {
      add_deleted(entry.d_name, *lower);
    } else if (errno != ENOENT) {
      find(ReadProblem::lower_unreadable, path_of(entry.d_name), system_error("look at it").what.text());
    }
    return !stopped_;
  });
  if (!read) find(ReadProblem::lower_unreadable, *path_, system_error("read it").what.text());
}

Result<void> TreeReader::read_names(const Waiting& directory) {
  std::unordered_set<std::string> seen;
  if (upper_) {
    Result<void> added;
    const bool read = for_each_name(upper_.get(), [&](const dirent& entry) {
      if (directory.scope == Scope::replaced) seen.insert(entry.d_name);
      added = add_upper(entry.d_name);
      return added.ok() && !stopped_;
    });
    if (!added) return added;
    if (!read) return system_error("read a directory of the upper layer");
  }
  const bool lists_lower = directory.scope == Scope::replaced || directory.scope == Scope::deleted;
  if (lists_lower && lower_ && !stopped_) delete_names(seen);
  return {};
}

Result<void> TreeReader::read_directory(const Waiting& directory) {
  path_ = &directory.path;
  depth_ = directory.depth;
  scope_ = directory.scope;
  has_file_whiteouts_ = directory.has_file_whiteouts;
  upper_ = OwnedFd();
  lower_ = OwnedFd();
  if (directory.scope != Scope::deleted && !open_upper(directory)) return {};
  if (directory.scope != Scope::created && !open_lower(directory)) return {};
  return read_names(directory);
}

// The root of a tree can only change its mode and attributes. Its owner in the layer is who made the layer,
// and a call can give it to no other.
Result<void> TreeReader::read_root() {
  const Waiting root{"", 0, Scope::merged, false};
  struct stat upper {};
  struct stat lower {};
  if (::fstat(layers_.upper, &upper) != 0 || ::fstat(layers_.lower, &lower) != 0)
    return system_error("look at the root of a layer");
  upper.st_uid = lower.st_uid;
  upper.st_gid = lower.st_gid;
  // Nor the mode, where it is not the caller's own.
  if (layers_.attributes == OverlayAttributes::user_namespace && lower.st_uid != ::geteuid())
    upper.st_mode = lower.st_mode;
  path_ = &root.path;
  if (!open_upper(root) || !open_lower(root)) return {};
  const LayerEntry entry{upper_.get(), "."};
  const std::string names = TRY(attribute_names(entry));
  const OverlayMarks marks = overlay_marks(names, layers_.attributes);
  if (!marks.unexpected.empty() || marks.opaque || marks.whiteout)
    find(ReadProblem::upper_attribute, "", marks.unexpected.empty() ? "opaque" : marks.unexpected);
  const std::string below = lower_attributes({lower_.get(), "."});
  const LayerPair pair{entry, {lower_.get(), "."}, upper, lower, names, below};
  Change change{tree_, "", ChangeKind::changed};
  change.before = state_of(pair.lower, lower);
  change.after = TRY(upper_state(entry, upper, marks));
  if (auto compared = compare_pair(pair, std::move(change)); !compared) return compared;
  return read_names(root);
}

Result<bool> TreeReader::read() {
  if (auto root = read_root(); !root) return std::move(root).take_error();
  while (!waiting_.empty() && !stopped_) {
    const Waiting directory = std::move(waiting_.back());
    waiting_.pop_back();
    if (auto done = read_directory(directory); !done) return std::move(done).take_error();
  }
  return !stopped_;
}

// By numbers first: a change is large, and moving it about costs more than comparing its path.
void sort_by_path(std::vector<Change>& changes, size_t from) {
  std::vector<size_t> order(changes.size() - from);
  std::iota(order.begin(), order.end(), from);
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return changes[a].path < changes[b].path; });
  std::vector<Change> sorted;
  sorted.reserve(order.size());
  for (const size_t at : order) sorted.push_back(std::move(changes[at]));
  std::move(sorted.begin(), sorted.end(), changes.begin() + static_cast<std::ptrdiff_t>(from));
}

}  // namespace

std::string_view name_of(ReadProblem problem) {
  switch (problem) {
    case ReadProblem::too_many_entries: return "too-many-entries";
    case ReadProblem::too_slow: return "too-slow";
    case ReadProblem::too_deep: return "too-deep";
    case ReadProblem::too_much_to_compare: return "too-much-to-compare";
    case ReadProblem::upper_attribute: return "upper-attribute";
    case ReadProblem::lower_attribute: return "lower-attribute";
    case ReadProblem::lower_unreadable: return "lower-unreadable";
    case ReadProblem::upper_unreadable: return "upper-unreadable";
  }
  return "";
}

Result<ReadChanges> read_changes(std::span<const TreeLayers> trees, const ReadLimits& limits) {
  ReadChanges read;
  for (const TreeLayers& layers : trees) read.set.trees.push_back(layers.tree);
  uint64_t entries_left = limits.entries;
  uint64_t bytes_left = limits.compared_bytes;
  for (size_t tree = 0; tree < trees.size(); ++tree) {
    const size_t from = read.set.changes.size();
    const bool whole = TRY(TreeReader(tree, trees[tree], limits, entries_left, bytes_left, read).read());
    sort_by_path(read.set.changes, from);
    if (!whole) break;
  }
  return read;
}

Result<void> close_directories(std::span<const TreeLayers> trees, const ChangeSet& set) {
  // What is in a directory comes behind it in the set, and has to be closed first.
  for (auto change = set.changes.rbegin(); change != set.changes.rend(); ++change) {
    const bool is_closed = is_directory(change->after) && (change->after->mode & 0700U) != 0700U;
    if (!is_closed) continue;
    const OwnedFd held = open_descendant(trees[change->tree].upper, change->path, O_PATH | O_DIRECTORY);
    // A later call may give the directory another mode.
    const std::string saved = saved_mode_attribute(trees[change->tree].attributes);
    if (held) (void)::removexattr(("/proc/self/fd/" + std::to_string(held.get())).c_str(), saved.c_str());
    if (!held || !set_mode(held.get(), change->after->mode))
      return system_error("close a directory of the layer again");
  }
  return {};
}

}  // namespace cloche
