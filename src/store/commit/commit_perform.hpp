// Takes the steps of a commit, or takes them back. Whether a step was taken is read from its traces, never
// remembered: so the same code serves a commit, its taking back, and both of them after a kill.
#pragma once

#include <span>
#include <vector>

#include "store/commit/commit.hpp"
#include "store/commit/tree_directories.hpp"
#include "store/layers/layer_entry.hpp"

namespace cloche {

enum class Attempt {
  first,
  again,  // some of the steps are done
};

// A file of the undo directory: its time is when the commit began. Only where a directory is removed.
inline constexpr const char* begin_mark = "begin";
bool removes_directory(const Step& step);

class StepPerformer {
 public:
  StepPerformer(std::span<const CommitTree> trees, const std::vector<Step>& steps, Attempt attempt)
      : trees_(trees), steps_(steps), attempt_(attempt), directories_(trees) {}

  Result<void> apply(size_t step);
  // Nothing if it was not applied. A file that the host has written to since stays, and has a name in the
  // source as well: see left().
  Result<void> revert(size_t step);
  const std::vector<size_t>& left() const { return left_; }
  // What stands there now.
  Placed placed(size_t step);

 private:
  // A name in a directory that is held.
  struct Place {
    int directory = -1;
    std::string name = {};
    operator LayerEntry() const { return {directory, name.c_str()}; }
  };

  Result<Place> target(const Step& step);
  Result<Place> source(const Step& step);
  Place undo(size_t step) const;
  Result<void> move(const Step& step, const Place& from, const Place& to);
  static Result<void> must_be_untouched(const Step& step, const Place& kept);
  static Result<void> must_hold_nothing_new(const Step& step, const Place& kept);

  Result<void> apply_make(const Step& step);
  Result<void> apply_add(const Step& step);
  Result<void> apply_replace(size_t number);
  Result<void> apply_remove(size_t number);
  Result<void> apply_settle(size_t number);
  Result<void> keep_attributes(size_t number, const Place& directory);

  bool is_unmade(const Step& step);
  Result<void> leave(size_t number);
  Result<void> revert_make(size_t number);
  Result<void> revert_add(size_t number);
  Result<void> revert_replace(size_t number);
  Result<void> revert_remove(size_t number);
  Result<void> revert_settle(size_t number);

  std::span<const CommitTree> trees_;
  const std::vector<Step>& steps_;
  Attempt attempt_;
  TreeDirectories directories_;
  std::vector<size_t> left_ = {};  // steps
};

}  // namespace cloche
