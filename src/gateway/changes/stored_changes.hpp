// What an operator does with change sets that are stored: brings in what waits, throws it away, or takes back
// what was committed. Each works under the lock of the trees' commits, all or nothing, and is recorded.
//
// A set that is staged is committed as itself, whole or in part. What a committed set withheld is brought in
// by a set of its own, so that both can be undone. An undo is a set of its own too.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "gateway/changes/chosen_sets.hpp"
#include "model/changes_outcome.hpp"
#include "model/facts.hpp"
#include "policy/changes/change_rules.hpp"
#include "store/commit/change_sets.hpp"
#include "store/layers/layer_reader.hpp"

namespace cloche {

// What waits in a set for the operator: all of one that is staged; of a committed one what was withheld or
// asked about. Indices into its changes.
std::vector<size_t> waiting_changes(const StoredSet& set);

// Of a staged set: the judge has not spoken, and its list may be a part of what the call wrote.
bool is_unjudged(const StoredSet& set);

enum class OperatorEnd {
  done,
  nothing,   // there was nothing to do
  conflict,  // something stands in the way, and nothing was changed
  stuck,     // something was done, and could not be taken back: the reasons say what is where
};

struct OperatorOutcome {
  OperatorEnd end = OperatorEnd::nothing;
  std::string set = {};                 // that it was about
  std::string label = {};               // its call
  std::string made = {};                // the set by which it can be taken back; empty: none
  std::vector<ChangedPath> paths = {};  // what was, or would be, done
  std::vector<ConflictingPath> conflicts = {};
  std::vector<Message> reasons = {};      // in the way, beside the conflicts
  std::vector<ChangedPath> waiting = {};  // what still waits in the set
};

// Paths of a set. None: all of it, but for what the judge withheld, which has to be named.
struct ApplyPaths {
  std::vector<TreePath> only = {};
  std::vector<TreePath> ours = {};    // the project's file stays, and the call's waits on
  std::vector<TreePath> theirs = {};  // the call's replaces the project's, whatever happened to that since
};

enum class Rehearsal { no, dry_run };

class StoredChanges {
 public:
  StoredChanges(const std::string& state, GitSources git)
      : state_(state), git_(std::move(git)), sets_(state, boot_id()) {}

  const ChangeSets& sets() const { return sets_; }
  std::vector<Recovered> recover() const;

  // An Error: the set cannot be worked on, or does not have these paths. A set that was not judged is judged
  // by these rules.
  Result<OperatorOutcome> apply(const std::string& id, const ApplyPaths& paths,
                                const ChangeRules& rules = {}) const;
  // Without paths all of it. With them a set that was not judged is judged as well, so that what it holds is
  // known whole.
  Result<OperatorOutcome> drop(const std::string& id, const std::vector<TreePath>& only,
                               const ChangeRules& rules = {}) const;
  // No paths: everything.
  Result<OperatorOutcome> undo(const std::string& id, const std::vector<TreePath>& paths,
                               Rehearsal rehearsal) const;

 private:
  // Of a set that was not judged, and so perhaps not read to its end: reads what the call wrote without a
  // bound, judges it, and writes both down.
  Result<void> judge_now(SetInWork& work, StoredSet& set, const ChangeRules& rules) const;

  std::string state_;
  GitSources git_;
  ChangeSets sets_;
};

// Puts the end of a commit into the outcome; true: it was committed. Gives it up where it was not tried,
// refused or taken back; one that is stuck stays as it is. An Error: it could not be tried.
Result<bool> came_to_its_end(const Result<Committed>& committed, OperatorOutcome& outcome,
                             const std::function<Result<void>()>& give_up);

// Of these places of the changes.
std::vector<ChangedPath> paths_at(const ChangeSet& changes, const std::vector<ChangeVerdict>& verdicts,
                                  const std::vector<size_t>& places);

// What of these changes the host would execute as the project is now: other calls have committed since they
// were judged, and single paths may mean something else than all of them. What is named itself is the
// operator's own answer. An undo puts links back as they were.
enum class Links { judged, as_they_were };
Result<std::vector<ConflictingPath>> find_dangers(const ChangeSet& changes,
                                                  const std::vector<TreeLayers>& layers,
                                                  const GitSources& git, const std::vector<TreePath>& named,
                                                  Links links);

// Whether what a killed process began to commit may still come in, as the project is now. What cannot be told
// any more may not: it is taken back, and waits.
bool may_be_finished(const StoredSet& set, const GitSources& git);

// An Error where the workspace of the set, or another tree of it, was replaced since.
Result<void> check_places(const SetHeader& set);

}  // namespace cloche
