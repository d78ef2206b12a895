#include "store/commit/commit_steps.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/sys/path.hpp"

namespace cloche {
namespace {

// When a step is taken: the order of the enumerators.
enum Turn : size_t {
  make_directories,
  git_objects,
  ordinary_files,
  git_index,
  git_references,
  git_heads,  // what names a reference
  removed_references,
  removed_objects,
  settled_directories,
  turns,
};

bool is_repository_name(std::string_view name) { return name.ends_with(".git"); }

bool is_head(std::string_view name) { return name == "HEAD" || name.ends_with("_HEAD"); }

// The first name below the repository that says what the file is for. A submodule's or worktree's repository
// lies deeper in, under names that say nothing.
Turn turn_in_repository(std::span<const std::string_view> names) {
  for (const auto name : names) {
    if (name == "objects") return git_objects;
    if (name == "refs" || name == "logs" || name == "packed-refs" || name == "reftable")
      return git_references;
    if (is_head(name)) return git_heads;
    if (name == "index") return git_index;
  }
  return ordinary_files;
}

Turn turn_of(const std::string& tree, const std::string& path) {
  const std::string whole = tree + "/" + path;
  if (whole.find(".git/") == std::string::npos) return ordinary_files;
  const auto names = components_of(whole);
  const auto repository = std::find_if(names.begin(), names.end(), is_repository_name);
  if (repository == names.end()) return ordinary_files;
  return turn_in_repository({repository + 1, names.end()});
}

Turn turn_of_removal(Turn turn) {
  if (turn == git_objects) return removed_objects;
  return turn == git_references || turn == git_heads ? removed_references : turn;
}

class StepPlanner {
 public:
  StepPlanner(const ChangeSet& set, std::span<const ChangeVerdict> verdicts)
      : set_(set), verdicts_(verdicts) {}

  CommitSteps run();

 private:
  const Change& at(size_t place) const { return set_.changes[order_[place]]; }
  bool is_committed(size_t place) const {
    return order_[place] < verdicts_.size() && verdicts_[order_[place]].fate == Fate::committed;
  }
  bool is_whole(size_t place) const { return withheld_before_[ends_[place]] == withheld_before_[place]; }

  void sort();
  void find_ends();
  // Each plans the change at a place and answers with the next place that is to be planned.
  size_t plan(size_t place);
  size_t plan_created(size_t place);
  size_t plan_deleted(size_t place);
  size_t plan_new_kind(size_t place);
  size_t plan_changed(size_t place);

  Step step_of(StepKind kind, size_t place) const;
  void put(Turn turn, Step step) { planned_[turn].push_back(std::move(step)); }
  void settle(size_t place, bool sets_times);
  size_t leave(size_t from, size_t to);
  Turn turn(size_t place) const { return turn_of(set_.trees[at(place).tree].path, at(place).path); }

  const ChangeSet& set_;
  std::span<const ChangeVerdict> verdicts_;
  std::vector<size_t> order_ = {};
  std::vector<size_t> ends_ = {};             // of each place: where what lies beneath it ends
  std::vector<size_t> withheld_before_ = {};  // of each place: how many before it are not committed
  std::array<std::vector<Step>, turns> planned_ = {};
  std::vector<size_t> left_ = {};
};

void StepPlanner::sort() {
  order_.resize(set_.changes.size());
  std::iota(order_.begin(), order_.end(), size_t{0});
  const auto before = [&](size_t a, size_t b) {
    const Change& first = set_.changes[a];
    const Change& second = set_.changes[b];
    if (first.tree != second.tree) return first.tree < second.tree;
    return comes_before(first.path, second.path);
  };
  if (!std::is_sorted(order_.begin(), order_.end(), before)) std::sort(order_.begin(), order_.end(), before);
}

void StepPlanner::find_ends() {
  const size_t count = order_.size();
  ends_.assign(count, count);
  withheld_before_.assign(count + 1, 0);
  std::vector<size_t> around;  // the directories that the place lies in
  for (size_t place = 0; place < count; ++place) {
    withheld_before_[place + 1] = withheld_before_[place] + (is_committed(place) ? 0 : 1);
    const auto is_around = [&](size_t outer) {
      return at(outer).tree == at(place).tree && lies_below(at(outer).path, at(place).path);
    };
    while (!around.empty() && !is_around(around.back())) {
      ends_[around.back()] = place;
      around.pop_back();
    }
    around.push_back(place);
  }
}

CommitSteps StepPlanner::run() {
  sort();
  find_ends();
  for (size_t place = 0; place < order_.size();) place = plan(place);
  // Deepest first: a directory that is closed to its owner again would hide the ones in it.
  std::reverse(planned_[settled_directories].begin(), planned_[settled_directories].end());
  CommitSteps answer;
  for (auto& steps : planned_) {
    std::move(steps.begin(), steps.end(), std::back_inserter(answer.steps));
  }
  std::sort(left_.begin(), left_.end());
  answer.left = std::move(left_);
  return answer;
}

size_t StepPlanner::plan(size_t place) {
  const Change& change = at(place);
  if (change.kind == ChangeKind::created) return plan_created(place);
  if (change.kind == ChangeKind::deleted) return plan_deleted(place);
  return is_directory(change.before) != is_directory(change.after) ? plan_new_kind(place)
                                                                   : plan_changed(place);
}

// Counts the committed ones among them as left.
size_t StepPlanner::leave(size_t from, size_t to) {
  for (size_t place = from; place < to; ++place) {
    if (is_committed(place)) left_.push_back(order_[place]);
  }
  return to;
}

Step StepPlanner::step_of(StepKind kind, size_t place) const {
  const Change& change = at(place);
  Step step{.kind = kind, .tree = change.tree, .path = change.path};
  if (kind == StepKind::remove || kind == StepKind::replace) step.before = change.before;
  if (kind != StepKind::remove) step.after = change.after;
  if (moves_source(step)) step.from = change.path;
  return step;
}

void StepPlanner::settle(size_t place, bool sets_times) {
  const Change& change = at(place);
  Step step = step_of(StepKind::settle_directory, place);
  step.sets_times = sets_times;
  step.before = change.before;
  step.has_attributes = change.differs.attributes || sets_times;
  if (step.has_attributes) step.from = change.path;
  put(settled_directories, std::move(step));
}

size_t StepPlanner::plan_created(size_t place) {
  if (!is_committed(place)) return leave(place, ends_[place]);
  if (is_whole(place)) {
    Step step = step_of(StepKind::add, place);
    step.entries = ends_[place] - place;
    put(turn(place), std::move(step));
    return ends_[place];
  }
  put(make_directories, step_of(StepKind::make_directory, place));
  settle(place, true);
  return place + 1;
}

size_t StepPlanner::plan_deleted(size_t place) {
  if (!is_committed(place)) return place + 1;
  if (!is_whole(place)) {
    left_.push_back(order_[place]);
    return place + 1;
  }
  Step step = step_of(StepKind::remove, place);
  step.entries = ends_[place] - place;
  put(turn_of_removal(turn(place)), std::move(step));
  return ends_[place];
}

// A directory becomes something else, or something else becomes a directory.
size_t StepPlanner::plan_new_kind(size_t place) {
  const bool was_directory = is_directory(at(place).before);
  // The new file has no place while something of the old directory stays.
  if (!is_committed(place) || (was_directory && !is_whole(place))) return leave(place, ends_[place]);
  const bool moves_whole = is_whole(place);
  const Turn when = moves_whole ? turn(place) : make_directories;
  Step old = step_of(StepKind::remove, place);
  if (was_directory) old.entries = ends_[place] - place;
  put(when, std::move(old));
  Step fresh = step_of(moves_whole ? StepKind::add : StepKind::make_directory, place);
  if (moves_whole && !was_directory) fresh.entries = ends_[place] - place;
  put(when, std::move(fresh));
  if (moves_whole) return ends_[place];
  settle(place, true);
  return place + 1;
}

size_t StepPlanner::plan_changed(size_t place) {
  if (!is_committed(place)) return place + 1;
  if (is_directory(at(place).after)) {
    settle(place, false);
  } else {
    put(turn(place), step_of(StepKind::replace, place));
  }
  return place + 1;
}

}  // namespace

std::string_view name_of(StepKind kind) {
  switch (kind) {
    case StepKind::open_directory: return "open directory";
    case StepKind::make_directory: return "make directory";
    case StepKind::add: return "add";
    case StepKind::replace: return "replace";
    case StepKind::remove: return "remove";
    case StepKind::settle_directory: return "settle directory";
  }
  return "";
}

bool moves_source(const Step& step) { return step.kind == StepKind::add || step.kind == StepKind::replace; }

bool comes_before(std::string_view a, std::string_view b) {
  const auto [first, second] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (second == b.end()) return false;
  if (first == a.end()) return true;
  // A slash ends a name, and the shorter name comes first.
  const auto weight = [](char c) { return c == '/' ? 0 : static_cast<unsigned char>(c); };
  return weight(*first) < weight(*second);
}

CommitSteps plan_steps(const ChangeSet& set, std::span<const ChangeVerdict> verdicts) {
  return StepPlanner(set, verdicts).run();
}

}  // namespace cloche
