#include "store/commit/commit_check.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/text/visible_text.hpp"
#include "store/commit/known_directory.hpp"
#include "store/commit/layer_walk.hpp"
#include "store/commit/tree_directories.hpp"
#include "store/layers/layer_entry.hpp"

namespace cloche {
namespace {

bool is_frozen(int directory, const char* name) {
  struct statx seen {};
  const int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | (*name == '\0' ? AT_EMPTY_PATH : 0);
  return ::statx(directory, name, flags, STATX_BASIC_STATS, &seen) == 0 &&
         (seen.stx_attributes & (STATX_ATTR_IMMUTABLE | STATX_ATTR_APPEND)) != 0;
}

std::vector<gid_t> own_groups() {
  std::vector<gid_t> groups(static_cast<size_t>(std::max(0, ::getgroups(0, nullptr))));
  groups.resize(
      static_cast<size_t>(std::max(0, ::getgroups(static_cast<int>(groups.size()), groups.data()))));
  return groups;
}

class CommitCheck {
 public:
  CommitCheck(std::span<const CommitTree> trees, std::vector<Step> steps)
      : trees_(trees), steps_(std::move(steps)), directories_(trees) {}
  ~CommitCheck() { close_again(); }
  CommitCheck(const CommitCheck&) = delete;
  CommitCheck& operator=(const CommitCheck&) = delete;

  Committed run();

 private:
  struct Opened {
    size_t tree;
    StepSide side;
    std::string path;
    FileState state;
  };
  // What is known of the directory that the last step of a side worked in.
  struct Parent {
    int fd = -1;
    struct stat seen {};
    bool is_usable = false;
  };

  void refuse(const Step& step, const std::string& why);
  void refuse_errno(const Step& step, const std::string& doing, int number = errno);
  bool check_mounts();
  void check_step(Step& step, const Step* previous);
  void check_target(Step& step, const Parent& parent);
  void check_old(Step& step, const Parent& parent, const struct stat& seen);
  void check_kept_link(const Step& step, const Parent& parent, const struct stat& seen);
  void check_old_directory(const Step& step, const Parent& parent);
  void check_copy(const Step& step, const struct stat& seen, const std::string& below = {});
  void check_settled(Step& step);
  void check_source(Step& step);
  void check_source_directory(const Step& step, const Parent& parent);

  const Parent& parent_of(const Step& step, StepSide side, std::string_view path);
  void look_at_parent(Parent& parent, const Step& step, StepSide side, std::string_view path);
  int open_step_by_step(size_t tree, StepSide side, std::string_view path);
  bool let_in(size_t tree, StepSide side, std::string_view path);
  void close_again();
  void add_opening_steps(Committed& answer);

  std::span<const CommitTree> trees_;
  std::vector<Step> steps_;
  TreeDirectories directories_;
  std::set<TreePath> made_ = {};  // directories that a step makes
  std::vector<Opened> opened_ = {};
  std::vector<Message> reasons_ = {};
  const std::vector<gid_t> groups_ = own_groups();  // besides the first one
  Parent parents_[2] = {};
  TreePath parent_paths_[2] = {{SIZE_MAX, ""}, {SIZE_MAX, ""}};
};

void CommitCheck::refuse(const Step& step, const std::string& why) {
  reasons_.push_back("'" + shown(step.path) + "' " + why);
}

void CommitCheck::refuse_errno(const Step& step, const std::string& doing, int number) {
  reasons_.push_back(system_error(doing + " '" + shown(step.path) + "'", number).what);
}

bool CommitCheck::check_mounts() {
  for (const CommitTree& tree : trees_) {
    if (!are_on_one_mount(tree.undo, tree.project)) {
      reasons_.emplace_back("the undo directory is on another mount than the project");
    } else if (tree.transfer == Transfer::rename && !are_on_one_mount(tree.source, tree.project)) {
      reasons_.emplace_back("the changes are on another mount than the project");
    }
  }
  return reasons_.empty();
}

// Opens, for the time of the check, what its owner has closed on the way.
int CommitCheck::open_step_by_step(size_t tree, StepSide side, std::string_view path) {
  const int fd = directories_.open(tree, side, path);
  if (fd >= 0 || errno != EACCES) return fd;
  for (size_t end = path.find('/');; end = path.find('/', end + 1)) {
    const std::string_view part = path.substr(0, end);
    if (end == std::string_view::npos) break;
    const OwnedFd there = open_descendant(directories_.root(tree, side), part, O_PATH | O_DIRECTORY);
    const bool is_open = there && ::faccessat(there.get(), ".", X_OK, AT_EACCESS) == 0;
    if (!is_open && !let_in(tree, side, part)) return -1;
  }
  return directories_.open(tree, side, path);
}

bool CommitCheck::let_in(size_t tree, StepSide side, std::string_view path) {
  const OwnedFd there = open_descendant(directories_.root(tree, side), path, O_PATH | O_DIRECTORY);
  struct stat seen {};
  if (!there || ::fstat(there.get(), &seen) != 0) return false;
  errno = EACCES;
  if (seen.st_uid != ::geteuid()) return false;
  if (!set_mode(there.get(), (seen.st_mode & 07777U) | S_IRWXU)) return false;
  opened_.push_back({tree, side, std::string(path), state_of(seen)});
  return true;
}

void CommitCheck::look_at_parent(Parent& parent, const Step& step, StepSide side, std::string_view path) {
  parent = {};
  parent.fd = open_step_by_step(step.tree, side, path);
  if (parent.fd < 0) return refuse_errno(step, "open the directory of");
  if (::fstat(parent.fd, &parent.seen) != 0) return refuse_errno(step, "look at the directory of");
  if (is_frozen(parent.fd, "")) return refuse(step, "is in a directory that is immutable or append-only");
  parent.is_usable = ::faccessat(parent.fd, ".", W_OK | X_OK, AT_EACCESS) == 0;
  if (!parent.is_usable && errno == EACCES) parent.is_usable = let_in(step.tree, side, path);
  if (!parent.is_usable) refuse_errno(step, "write to the directory of");
}

const CommitCheck::Parent& CommitCheck::parent_of(const Step& step, StepSide side, std::string_view path) {
  const size_t which = side == StepSide::project ? 0 : 1;
  auto& [tree, known] = parent_paths_[which];
  if (tree != step.tree || known != path || !parents_[which].is_usable) {
    look_at_parent(parents_[which], step, side, path);
    tree = step.tree;
    known = path;
  }
  return parents_[which];
}

// As fs.protected_hardlinks has it: one's own file, or one that could be rewritten anyway.
void CommitCheck::check_kept_link(const Step& step, const Parent& parent, const struct stat& seen) {
  if (!is_bound_by_modes() || seen.st_uid == ::geteuid()) return;
  const bool is_plain = S_ISREG(seen.st_mode) && (seen.st_mode & (S_ISUID | S_ISGID)) == 0;
  const auto name = last_of(step.path);
  if (is_plain && ::faccessat(parent.fd, name.c_str(), R_OK | W_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW) == 0)
    return;
  refuse(step, "belongs to another user");
}

// Only root can give a copy another owner. One reason is enough.
void CommitCheck::check_copy(const Step& step, const struct stat& seen, const std::string& below) {
  if (trees_[step.tree].keeping != Transfer::copy || !is_bound_by_modes() || !reasons_.empty()) return;
  const bool has_group =
      seen.st_gid == ::getegid() || std::ranges::find(groups_, seen.st_gid) != groups_.end();
  if (seen.st_uid == ::geteuid() && has_group) return;
  refuse(step,
         (below.empty() ? "belongs" : "holds '" + shown(below) + "', which belongs") +
             std::string(" to another user or group, and could not be kept so for an undo, because the state "
                         "directory is on another mount"));
}

void CommitCheck::check_old_directory(const Step& step, const Parent& parent) {
  uint64_t entries = 1;
  bool is_complete = true;
  // What is closed is not opened for a count: such a directory takes its entries along unseen.
  const bool looks_at_all = trees_[step.tree].keeping == Transfer::copy;
  const auto walked = walk_below(parent.fd, last_of(step.path), ClosedDirectory::passed,
                                 [&](const WalkedEntry& entry) -> Result<void> {
                                   ++entries;
                                   if (!is_bound_by_modes() || (entry.type != DT_DIR && !looks_at_all))
                                     return {};
                                   const auto seen = look_in(entry.directory, entry.name);
                                   if (!seen || (S_ISDIR(seen->st_mode) && (seen->st_mode & 0500U) != 0500U))
                                     is_complete = false;
                                   if (seen) check_copy(step, *seen, joined(entry.in, entry.name));
                                   return {};
                                 });
  if (!walked.ok()) return (void)reasons_.push_back(walked.error().what);
  const auto top = look_in(parent.fd, last_of(step.path));
  if (is_bound_by_modes() && top && (top->st_mode & 0500U) != 0500U) is_complete = false;
  if (entries > step.entries || (is_complete && entries != step.entries))
    refuse(step, "holds other entries than the change set says");
}

void CommitCheck::check_old(Step& step, const Parent& parent, const struct stat& seen) {
  const auto name = last_of(step.path);
  step.old = seen.st_ino;
  const std::string why = mismatch({parent.fd, name.c_str()}, seen, *step.before);
  if (!why.empty()) return refuse(step, why);
  if (is_frozen(parent.fd, name.c_str())) return refuse(step, "is immutable or append-only");
  const uid_t self = ::geteuid();
  const bool is_ours = seen.st_uid == self || parent.seen.st_uid == self;
  if (is_bound_by_modes() && (parent.seen.st_mode & S_ISVTX) != 0 && !is_ours)
    return refuse(step, "belongs to another user in a sticky directory");
  if (step.kind == StepKind::replace) check_kept_link(step, parent, seen);
  check_copy(step, seen);
  if (step.kind == StepKind::replace || !S_ISDIR(seen.st_mode)) return;
  if (is_bound_by_modes() && seen.st_uid != self &&
      ::faccessat(parent.fd, name.c_str(), W_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW) != 0)
    return refuse(step, "belongs to another user");
  check_old_directory(step, parent);
}

void CommitCheck::check_target(Step& step, const Parent& parent) {
  const auto seen = look_in(parent.fd, last_of(step.path));
  const bool needs_old = step.before.has_value();
  if (!seen && errno != ENOENT) return refuse_errno(step, "look at");
  if (needs_old && !seen) return refuse(step, "is no longer there");
  if (!needs_old && seen) return refuse(step, "is there by now");
  if (seen) check_old(step, parent, *seen);
}

void CommitCheck::check_source_directory(const Step& step, const Parent& parent) {
  uint64_t entries = 1;
  const auto count = [&](const WalkedEntry&) -> Result<void> {
    ++entries;
    return {};
  };
  const auto walked = walk_below(parent.fd, last_of(step.from), ClosedDirectory::opened, count);
  if (!walked.ok()) return (void)reasons_.push_back(walked.error().what);
  if (entries != step.entries) refuse(step, "holds other new entries than the change set says");
}

void CommitCheck::check_source(Step& step) {
  const Parent& parent = parent_of(step, StepSide::source, directory_in(step.from));
  if (!parent.is_usable) return;
  const auto name = last_of(step.from);
  const auto seen = look_in(parent.fd, name);
  if (!seen) return refuse_errno(step, "find the new");
  const std::string why = mismatch({parent.fd, name.c_str()}, *seen, *step.after);
  if (!why.empty()) return refuse(step, "has changed since it was judged: it " + why);
  step.fresh = seen->st_ino;
  if (S_ISDIR(seen->st_mode)) check_source_directory(step, parent);
}

void CommitCheck::check_settled(Step& step) {
  if (made_.contains({step.tree, step.path})) return;
  const int fd = open_step_by_step(step.tree, StepSide::project, step.path);
  struct stat seen {};
  if (fd < 0 || ::fstat(fd, &seen) != 0) return refuse_errno(step, "open the directory");
  step.old = seen.st_ino;
  FileState now = state_of(seen);
  for (const Opened& opened : opened_) {
    if (opened.side == StepSide::project && opened.tree == step.tree && opened.path == step.path)
      now = opened.state;
  }
  if (step.before && (now.mode != step.before->mode || now.uid != step.before->uid))
    return refuse(step, "has another mode or owner by now");
  if (is_bound_by_modes() && seen.st_uid != ::geteuid()) refuse(step, "belongs to another user");
  if (is_frozen(fd, "")) refuse(step, "is immutable or append-only");
}

void CommitCheck::check_step(Step& step, const Step* previous) {
  if (step.kind == StepKind::settle_directory) return check_settled(step);
  if (!step.from.empty()) check_source(step);
  const std::string directory(directory_in(step.path));
  if (step.kind == StepKind::make_directory) made_.insert({step.tree, step.path});
  if (made_.contains({step.tree, directory})) return;
  const Parent& parent = parent_of(step, StepSide::project, directory);
  if (!parent.is_usable) return;
  step.parent = parent.seen.st_ino;
  const bool is_freed = previous != nullptr && previous->kind == StepKind::remove &&
                        previous->tree == step.tree && previous->path == step.path;
  if (!is_freed) check_target(step, parent);
}

void CommitCheck::close_again() {
  for (size_t i = opened_.size(); i-- > 0;) {
    const Opened& opened = opened_[i];
    const int root = directories_.root(opened.tree, opened.side);
    const OwnedFd there = open_descendant(root, opened.path, O_PATH | O_DIRECTORY);
    if (there) (void)set_mode(there.get(), opened.state.mode);
  }
}

void CommitCheck::add_opening_steps(Committed& answer) {
  std::vector<Step> opening;
  for (const Opened& opened : opened_) {
    Step step{.kind = StepKind::open_directory, .tree = opened.tree, .path = opened.path};
    step.side = opened.side;
    step.before = step.after = opened.state;
    opening.push_back(step);
    const auto settled = std::find_if(steps_.begin(), steps_.end(), [&](const Step& other) {
      return other.kind == StepKind::settle_directory && other.side == opened.side &&
             other.tree == opened.tree && other.path == opened.path;
    });
    if (settled != steps_.end()) {
      settled->was_opened = true;
      continue;
    }
    step.kind = StepKind::settle_directory;
    step.was_opened = true;
    steps_.push_back(std::move(step));
  }
  const auto first_settled = std::find_if(
      steps_.begin(), steps_.end(), [](const Step& step) { return step.kind == StepKind::settle_directory; });
  std::stable_sort(first_settled, steps_.end(),
                   [](const Step& a, const Step& b) { return comes_before(b.path, a.path); });
  answer.steps = std::move(opening);
  std::move(steps_.begin(), steps_.end(), std::back_inserter(answer.steps));
}

Committed CommitCheck::run() {
  if (check_mounts()) {
    const Step* previous = nullptr;
    for (Step& step : steps_) {
      check_step(step, previous);
      previous = &step;
    }
  }
  Committed answer;
  add_opening_steps(answer);
  answer.reasons = std::move(reasons_);
  return answer;
}

}  // namespace

Placed placed_as(const struct stat& seen) { return {seen.st_dev, seen.st_ino, nanoseconds(seen.st_ctim)}; }

std::string mismatch(const LayerEntry& entry, const struct stat& seen, const FileState& expected) {
  const FileState now = state_of(entry, seen);
  if (now.kind != expected.kind) return "is a " + std::string(name_of(now.kind)) + " by now";
  if (now.kind == FileKind::link) return now.link == expected.link ? "" : "is another link by now";
  if (now.mode != expected.mode) return "has another mode by now";
  if (now.uid != expected.uid || now.gid != expected.gid) return "has another owner by now";
  if (now.kind != FileKind::file) return "";
  if (now.size != expected.size || now.modified_ns != expected.modified_ns) return "was changed meanwhile";
  return "";
}

Committed check_commit(std::span<const CommitTree> trees, std::vector<Step> steps) {
  return CommitCheck(trees, std::move(steps)).run();
}

}  // namespace cloche
