#include "store/commit/change_sets.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/sys/directory.hpp"
#include "base/sys/path.hpp"
#include "base/sys/private_file.hpp"
#include "base/sys/sys.hpp"
#include "base/text/random_word.hpp"
#include "base/text/sha256.hpp"
#include "base/text/visible_text.hpp"
#include "policy/protected/protected.hpp"
#include "store/commit/commit_lock.hpp"
#include "store/commit/entry_copy.hpp"
#include "store/commit/live_mounts.hpp"
#include "store/workspace/safe_walk.hpp"

namespace cloche {
namespace {

constexpr const char* header_file = "set";
constexpr const char* changes_file = "changes";
constexpr const char* steps_file = "steps";
constexpr size_t most_steps_in_header = 16;
constexpr size_t most_bytes = size_t{1} << 30;
constexpr size_t most_name = 4096;

int64_t milliseconds_now() {
  struct timespec now {};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

Result<OwnedFd> lock_file(const std::string& directory) {
  OwnedFd fd = TRY(sys::open(directory + "/lock", O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return fd;
  if (errno != EWOULDBLOCK) return system_error("lock " + shown(directory));
  return Error{Cause::system, "another call or command is using this change set", EWOULDBLOCK,
               "try again when it has ended"};
}

// What cannot be copied whole is not copied at all: it would only take up space.
Result<void> copy_kept(const KnownDirectory& left, const std::string& path) {
  const OwnedFd from = TRY(open_known(left));
  const OwnedFd to = TRY(sys::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  EntryCopier copier(to.get(), OverlaysOwn::copied);
  const auto names = names_in("/proc/self/fd/" + std::to_string(from.get()));
  for (const auto& name : names) {
    TRY(remove_entry(to.get(), name));  // of an attempt that was killed
    const auto copied = copier.copy(from.get(), name, name);
    if (copied.ok()) continue;
    for (const auto& made : names) (void)remove_entry(to.get(), made);
    return copied;
  }
  return {};
}

std::set<TreePath> paths_of(const ChangeSet& changes) {
  std::set<TreePath> paths;
  for (const Change& change : changes.changes) paths.insert(change.where());
  return paths;
}

}  // namespace

std::string boot_id() {
  static const auto of_this_boot = sys::read_small_file("/proc/sys/kernel/random/boot_id");
  return of_this_boot.ok() ? of_this_boot.value() : "";
}

ChangeSets::ChangeSets(const std::string& state, std::string boot)
    : state_(state),
      marks_(state + "/changes-in-work"),
      root_(state + "/changes"),
      trash_(root_ + "/trash"),
      tasks_(state + "/changes-of-tasks"),
      tally_(state + "/changes-kept"),
      reserve_(state + "/changes-reserve"),
      boot_(std::move(boot)) {}

Result<void> ChangeSets::write(const std::string& id, const char* file, std::string_view text) const {
  if (with_reserve([&] { return write_private_file(directory_of(id) + "/" + file, text); })) return {};
  return system_error("write to the change set " + id);
}

Result<void> ChangeSets::write_first(const std::string& id, const char* file, std::string_view text) const {
  if (with_reserve([&] { return make_private_file(directory_of(id) + "/" + file, text); })) return {};
  return errno == EEXIST ? write(id, file, text) : system_error("write to the change set " + id);
}

void ChangeSets::make_reserve() const {
  constexpr off_t reserve_bytes = off_t{4} << 20;  // the list of some 30,000 paths
  const auto file = sys::open(reserve_, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (!file.ok()) return;
  for (const std::string& directory : {root_, marks_, tasks_, commit_locks_of(state_)})
    (void)make_private_directories(directory);
  if (::fallocate(file.value().get(), 0, 0, reserve_bytes) != 0) ::unlink(reserve_.c_str());
}

bool ChangeSets::with_reserve(const std::function<bool()>& write) const {
  if (write()) return true;
  const int number = errno;
  const bool is_full = number == ENOSPC || number == EDQUOT;
  if (is_full && ::unlink(reserve_.c_str()) == 0) return write();
  errno = number;
  return false;
}

Result<void> ChangeSets::write_header(const SetHeader& header) const {
  return write(header.id, header_file, header_text(header));
}

Result<SetHeader> ChangeSets::read_header(const std::string& directory) const {
  const std::string text = TRY(read_private_file(directory + "/" + header_file, most_bytes));
  auto header = TRY(parse_header(text));
  if (header.uid != ::geteuid()) return refusal("the change set belongs to another user");
  return header;
}

Result<SetInWork> ChangeSets::begin(SetHeader header) const {
  if (header.id.empty()) header.id = TRY(random_word(12));
  if (!is_plain_id(header.id) || header.id == "trash")
    return refusal("no id for a change set: " + shown(header.id));
  header.status = SetStatus::open;
  header.uid = ::geteuid();
  header.boot = boot_;
  for (StoredTree& tree : header.trees) tree.undo = {};  // that of another set is not its to remove
  header.steps.clear();
  if (header.created_ms == 0) header.created_ms = milliseconds_now();
  const std::string directory = directory_of(header.id);
  if (!with_reserve([&] { return make_private_directories(root_); }))
    return system_error("make " + shown(root_));
  if (!with_reserve([&] { return ::mkdir(directory.c_str(), 0700) == 0; }))
    return system_error("make " + shown(directory));
  OwnedFd lock;
  const bool is_locked = with_reserve([&] {
    auto locked = lock_file(directory);
    if (locked.ok()) lock = std::move(locked).value();
    errno = locked.ok() ? 0 : locked.error().number;
    return locked.ok();
  });
  if (!is_locked) {
    const int number = errno;
    remove_tree(directory);
    return system_error("lock " + shown(directory), number);
  }
  mark(header.id, SetStatus::open);
  if (const auto written = write_first(header.id, header_file, header_text(header)); !written.ok()) {
    mark(header.id, SetStatus::dropped);
    remove_tree(directory);
    return written.error();
  }
  return SetInWork{std::move(header), std::move(lock)};
}

// Without its mark a set is found by recover() alone: that is slower, and loses nothing.
void ChangeSets::mark(const std::string& id, SetStatus status) const {
  const std::string path = marks_ + "/" + id;
  if (!is_in_work(status)) {
    ::unlink(path.c_str());
  } else {
    (void)with_reserve([&] {
      if (!make_private_directories(marks_)) return false;
      const OwnedFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
      return bool(file);
    });
  }
}

bool ChangeSets::is_marked(const std::string& id) const {
  return ::access((marks_ + "/" + id).c_str(), F_OK) == 0;
}

Result<SetInWork> ChangeSets::work_on(const std::string& id) const {
  if (!is_plain_id(id)) return refusal("no id of a change set: " + shown(id));
  TRY(read_header(directory_of(id)));  // before a lock is made in a directory that is none of ours
  OwnedFd lock = TRY(lock_file(directory_of(id)));
  return SetInWork{TRY(read_header(directory_of(id))), std::move(lock)};
}

// The header comes last: where it is not written, all of it is done again.
Result<void> ChangeSets::follow_workspace(const std::string& id, const KnownDirectory& workspace) const {
  SetInWork work = TRY(work_on(id));
  const KnownDirectory old = work.header.workspace;
  // A birth that is not known is no proof: a number is given to a new directory.
  const bool is_it = workspace.born_ns != 0 && old.born_ns == workspace.born_ns;
  const auto there = know_directory(old.path);
  if (!is_it || !is_same_directory(old, workspace) || (there.ok() && is_same_directory(old, there.value())))
    return {};
  const auto follow = [&](KnownDirectory& directory) {
    if (is_beneath(old.path, directory.path)) directory.path.replace(0, old.path.size(), workspace.path);
  };
  StoredSet set = TRY(find(id));
  follow(work.header.workspace);
  for (StoredTree& tree : work.header.trees) {
    follow(tree.project);
    follow(tree.undo);
  }
  for (KnownDirectory& place : work.header.places) follow(place);
  for (size_t i = 0; i < std::min(set.changes.trees.size(), work.header.trees.size()); ++i)
    set.changes.trees[i].path = work.header.trees[i].project.path;
  if (!set.changes.trees.empty())
    TRY(write(id, changes_file, changes_text(set.changes, set.verdicts, set.left)));
  return write_header(work.header);
}

// Also the list of steps: without it a commit that survived could not be finished.
Result<void> ChangeSets::sync_store(FileSync sync) const {
  if (sync == FileSync::later) return {};
  const OwnedFd fd = TRY(sys::open(root_, O_RDONLY | O_DIRECTORY));
  if (::syncfs(fd.get()) != 0) return system_error("sync " + shown(root_));
  return {};
}

Result<void> ChangeSets::set_status(SetInWork& set, SetStatus status) const {
  SetHeader header = set.header;
  header.status = status;
  TRY(write_header(header));
  set.header = std::move(header);
  mark(set.header.id, status);
  return {};
}

Result<void> ChangeSets::list_anew(const SetInWork& set, const ChangeSet& changes,
                                   const std::vector<ChangeVerdict>& verdicts) const {
  return write(set.header.id, changes_file, changes_text(changes, verdicts, {}));
}

Result<void> ChangeSets::stage(SetInWork& set, const ChangeSet& changes,
                               const std::vector<ChangeVerdict>& verdicts) const {
  TRY(list_anew(set, changes, verdicts));
  TRY(name_for_task(set));
  return set_status(set, SetStatus::staged);
}

Result<void> ChangeSets::name_for_task(SetInWork& set) const {
  const std::string& task = set.header.task;
  if (task.empty()) return {};
  const auto other = staged_of(task, set.header.workspace);
  const bool is_another = other && other->header.id != set.header.id;
  // One that is in use by no process could not be continued: the task goes on without it.
  const bool is_stuck =
      is_another && other->header.status == SetStatus::continued && work_on(other->header.id).ok();
  if (is_another && !is_stuck) {
    set.header.task.clear();  // calls beside each other: the first one is what the task goes on from
    return {};
  }
  if (!with_reserve([&] { return write_private_file(task_file(task, set.header.workspace), set.header.id); }))
    return system_error("write to " + shown(tasks_));
  return {};
}

Result<void> ChangeSets::give_to_task(const std::string& id, const std::string& task) const {
  SetInWork work = TRY(work_on(id));
  if (work.header.status != SetStatus::staged) return {};
  work.header.task = task;
  TRY(name_for_task(work));
  return write_header(work.header);
}

std::string ChangeSets::task_file(const std::string& task, const KnownDirectory& workspace) const {
  const std::string directory = std::to_string(workspace.device) + ":" + std::to_string(workspace.inode);
  return tasks_ + "/" + sha256(directory + " " + task).substr(0, 32);
}

std::optional<StoredSet> ChangeSets::staged_of(const std::string& task,
                                               const KnownDirectory& workspace) const {
  const auto id = task.empty() ? Result<std::string>(std::string())
                               : read_private_file(task_file(task, workspace), most_name);
  if (!id.ok() || id.value().empty()) return std::nullopt;
  auto set = find(id.value());
  if (!set.ok()) return std::nullopt;
  const SetHeader& header = set.value().header;
  const bool waits = header.status == SetStatus::staged || header.status == SetStatus::continued;
  const bool is_it = waits && header.task == task && is_same_directory(header.workspace, workspace);
  return is_it ? std::optional(std::move(set).value()) : std::nullopt;
}

Result<std::optional<SetInWork>> ChangeSets::continue_staged(const std::string& task,
                                                             const KnownDirectory& workspace) const {
  using Taken = std::optional<SetInWork>;
  const auto set = staged_of(task, workspace);
  if (!set) return Taken();
  SetInWork work = TRY(work_on(set->header.id));
  if (work.header.status == SetStatus::continued) TRY(recover_continued(work));  // its call was killed
  if (work.header.status != SetStatus::staged) return Taken();  // meanwhile it was applied or dropped
  TRY(set_status(work, SetStatus::continued));
  return Taken(std::move(work));
}

Result<Committed> ChangeSets::commit(SetInWork& set, const ChangeSet& changes,
                                     const std::vector<ChangeVerdict>& verdicts,
                                     const CommitOptions& options) const {
  return commit(set, changes, verdicts, plan_steps(changes, verdicts), options);
}

Result<Committed> ChangeSets::commit(SetInWork& set, const ChangeSet& changes,
                                     const std::vector<ChangeVerdict>& verdicts, CommitSteps planned,
                                     const CommitOptions& options) const {
  const auto refused = [&](Message why) -> Result<Committed> {
    const Committed end{.reasons = {std::move(why)}};
    TRY(record_end(set, end));
    return end;
  };
  // Who finds it removes what a killed commit leaves in the project.
  if (set.header.status == SetStatus::staged) mark(set.header.id, SetStatus::committing);
  set.header.sync = options.sync;
  HeldTrees held = TRY(hold_trees(set.header.trees));
  set.header.kept = count_kept_bytes(changes, verdicts, held.trees);
  if (const auto why =
          options.bounds ? make_room(*options.bounds, set.header.kept, milliseconds_now()) : std::nullopt)
    return refused(*why);
  if (const auto made = make_undo_directories(set, held); !made.ok()) return refused(made.error().what);
  if (const auto why = why_held_by_live_call(state_, held.trees, changes, verdicts)) return refused(*why);
  const auto written = set.header.status == SetStatus::open ? &ChangeSets::write_first : &ChangeSets::write;
  TRY((this->*written)(set.header.id, changes_file, changes_text(changes, verdicts, planned.left)));
  CommitOptions recorded = options;
  recorded.before_first = [&](const std::vector<Step>& steps) -> Result<void> {
    if (options.before_first) TRY(options.before_first(steps));
    const bool are_few = !steps.empty() && steps.size() <= most_steps_in_header;
    set.header.steps = are_few ? steps : std::vector<Step>();
    if (!are_few) TRY((this->*written)(set.header.id, steps_file, steps_text(steps)));
    TRY(set_status(set, SetStatus::committing));
    return sync_store(options.sync);
  };
  const Committed committed = TRY(cloche::commit(held.trees, std::move(planned.steps), recorded));
  TRY(record_end(set, committed));
  return committed;
}

Result<void> ChangeSets::make_undo_directories(SetInWork& set, HeldTrees& held) const {
  bool is_any_in_project = false;
  for (size_t i = 0; i < set.header.trees.size(); ++i) {
    StoredTree& tree = set.header.trees[i];
    const int project = held.trees[i].project;
    if (!are_on_one_mount(held.trees[i].source, project)) tree.transfer = Transfer::copy;
    std::string path = undo_directory(set.header, i);
    if (!make_private_directories(path)) return system_error("make " + shown(path));
    OwnedFd undo = TRY(sys::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    if (!are_on_one_mount(undo.get(), project)) {
      is_any_in_project = true;
      const std::string in_project = std::string(commit_directory) + set.header.id;
      path = tree.project.path + "/" + in_project;
      tree.undo = {.path = path};  // known before it is there: a recovery looks for it
      TRY(write_header(set.header));
      (void)remove_entry(project, in_project);  // of an attempt that was killed
      if (::mkdirat(project, in_project.c_str(), 0700) != 0) return system_error("make " + shown(path));
      undo = TRY(sys::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    }
    tree.undo = TRY(know_held(undo.get(), path));
    if (keeps_in_project(tree)) set.header.places.push_back(tree.undo);
    held.hold_undo(i, tree, std::move(undo));
  }
  // Before the first step all of it is written once more.
  return is_any_in_project ? write_header(set.header) : Result<void>();
}

// What could not be copied stays, and is used from there until an operator's command can copy or remove it.
Result<void> ChangeSets::leave_project(SetInWork& set, const Committed& committed) const {
  for (size_t i = 0; i < set.header.trees.size(); ++i) {
    const KnownDirectory left = set.header.trees[i].undo;
    const std::string path = undo_directory(set.header, i);
    if (left.path.empty() || left.path == path) continue;
    if (committed.end == CommitEnd::committed) TRY(copy_kept(left, path));
    set.header.trees[i].undo = TRY(know_directory(path));
    TRY(write_header(set.header));
    remove_known(left);
    std::erase(set.header.places, left);
    TRY(write_header(set.header));
  }
  return {};
}

// A commit that is stuck stays as it is: the next recovery tries again.
Result<void> ChangeSets::record_end(SetInWork& set, const Committed& committed) const {
  if (committed.end == CommitEnd::stuck) return {};
  SetHeader header = set.header;
  header.status = committed.end == CommitEnd::committed ? SetStatus::committed : SetStatus::staged;
  if (committed.end == CommitEnd::committed) {
    if (header.steps.empty()) {
      TRY(write(header.id, steps_file, steps_text(committed.steps)));
    } else {
      header.steps = committed.steps;
    }
    header.ended_ns = committed.ended_ns;
    note_kept(set.header.kept);
  }
  TRY(write_header(header));
  set.header = std::move(header);
  (void)leave_project(set, committed);
  mark(set.header.id, set.header.status);  // last: who finds the mark, finishes this
  return {};
}

// A process that was killed may have left it before the set knew it. No other has this name, and no call can
// write there: the judge takes it for Cloche's own.
Result<void> ChangeSets::remove_commit_directories(const SetHeader& header) const {
  Result<void> all;
  for (const StoredTree& tree : header.trees) {
    // Of a commit that was not begun there are copies alone.
    if (header.status != SetStatus::open && keeps_in_project(tree)) continue;
    const auto project = open_known(tree.project);
    const auto removed = project.ok()
                             ? remove_entry(project.value().get(), std::string(commit_directory) + header.id)
                             : Result<void>(project.error());
    if (!removed.ok()) all = removed;
  }
  return all;
}

Result<void> ChangeSets::record_undone(const std::string& id, const ChangeSet& undone) const {
  SetInWork work = TRY(work_on(id));
  StoredSet set = TRY(find(id));
  const std::set<TreePath> paths = paths_of(undone);
  std::set<size_t> left(set.left.begin(), set.left.end());
  const size_t count = set.changes.changes.size();
  for (size_t i = 0; i < count; ++i)
    if (paths.contains(set.changes.changes[i].where())) left.insert(i);
  set.left.assign(left.begin(), left.end());
  TRY(write(id, changes_file, changes_text(set.changes, set.verdicts, set.left)));
  (void)leave_project(work, {.end = CommitEnd::committed});  // what could not be copied is in its place again
  bool waits = false;
  for (size_t i = 0; i < count; ++i) {
    if (is_in_project(set, i)) return {};
    waits = waits || set.verdicts[i].fate != Fate::committed;
  }
  work.header.kept = {};  // all of it is in the project again
  // What was withheld waits on.
  return waits ? write_header(work.header) : set_status(work, SetStatus::undone);
}

Result<void> ChangeSets::forget(SetInWork& work, const ChangeSet& forgotten) const {
  const StoredSet set = TRY(find(work.header.id));
  const std::set<TreePath> paths = paths_of(forgotten);
  ChangeSet kept{.trees = set.changes.trees};
  std::vector<ChangeVerdict> verdicts;
  std::vector<size_t> left;
  for (size_t i = 0; i < set.changes.changes.size(); ++i) {
    const Change& change = set.changes.changes[i];
    if (paths.contains(change.where())) continue;
    if (std::binary_search(set.left.begin(), set.left.end(), i)) left.push_back(kept.changes.size());
    verdicts.push_back(i < set.verdicts.size() ? set.verdicts[i] : ChangeVerdict{});
    kept.changes.push_back(change);
  }
  return write(work.header.id, changes_file, changes_text(kept, verdicts, left));
}

std::vector<SetHeader> ChangeSets::list(const std::optional<KnownDirectory>& workspace) const {
  std::vector<SetHeader> found;
  for (const auto& name : names_in(root_)) {
    auto header = read_header(directory_of(name));
    if (!header.ok() || header.value().id != name) continue;
    const bool is_meant = !workspace || is_same_directory(header.value().workspace, *workspace);
    if (is_meant) found.push_back(std::move(header).value());
  }
  std::sort(found.begin(), found.end(), [](const SetHeader& a, const SetHeader& b) {
    return a.created_ms != b.created_ms ? a.created_ms > b.created_ms : a.id > b.id;
  });
  return found;
}

Result<StoredSet> ChangeSets::find(const std::string& id) const {
  if (!is_plain_id(id)) return refusal("no id of a change set: " + shown(id));
  StoredSet set{.header = TRY(read_header(directory_of(id)))};
  const auto changes = read_private_file(directory_of(id) + "/" + changes_file, most_bytes);
  if (changes.ok()) TRY(parse_changes(changes.value(), set));
  set.steps = set.header.steps;
  if (set.steps.empty()) {
    const auto steps = read_private_file(directory_of(id) + "/" + steps_file, most_bytes);
    if (steps.ok()) set.steps = TRY(parse_steps(steps.value()));
  }
  for (const Step& step : set.steps) {
    if (step.tree >= set.header.trees.size())
      return refusal("the steps of the change set " + id + " are damaged");
  }
  return set;
}

bool ChangeSets::has(const std::string& id) const {
  return ::access(directory_of(id).c_str(), F_OK) == 0 || ::access((trash_ + "/" + id).c_str(), F_OK) == 0;
}

// Where the file system is full the status cannot be written, and the set has to go all the same.
Result<void> ChangeSets::drop_held(SetInWork& set) const {
  const std::string& id = set.header.id;
  (void)set_status(set, SetStatus::dropped);
  if (!make_private_directories(trash_)) return system_error("make " + shown(trash_));
  if (::rename(directory_of(id).c_str(), (trash_ + "/" + id).c_str()) != 0)
    return system_error("drop the change set " + id);
  set.header.status = SetStatus::dropped;
  mark(id, SetStatus::dropped);
  return {};
}

Result<void> ChangeSets::drop(const std::string& id) const {
  SetInWork set = TRY(work_on(id));
  if (set.header.status == SetStatus::committing)
    return refusal("the change set " + id + " is not committed to its end");
  return drop_held(set);
}

void ChangeSets::discard(SetInWork& set) const {
  set.lock.reset();  // which the drop takes itself
  if (drop(set.header.id).ok()) empty_trash();
}

}  // namespace cloche
