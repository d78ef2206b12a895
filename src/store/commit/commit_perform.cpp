#include "store/commit/commit_perform.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text/visible_text.hpp"
#include "store/commit/commit_check.hpp"
#include "store/commit/layer_walk.hpp"
#include "store/layers/layer_entry.hpp"
#include "store/layers/open_writers.hpp"
#include "store/workspace/safe_walk.hpp"

namespace cloche {
namespace {

Error step_error(const Step& step, int number = errno) {
  // By our own look at what stands there.
  if (number == ESTALE)
    return {Cause::system, "'" + shown(step.path) + "' was changed by another process meanwhile", ESTALE};
  return system_error(std::string(name_of(step.kind)) + " '" + shown(step.path) + "'", number);
}

std::optional<struct stat> look_at(const LayerEntry& place) { return look_in(place.directory, place.name); }

// 0: nothing has the name.
ino_t inode_at(const LayerEntry& place) {
  const auto seen = look_at(place);
  return seen ? seen->st_ino : 0;
}

// A move needs write permission for a directory, which gets its mode after it.
bool gets_mode_last(const std::optional<FileState>& state) {
  return is_directory(state) && is_bound_by_modes();
}

// By its time: a commit sets the one that the call gave it, and every write changes it.
bool was_written(const Step& step, const LayerEntry& place) {
  if (!is_kind(step.after, FileKind::file)) return false;
  const auto seen = look_at(place);
  return seen && nanoseconds(seen->st_mtim) != step.after->modified_ns;
}

Result<void> settle(const Step& step, const LayerEntry& place, const FileState& wanted, mode_t mode) {
  const auto seen = look_at(place);
  if (!seen || !S_ISDIR(seen->st_mode)) return step_error(step, seen ? ENOTDIR : errno);
  TRY(set_owner(place, wanted.uid, wanted.gid));
  return set_mode(place, mode);
}

}  // namespace

bool removes_directory(const Step& step) {
  return step.kind == StepKind::remove && is_directory(step.before);
}

// The directory must be the one that was checked, unless an earlier step made it.
Result<StepPerformer::Place> StepPerformer::target(const Step& step) {
  const StepSide side = step.side;
  const int directory = directories_.open(step.tree, side, directory_in(step.path));
  if (directory < 0) return step_error(step);
  struct stat seen {};
  if (step.parent != 0 && (::fstat(directory, &seen) != 0 || seen.st_ino != step.parent))
    return step_error(step, ESTALE);
  return Place{directory, step.path.empty() ? "." : last_of(step.path)};
}

Result<StepPerformer::Place> StepPerformer::source(const Step& step) {
  if (step.is_copied) return Place{trees_[step.tree].undo, step.from};
  const int directory = directories_.open(step.tree, StepSide::source, directory_in(step.from));
  if (directory < 0) return step_error(step);
  return Place{directory, last_of(step.from)};
}

StepPerformer::Place StepPerformer::undo(size_t step) const {
  return {trees_[steps_[step].tree].undo, undo_name(step)};
}

// A directory is moved to another one only by a user who may write it.
Result<void> StepPerformer::move(const Step& step, const Place& from, const Place& to) {
  const auto& state = step.after ? step.after : step.before;
  const bool is_closed = is_bound_by_modes() && is_directory(state) && (state->mode & S_IWUSR) == 0;
  if (is_closed) TRY(set_mode(from, state->mode | S_IWUSR));
  const int moved =
      ::renameat2(from.directory, from.name.c_str(), to.directory, to.name.c_str(), RENAME_NOREPLACE);
  if (moved != 0) {
    const int number = errno;
    if (is_closed) (void)set_mode(from, state->mode);
    return step_error(step, number);
  }
  if (is_directory(state)) directories_.forget();
  return {};
}

Result<void> StepPerformer::apply_make(const Step& step) {
  const Place place = TRY(target(step));
  if (::mkdirat(place.directory, place.name.c_str(), 0700) == 0) return {};
  const int number = errno;
  const auto seen = look_at(place);
  const bool is_done = attempt_ == Attempt::again && number == EEXIST && seen && S_ISDIR(seen->st_mode);
  if (!is_done) return step_error(step, number);
  return {};
}

Result<void> StepPerformer::apply_add(const Step& step) {
  const Place to = TRY(target(step));
  const Place from = TRY(source(step));
  const ino_t fresh = inode_at(from);
  // No other process moves it: where it is gone this step is done, whatever the host has put there since.
  const bool is_done = attempt_ == Attempt::again && fresh == 0;
  if (is_done && inode_at(to) != step.fresh) return {};
  if (!is_done && fresh != step.fresh) return step_error(step, ESTALE);
  if (!is_done) TRY(move(step, from, to));
  if (!gets_mode_last(step.after)) return {};
  return set_mode(TRY(target(step)), step.after->mode);  // once more: move() closes what it has made stale
}

// The host may have written to a file after the check. Now that it lies in undo no process can open it by
// this name, so one that no process has open for writing stays as it is seen here.
Result<void> StepPerformer::must_be_untouched(const Step& step, const Place& kept) {
  const OwnedFd file(
      ::openat(kept.directory, kept.name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  std::string why;
  if (file && ask_lease(file.get()) == LeaseAnswer::open_for_writing && grants_leases(kept.directory))
    why = "is open for writing in a process outside the call";
  const auto seen = look_at(kept);
  if (!seen) return step_error(step);
  if (why.empty()) why = mismatch(kept, *seen, *step.before);
  if (why.empty()) return {};
  return Error{Cause::system, "'" + shown(step.path) + "' " + why};
}

// The same of a directory that was moved away with everything in it.
Result<void> StepPerformer::must_hold_nothing_new(const Step& step, const Place& kept) {
  const auto begin = look_in(kept.directory, begin_mark);
  if (!begin) return step_error(step);
  return walk_below(kept.directory, kept.name, ClosedDirectory::opened,
                    [&](const WalkedEntry& entry) -> Result<void> {
                      const auto seen = look_in(entry.directory, entry.name);
                      if (!seen) return step_error(step);
                      if (nanoseconds(seen->st_ctim) < nanoseconds(begin->st_mtim)) return {};
                      return Error{Cause::system,
                                   "'" + shown(joined(step.path, joined(entry.in, entry.name))) +
                                       "' was changed by another process meanwhile",
                                   ESTALE};
                    });
}

Result<void> StepPerformer::apply_replace(size_t number) {
  const Step& step = steps_[number];
  const Place to = TRY(target(step));
  const Place from = TRY(source(step));
  const Place kept = undo(number);
  if (attempt_ == Attempt::again && inode_at(kept) == step.old && inode_at(from) == 0)
    return must_be_untouched(step, kept);
  if (inode_at(from) != step.fresh || inode_at(to) != step.old) return step_error(step, ESTALE);
  if (::linkat(to.directory, to.name.c_str(), kept.directory, kept.name.c_str(), 0) != 0 &&
      (attempt_ == Attempt::first || errno != EEXIST))
    return step_error(step);
  // Another process may have put another file there between the look and the link.
  if (inode_at(kept) != step.old) {
    (void)::unlinkat(kept.directory, kept.name.c_str(), 0);
    return step_error(step, ESTALE);
  }
  if (::renameat(from.directory, from.name.c_str(), to.directory, to.name.c_str()) != 0)
    return step_error(step);
  return must_be_untouched(step, kept);
}

Result<void> StepPerformer::apply_remove(size_t number) {
  const Step& step = steps_[number];
  const Place kept = undo(number);
  const bool is_done = attempt_ == Attempt::again && inode_at(kept) == step.old;
  if (!is_done) {
    const Place from = TRY(target(step));
    if (inode_at(from) != step.old) return step_error(step, ESTALE);
    TRY(move(step, from, kept));
  }
  if (inode_at(kept) != step.old) {
    const Place back = TRY(target(step));
    (void)::renameat2(kept.directory, kept.name.c_str(), back.directory, back.name.c_str(), RENAME_NOREPLACE);
    return step_error(step, ESTALE);
  }
  if (!is_directory(step.before)) return must_be_untouched(step, kept);
  TRY(must_hold_nothing_new(step, kept));
  return gets_mode_last(step.before) ? set_mode(kept, step.before->mode) : Result<void>();
}

// An empty directory in undo holds the old attributes. It has its name only when it has all of them.
Result<void> StepPerformer::keep_attributes(size_t number, const Place& directory) {
  const Place kept = undo(number);
  if (inode_at(kept) != 0) return {};
  const std::string unfinished = kept.name + ".part";
  if (::mkdirat(kept.directory, unfinished.c_str(), 0700) != 0 && errno != EEXIST)
    return step_error(steps_[number]);
  TRY(copy_attributes(directory, {kept.directory, unfinished.c_str()}));
  if (::renameat(kept.directory, unfinished.c_str(), kept.directory, kept.name.c_str()) != 0)
    return step_error(steps_[number]);
  return {};
}

Result<void> StepPerformer::apply_settle(size_t number) {
  const Step& step = steps_[number];
  const Place place = TRY(target(step));
  if (step.has_attributes) {
    const Place from = TRY(source(step));
    const auto seen = look_at(place);
    if (!seen) return step_error(step);
    if (is_bound_by_modes()) TRY(set_mode(place, (seen->st_mode & 07777U) | S_IRWXU));
    if (!step.sets_times) TRY(keep_attributes(number, place));  // a directory that was made has none to keep
    TRY(copy_attributes(from, place));
  }
  TRY(settle(step, place, *step.after, step.after->mode));
  if (step.sets_times) TRY(set_modified(place, step.after->modified_ns));
  return {};
}

Result<void> StepPerformer::apply(size_t number) {
  const Step& step = steps_[number];
  switch (step.kind) {
    case StepKind::open_directory: {
      const Place place = TRY(target(step));
      return set_mode(place, step.before->mode | S_IRWXU);
    }
    case StepKind::make_directory: return apply_make(step);
    case StepKind::add: return apply_add(step);
    case StepKind::replace: return apply_replace(number);
    case StepKind::remove: return apply_remove(number);
    case StepKind::settle_directory: return apply_settle(number);
  }
  return {};
}

// What another process has put there is its own.
Result<void> StepPerformer::leave(size_t number) {
  left_.push_back(number);
  return {};
}

// Whether the place of a step that makes a directory, or settles one that was made, is not there.
bool StepPerformer::is_unmade(const Step& step) {
  const auto place = target(step);
  if (!place.ok()) return place.error().number == ENOENT;
  return inode_at(place.value()) == 0;
}

Result<void> StepPerformer::revert_make(size_t number) {
  const Step& step = steps_[number];
  if (is_unmade(step)) return {};
  const Place place = TRY(target(step));
  if (::unlinkat(place.directory, place.name.c_str(), AT_REMOVEDIR) != 0) {
    if (errno != ENOTEMPTY && errno != EEXIST) return step_error(step);
    if (step.after) TRY(set_mode(place, step.after->mode));
    return leave(number);
  }
  directories_.forget();
  return {};
}

Result<void> StepPerformer::revert_add(size_t number) {
  const Step& step = steps_[number];
  const Place from = TRY(source(step));
  if (inode_at(from) == step.fresh) return {};
  const Place to = TRY(target(step));
  if (inode_at(to) != step.fresh) return leave(number);
  if (was_written(step, to)) {
    if (::linkat(to.directory, to.name.c_str(), from.directory, from.name.c_str(), 0) != 0)
      return step_error(step);
    return leave(number);
  }
  TRY(move(step, to, from));
  if (!gets_mode_last(step.after)) return {};
  return set_mode(TRY(source(step)), step.after->mode);
}

// The project has one of the two files under the name at every moment.
Result<void> StepPerformer::revert_replace(size_t number) {
  const Step& step = steps_[number];
  const Place from = TRY(source(step));
  const Place kept = undo(number);
  const auto to = target(step);
  const ino_t now = to.ok() ? inode_at(to.value()) : 0;
  // Not taken, whatever another process has put there since.
  if (now != step.fresh && inode_at(from) == step.fresh) {
    if (::unlinkat(kept.directory, kept.name.c_str(), 0) != 0 && errno != ENOENT) return step_error(step);
    return {};
  }
  if (inode_at(kept) != step.old) return step_error(step, ESTALE);
  if (now != step.fresh) return leave(number);
  const Place& place = to.value();
  if (inode_at(from) == 0 &&
      ::linkat(place.directory, place.name.c_str(), from.directory, from.name.c_str(), 0) != 0)
    return step_error(step);
  if (was_written(step, place)) return leave(number);
  if (::renameat(kept.directory, kept.name.c_str(), place.directory, place.name.c_str()) != 0)
    return step_error(step);
  return {};
}

Result<void> StepPerformer::revert_remove(size_t number) {
  const Step& step = steps_[number];
  const Place kept = undo(number);
  if (inode_at(kept) != step.old) return {};
  const Place to = TRY(target(step));
  if (inode_at(to) != 0) return leave(number);
  TRY(move(step, kept, to));
  if (!gets_mode_last(step.before)) return {};
  return set_mode(TRY(target(step)), step.before->mode);
}

Result<void> StepPerformer::revert_settle(size_t number) {
  const Step& step = steps_[number];
  if (step.sets_times && is_unmade(step)) return {};
  const Place place = TRY(target(step));
  if (step.sets_times) {  // made by an earlier step, which is taken back next
    return set_mode(place, S_IRWXU);
  }
  const Place kept = undo(number);
  if (step.has_attributes && inode_at(kept) != 0) {
    TRY(copy_attributes(kept, place));
    if (::unlinkat(kept.directory, kept.name.c_str(), AT_REMOVEDIR) != 0) return step_error(step);
  }
  const mode_t opened = step.was_opened ? S_IRWXU : 0;  // until the open_directory step is taken back
  return settle(step, place, *step.before, step.before->mode | opened);
}

Result<void> StepPerformer::revert(size_t number) {
  const Step& step = steps_[number];
  switch (step.kind) {
    case StepKind::open_directory: {
      const Place place = TRY(target(step));
      return set_mode(place, step.before->mode);
    }
    case StepKind::make_directory: return revert_make(number);
    case StepKind::add: return revert_add(number);
    case StepKind::replace: return revert_replace(number);
    case StepKind::remove: return revert_remove(number);
    case StepKind::settle_directory: return revert_settle(number);
  }
  return {};
}

Placed StepPerformer::placed(size_t number) {
  const auto place = target(steps_[number]);
  if (!place.ok()) return {};
  const auto seen = look_at(place.value());
  const ino_t fresh = steps_[number].fresh;
  if (!seen || (fresh != 0 && seen->st_ino != fresh)) return {};
  return placed_as(*seen);
}

}  // namespace cloche
