// Steps: the order of single file operations that brings a judged change set into the project. Pure: nothing
// is looked up. commit.hpp checks and takes the steps.
//
// Each new file is moved, never written in place: a file that has another name elsewhere keeps its bytes
// under that name. What is withheld stays in the upper layer, and the steps go around it.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/change_set.hpp"

namespace cloche {

enum class StepKind {
  open_directory,    // lets its owner in until the settle step of the same directory; added by the check
  make_directory,    // an empty one, for what is added to it
  add,               // moves a new entry to a name that is free; a directory with everything in it
  replace,           // keeps a link to the old file, then renames the new one over it
  remove,            // moves the old entry away; a directory with everything in it
  settle_directory,  // gives a directory its mode, owner, times and attributes
};
std::string_view name_of(StepKind kind);

enum class StepSide {
  project,
  source,  // the upper layer; of an undo the files that were kept
};

// What stands at a path after a commit: undo takes back nothing else.
struct Placed {
  uint64_t device = 0;
  uint64_t inode = 0;
  int64_t changed_ns = 0;  // ctime

  auto operator<=>(const Placed&) const = default;
};

struct Step {
  StepKind kind = StepKind::add;
  size_t tree = 0;
  std::string path = {};  // in the project, or of a step on the source side in the source
  StepSide side = StepSide::project;
  std::string from = {};   // of what comes from the source: its path there
  bool is_copied = false;  // `from` is a name in the undo directory, where a copy of the source lies
  std::optional<FileState> before = {};  // what has to stand at the path; none: nothing
  std::optional<FileState> after = {};
  uint64_t entries = 1;         // with everything beneath
  bool sets_times = false;      // of settle_directory
  bool has_attributes = false;  // of settle_directory: takes them from `from`
  bool was_opened = false;      // of settle_directory: an open_directory step came before

  // Identities, which the check looks up: a step that was taken can be told from one that was not.
  uint64_t parent = 0;  // 0: a directory that an earlier step makes
  uint64_t old = 0;     // what stands there
  uint64_t fresh = 0;   // what comes there
  Placed placed = {};   // known after the commit

  bool operator==(const Step&) const = default;
};

// Whether it brings what `from` names to its path.
bool moves_source(const Step& step);

struct CommitSteps {
  std::vector<Step> steps = {};
  // Changes that were to be committed and cannot be, because of what is withheld: a directory whose removal
  // would take a file that stays, or an entry of a new directory that is withheld itself. Indices into
  // ChangeSet::changes, ascending.
  std::vector<size_t> left = {};
};

// A change without a verdict is withheld. Git's objects come first, then everything else, then the index,
// then references: a reader of the repository never finds a reference to an object that is not there yet.
CommitSteps plan_steps(const ChangeSet& set, std::span<const ChangeVerdict> verdicts);

// Orders paths so that everything beneath a directory follows it at once ("a", "a/b", "a-b").
bool comes_before(std::string_view a, std::string_view b);

}  // namespace cloche
