// StoredSet: a change set as the state directory keeps it, and its text. Fields end with a NUL byte, which no
// path has: names are bytes, and JSON could not carry them as they are.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "model/change_set.hpp"
#include "store/commit/commit.hpp"
#include "store/commit/known_directory.hpp"
#include "store/layers/change_clock.hpp"
#include "store/layers/layer_reader.hpp"

namespace cloche {

enum class SetStatus {
  open,        // the call runs, or its changes are being judged
  committing,  // steps are being taken
  committed,
  staged,     // nothing reached the project; the bytes are kept
  continued,  // it was staged, and a later call of its task runs on top of it
  dropped,
  undone,
};
std::string_view name_of(SetStatus status);
// Whether a process works on such a set, or was killed while it did.
bool is_in_work(SetStatus status);

struct StoredTree {
  KnownDirectory project = {};
  KnownDirectory source = {};
  KnownDirectory undo = {};
  Transfer transfer = Transfer::rename;

  bool operator==(const StoredTree&) const = default;
};

// Whether what is kept of the tree for undo lies in the project itself: for the time of a commit whose state
// directory is on another mount, and longer where it could not be copied from there.
bool keeps_in_project(const StoredTree& tree);

// What is kept for undo.
struct KeptBytes {
  uint64_t plain = 0;
  uint64_t ignored = 0;  // of paths that a .gitignore covers

  bool operator==(const KeptBytes&) const = default;
};

struct SetHeader {
  std::string id = {};
  SetStatus status = SetStatus::open;
  int64_t created_ms = 0;  // since the epoch
  unsigned uid = 0;
  std::string boot = {};  // the boot's id: what another boot began may have lost bytes
  FileSync sync = FileSync::later;
  KnownDirectory workspace = {};
  std::string label = {};   // the caller's name for it: the call
  std::string undoes = {};  // the id of the set that it takes back; empty: it is no undo
  std::string why = {};     // of a staged one: what kept it out of the project
  std::string task = {};    // of a staged one: whose later calls see it and write to it; empty: none does
  std::vector<std::string> later = {};  // those that did, as `label`
  CallStart start = {};  // of the call: what the host changed since then is not to be overwritten
  OverlayAttributes attributes = OverlayAttributes::user_namespace;  // of the sources
  int64_t ended_ns = 0;                                              // see Committed
  KeptBytes kept = {};
  std::vector<StoredTree> trees = {};
  std::vector<KnownDirectory> places = {};  // private directories that are removed with the set
  // Of its commit, where they are few; many are in a file of their own, which is written anew less often.
  std::vector<Step> steps = {};

  bool operator==(const SetHeader&) const = default;
};

// Whether something of the set may lie in a project that is not of the project.
bool has_commit_directory(const SetHeader& header);

struct StoredSet {
  SetHeader header = {};
  ChangeSet changes = {};
  std::vector<ChangeVerdict> verdicts = {};
  // Committed by the verdict and not in the project all the same: see CommitSteps, or undone since.
  // Ascending.
  std::vector<size_t> left = {};
  std::vector<Step> steps = {};  // none: no commit was begun
};

// Whether the change is in the project, as far as the store knows: what was withheld, or left because of
// that, never reached it.
bool is_in_project(const StoredSet& set, size_t change);

// What the steps of a set did to each path of the project. The set is borrowed.
class StepsOfPaths {
 public:
  explicit StepsOfPaths(const StoredSet& set);

  // Where in the undo directory that lies which stood at the path: under a number of its own, or in a
  // directory that was removed with everything in it. Nothing: nothing was kept.
  std::optional<std::string> kept(size_t tree, std::string_view path) const;
  // What was put there itself; null: nothing, or it came with its directory.
  const Placed* placed(size_t tree, std::string_view path) const;

 private:
  using Steps = std::map<std::pair<size_t, std::string_view>, size_t>;

  const StoredSet& set_;
  Steps kept_ = {};
  Steps placed_ = {};
};

// The directories of a set's trees, held; none for undo where no commit was begun.
struct HeldTrees {
  std::vector<OwnedFd> fds = {};
  std::vector<CommitTree> trees = {};

  // Of the tree of this number, for which it was just made.
  void hold_undo(size_t number, const StoredTree& tree, OwnedFd undo);
  // With their sources as upper layers. `stored`: the trees that are held.
  std::vector<TreeLayers> layers(const std::vector<StoredTree>& stored, OverlayAttributes attributes) const;
};
Result<HeldTrees> hold_trees(const std::vector<StoredTree>& trees);

std::string header_text(const SetHeader& header);
Result<SetHeader> parse_header(std::string_view text);

std::string changes_text(const ChangeSet& changes, const std::vector<ChangeVerdict>& verdicts,
                         const std::vector<size_t>& left);
Result<void> parse_changes(std::string_view text, StoredSet& set);

std::string steps_text(const std::vector<Step>& steps);
Result<std::vector<Step>> parse_steps(std::string_view text);

}  // namespace cloche
