// Brings a change set into the project by renames: all of it or nothing.
//
// Theory of operation. One process, no threads.
//   1. Check: every step is looked at before anything is done. What stands there must be what the change set
//      says, and what the kernel would refuse is foreseen. One reason against it: nothing is done.
//   2. Make ready: overlay's attributes are removed from what will be moved; where the upper layer is on
//      another mount, it is copied into the undo directory. Only private directories are written.
//   3. The observer is told the complete steps, and writes them down.
//   4. Perform: step after step. What was replaced or removed lies in the undo directory under the number of
//      its step. A failure takes back everything, in reverse order.
// A step can be told from its traces (identities, names in undo) to be done or not. So a commit that was
// killed is resumed by taking all its steps again: those that are done do nothing.
//
// The names of a tree are hostile: everything is done by directory descriptors and single names, follows no
// link, and never opens a project's file for writing.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/message.hpp"
#include "base/result.hpp"
#include "model/undo_bounds.hpp"
#include "store/commit/commit_steps.hpp"
#include "store/workspace/file_sync.hpp"

namespace cloche {

enum class Transfer {
  rename,  // the source is on the project's mount
  copy,    // it is not: it is copied into the undo directory first
};

// Borrowed descriptors of directories.
struct CommitTree {
  int project = -1;
  int source = -1;  // the upper layer; of an undo what an earlier commit kept
  int undo = -1;    // private, empty, and on the project's mount
  Transfer transfer = Transfer::rename;
  Transfer keeping = Transfer::rename;  // whether undo is copied to another mount after the commit
};

struct CommitOptions {
  FileSync sync = FileSync::later;
  // Of what the store keeps for undo. None: an operator's own commit, whatever it takes.
  std::optional<UndoBounds> bounds = {};
  // Told the complete steps before the first of them is taken; an Error stops the commit. May be empty.
  std::function<Result<void>(const std::vector<Step>& steps)> before_first = {};
  // Told each step that was taken. May be empty.
  std::function<void(size_t step)> after_step = {};
};

enum class CommitEnd {
  committed,
  refused,     // nothing was done
  taken_back,  // something was done, and nothing is left of it
  stuck,       // taking back failed as well: the reasons say what is where
};

struct Committed {
  CommitEnd end = CommitEnd::refused;
  std::vector<Message> reasons = {};  // why it was not committed, all of them
  std::vector<Step> steps = {};       // complete, with what they placed
  int64_t ended_ns = 0;               // nothing of the commit has a later ctime
};

// An Error: it could not even be tried.
Result<Committed> commit(std::span<const CommitTree> trees, std::vector<Step> steps,
                         const CommitOptions& options);

// Finishes what a killed process began, or takes it back. `steps` are those that before_first was told.
Result<Committed> resume_commit(std::span<const CommitTree> trees, std::vector<Step> steps,
                                const CommitOptions& options);

// The same, and only back.
Result<Committed> take_back_commit(std::span<const CommitTree> trees, std::vector<Step> steps,
                                   const CommitOptions& options);

// The name in the undo directory of what a step replaced or removed.
std::string undo_name(size_t step);

}  // namespace cloche
