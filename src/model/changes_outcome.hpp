// ChangesOutcome: what became of what a call wrote, for the outcome, the record, the operator and the model.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/message.hpp"
#include "model/change_set.hpp"

namespace cloche {

enum class ChangesEnd {
  none,       // it wrote nothing
  committed,  // what the judge let through is in the project
  staged,     // nothing is in the project: all of it is stored, for an operator to say
};

struct ChangedPath {
  std::string path;  // relative to the workspace, or absolute in another tree
  ChangeKind kind = ChangeKind::created;
  Fate fate = Fate::withheld;
  std::string reason = {};
};

// A path that the host or another call changed as well.
struct ConflictingPath {
  std::string path;
  std::string why;
};

struct ChangesOutcome {
  ChangesEnd end = ChangesEnd::none;
  std::string set = {};      // the id by which `cloche changes` knows it; empty: nothing is stored
  ChangeCounts counts = {};  // of all paths
  std::vector<ChangedPath> paths = {};
  std::string digest = {};  // "sha256:..." of the set
  std::vector<ConflictingPath> conflicts = {};
  Message why_staged = {};
  bool asks = false;                    // of a staged one: a rule wants an answer, and a yes brings it in
  std::vector<std::string> live = {};   // writable trees and files that had no layer
  std::vector<std::string> notes = {};  // for the operator: what took its time

  std::vector<const ChangedPath*> withheld() const;  // or asked about
  bool is_whole() const { return end != ChangesEnd::staged && withheld().empty(); }
};

// A path of a set as a reader knows it: of the first tree, the workspace, relative; of another absolute.
std::string shown_path(const ChangeSet& set, size_t tree, const std::string& path,
                       std::string_view workspace = {});
std::vector<ChangedPath> changed_paths(const ChangeSet& set, const std::vector<ChangeVerdict>& verdicts,
                                       std::string_view workspace = {});

// "sha256:..." over every path, with what it is and was. `contents` has a digest for each changed file, by
// its place in the set.
std::string digest_of(const ChangeSet& set);

// The members of DESIGN's object `changes`, into an object that is open. At most `most` of each list.
class JsonWriter;
void write_changes(JsonWriter& out, const ChangesOutcome& changes, size_t most = 1000);
// Parts of it: a path as text, and as bytes where it is none; the list of conflicts.
void write_path(JsonWriter& out, const std::string& path);
void write_conflicts(JsonWriter& out, const std::vector<ConflictingPath>& conflicts, size_t most);

// "2 created, 1 changed"
std::string counts_text(const ChangeCounts& counts, size_t withheld = 0);

// For the operator's terminal: "changes: 3 changed, 1 withheld (.envrc: ...; cloche changes show ID)". Empty:
// nothing changed.
std::string summary_line(const ChangesOutcome& changes);
// For the model: what is not in the project, and why. No command, and no path of Cloche's. Empty: all is
// there.
std::string model_line(const ChangesOutcome& changes);

}  // namespace cloche
