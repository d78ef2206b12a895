// The store of change sets: one directory for each, STATE/changes/ID, in the caller's state directory and
// nowhere else. A file in a project that looks like one means nothing.
//
// What a commit replaces goes by renames to a directory on the mount of its tree: `undo-N` of the set itself.
// Where the state directory is on another mount, it is PROJECT/.cloche-commit-ID for the time of the commit,
// and then copied to the set.
//
// A set has the files `set` (the header, replaced whole when its status changes), `changes` (what changed,
// and the verdicts), `steps` (written before the first step is taken, and with what was placed after the
// last) and `lock`, which the process that works on the set holds. A set whose lock is free has no process.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "model/undo_bounds.hpp"
#include "store/commit/stored_set.hpp"

namespace cloche {

// A set that this process works on.
struct SetInWork {
  SetHeader header = {};
  OwnedFd lock = {};
};

// What is kept for the undo of sets.
struct KeptTotal {
  size_t sets = 0;
  KeptBytes bytes = {};
};

struct PrunedSets {
  size_t dropped = 0;
  KeptTotal kept = {};
};

// What became of a set that a killed process left.
struct Recovered {
  std::string id = {};
  SetStatus status = SetStatus::open;
  std::vector<Message> reasons = {};  // why it is not finished
};

class ChangeSets {
 public:
  // `boot` is the running boot's id (/proc/sys/kernel/random/boot_id).
  ChangeSets(const std::string& state, std::string boot);

  // Before a call, which may fill the file system: space for what this class writes of it then.
  void make_reserve() const;

  // Id, user and boot are filled in; an id that is given must be plain and new.
  Result<SetInWork> begin(SetHeader header) const;

  // Commits the changes as the verdicts say, and records everything. Refused as well where there is no room
  // for what undo has to keep.
  Result<Committed> commit(SetInWork& set, const ChangeSet& changes,
                           const std::vector<ChangeVerdict>& verdicts,
                           const CommitOptions& options = {}) const;
  // The same by steps that are planned already: an undo.
  Result<Committed> commit(SetInWork& set, const ChangeSet& changes,
                           const std::vector<ChangeVerdict>& verdicts, CommitSteps planned,
                           const CommitOptions& options = {}) const;
  // Keeps the changes, and brings nothing of them into the project. A task has one set that waits: where
  // another one does, this one is of no task.
  Result<void> stage(SetInWork& set, const ChangeSet& changes,
                     const std::vector<ChangeVerdict>& verdicts) const;
  // Later calls of the task go on from it, unless it waits no more, or another set of the task does.
  Result<void> give_to_task(const std::string& id, const std::string& task) const;
  // Replaces the list of a set that waits, and nothing else of it: its task may have gone on with another
  // set.
  Result<void> list_anew(const SetInWork& set, const ChangeSet& changes,
                         const std::vector<ChangeVerdict>& verdicts) const;
  // What is staged of a task in a workspace; nothing: nothing is.
  std::optional<StoredSet> staged_of(const std::string& task, const KnownDirectory& workspace) const;
  // Takes it for a call of the task, which will write to its layers: until it is staged again they are not
  // what its list says. An Error: another call has it (EWOULDBLOCK), or it cannot be continued.
  Result<std::optional<SetInWork>> continue_staged(const std::string& task,
                                                   const KnownDirectory& workspace) const;
  // After an undo: these changes are no longer in the project. Nothing else left: the set is undone.
  Result<void> record_undone(const std::string& id, const ChangeSet& undone) const;
  // These changes never reached the project by this set, and no longer wait in it: another set brought them
  // there, or the operator does not want them.
  Result<void> forget(SetInWork& set, const ChangeSet& forgotten) const;
  Result<void> set_status(SetInWork& set, SetStatus status) const;

  // The workspace of the set has this path by now: the same directory, renamed since. Nothing else of the set
  // changes, and where the directory of the old name is still that one, nothing at all.
  Result<void> follow_workspace(const std::string& id, const KnownDirectory& workspace) const;

  // Takes the lock of a set that no process works on. An Error says who or what is in the way.
  Result<SetInWork> work_on(const std::string& id) const;

  // Newest first. Without a workspace: all of this user's.
  std::vector<SetHeader> list(const std::optional<KnownDirectory>& workspace = {}) const;
  Result<StoredSet> find(const std::string& id) const;
  // Whether there is one, or what is left of one that was dropped.
  bool has(const std::string& id) const;

  // Finishes or takes back what killed processes began to commit, and drops what they had only opened. A set
  // whose project cannot be opened stays as it is.
  // `is_allowed` judges a set again; what it does not allow is taken back. An empty one allows none.
  using IsAllowed = std::function<bool(const StoredSet& set)>;
  std::vector<Recovered> recover(const IsAllowed& is_allowed) const;
  // The same for every call: looks at nothing but the marks of sets that a process works on.
  void recover_interrupted(const IsAllowed& is_allowed) const;

  // Moves the set out of the way; empty_trash() removes its bytes.
  Result<void> drop(const std::string& id) const;
  // Of a set that nothing came of: it is gone, with its directories.
  void discard(SetInWork& set) const;
  // Drops the oldest sets beyond the bounds, and nothing that is staged or younger than a day.
  PrunedSets prune(const UndoBounds& bounds, int64_t now_ms) const;
  // Takes time: not while a caller waits.
  void empty_trash() const;

 private:
  std::string directory_of(const std::string& id) const { return root_ + "/" + id; }
  Result<SetHeader> read_header(const std::string& directory) const;
  Result<void> write(const std::string& id, const char* file, std::string_view text) const;
  // The same of a file that is not there yet in a set that is open: nobody relies on it before its status
  // says more. One of an earlier try is replaced.
  Result<void> write_first(const std::string& id, const char* file, std::string_view text) const;
  Result<void> write_header(const SetHeader& header) const;
  Result<void> sync_store(FileSync sync) const;
  Result<void> drop_held(SetInWork& set) const;
  // Where the file system is full: gives up the reserve, and tries again. False: errno says why.
  bool with_reserve(const std::function<bool()>& write) const;
  std::string undo_directory(const SetHeader& header, size_t tree) const {
    return directory_of(header.id) + "/undo-" + std::to_string(tree);
  }
  // They are held with the trees from then on.
  Result<void> make_undo_directories(SetInWork& set, HeldTrees& held) const;
  Result<void> leave_project(SetInWork& set, const Committed& committed) const;
  // An Error: something may be left in a project, or the project cannot be opened.
  Result<void> remove_commit_directories(const SetHeader& header) const;
  Result<void> record_end(SetInWork& set, const Committed& committed) const;
  std::optional<Recovered> recover_one(const SetHeader& seen, const IsAllowed& is_allowed) const;
  Result<void> recover_commit(SetInWork& set, const IsAllowed& is_allowed, Recovered& answer) const;
  Result<void> recover_continued(SetInWork& set) const;
  Result<void> recover_end(const SetHeader& seen) const;
  // Before a commit that will keep so much: drops what is too old to be kept. A sentence: there is no room
  // all the same, because everything that is kept is younger than a day.
  std::optional<std::string> make_room(const UndoBounds& bounds, const KeptBytes& fresh,
                                       int64_t now_ms) const;
  // Reads .gitignore files of the project, which has not been changed yet; where little is kept, none: then
  // all of it counts as plain. Build products and packages, which a .gitignore covers, are counted apart, so
  // that they do not push out what a person wrote.
  static KeptBytes count_kept_bytes(const ChangeSet& set, const std::vector<ChangeVerdict>& verdicts,
                                    std::span<const CommitTree> trees);
  void note_kept(const KeptBytes& kept) const;
  KeptTotal read_tally() const;

  Result<void> name_for_task(SetInWork& set) const;
  // Names the set that is staged of a task.
  std::string task_file(const std::string& task, const KnownDirectory& workspace) const;

  // Whether a process works on it, for recover_interrupted().
  void mark(const std::string& id, SetStatus status) const;
  bool is_marked(const std::string& id) const;

  std::string state_;
  std::string marks_;    // STATE/changes-in-work: a file for each set that is open or being committed
  std::string root_;     // STATE/changes
  std::string trash_;    // STATE/changes/trash
  std::string tasks_;    // STATE/changes-of-tasks
  std::string tally_;    // STATE/changes-kept: a line for each commit, so that no call has to read every set
  std::string reserve_;  // STATE/changes-reserve: space that is kept for what has to be written down
  std::string boot_;
};

// Of the running boot. Empty where it cannot be read: then no set of this boot is resumed.
std::string boot_id();

}  // namespace cloche
