// StoredSet: a change set as the state directory keeps it, and its text. Fields end with a NUL byte, which no
// path has: names are bytes, and JSON could not carry them as they are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/change_set.hpp"
#include "store/commit/commit.hpp"
#include "store/layers/change_clock.hpp"
#include "store/layers/overlay_attributes.hpp"

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

// A directory by its path and its identity. What does not match is not the directory that was meant, and is
// never used, changed or removed.
struct KnownDirectory {
  std::string path = {};
  uint64_t device = 0;
  uint64_t inode = 0;
  // When it was made: the number of a directory that was removed is given to a new one. 0: not known.
  int64_t born_ns = 0;

  bool operator==(const KnownDirectory&) const = default;
};
// Whether both are one directory, whatever they are called.
bool is_same_directory(const KnownDirectory& one, const KnownDirectory& other);

struct StoredTree {
  KnownDirectory project = {};
  KnownDirectory source = {};
  KnownDirectory undo = {};
  Transfer transfer = Transfer::rename;

  bool operator==(const StoredTree&) const = default;
};

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

  bool operator==(const SetHeader&) const = default;
};

struct StoredSet {
  SetHeader header = {};
  ChangeSet changes = {};
  std::vector<ChangeVerdict> verdicts = {};
  // Committed by the verdict and not in the project all the same: see CommitSteps, or undone since.
  // Ascending.
  std::vector<size_t> left = {};
  std::vector<Step> steps = {};  // none: no commit was begun
};

std::string header_text(const SetHeader& header);
Result<SetHeader> parse_header(std::string_view text);

std::string changes_text(const ChangeSet& changes, const std::vector<ChangeVerdict>& verdicts,
                         const std::vector<size_t>& left);
Result<void> parse_changes(std::string_view text, StoredSet& set);

std::string steps_text(const std::vector<Step>& steps);
Result<std::vector<Step>> parse_steps(std::string_view text);

}  // namespace cloche
