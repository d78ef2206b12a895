#include "store/commit/commit.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/sys/directory.hpp"
#include "base/sys/sys.hpp"
#include "base/text/visible_text.hpp"
#include "policy/protected/git_index.hpp"
#include "store/commit/commit_check.hpp"
#include "store/commit/commit_perform.hpp"
#include "store/commit/entry_copy.hpp"
#include "store/commit/layer_walk.hpp"
#include "store/commit/tree_directories.hpp"
#include "store/layers/change_clock.hpp"
#include "store/layers/layer_entry.hpp"

namespace cloche {
namespace {

std::string copy_name(size_t step) { return "new-" + std::to_string(step); }

Result<void> sync_trees(std::span<const CommitTree> trees, FileSync sync) {
  if (sync == FileSync::later) return {};
  for (const CommitTree& tree : trees) {
    // A descriptor of O_PATH cannot be synced.
    const OwnedFd project = open_child(tree.project, ".", directory_flags);
    const OwnedFd source = open_child(tree.source, ".", directory_flags);
    if (!project || ::syncfs(project.get()) != 0) return system_error("sync the project");
    if (!source || ::syncfs(source.get()) != 0) return system_error("sync the changes");
  }
  return {};
}

Result<int> open_source(TreeDirectories& directories, const Step& step) {
  const int directory = directories.open(step.tree, StepSide::source, directory_in(step.from));
  if (directory < 0) return system_error("open the directory of '" + shown(step.from) + "'");
  return directory;
}

// Overlay's attributes, from what will be moved. A copy has none.
Result<void> strip(std::span<const CommitTree> trees, const std::vector<Step>& steps) {
  TreeDirectories directories(trees);
  for (const Step& step : steps) {
    if (!moves_source(step) || trees[step.tree].transfer == Transfer::copy) continue;
    const int directory = TRY(open_source(directories, step));
    const auto name = last_of(step.from);
    TRY(strip_overlay_attributes({directory, name.c_str()}));
    if (!is_directory(step.after)) continue;
    TRY(walk_below(directory, name, ClosedDirectory::opened, [](const WalkedEntry& below) {
      return strip_overlay_attributes({below.directory, below.name});
    }));
  }
  return {};
}

void remove_copies(std::span<const CommitTree> trees, const std::vector<Step>& steps) {
  for (size_t i = 0; i < steps.size(); ++i) {
    if (trees[steps[i].tree].transfer == Transfer::copy && moves_source(steps[i]))
      (void)remove_entry(trees[steps[i].tree].undo, copy_name(i));
  }
}

// Puts copies of what is on another mount into the undo directory, and makes the steps take those.
Result<void> copy_sources(std::span<const CommitTree> trees, std::vector<Step>& steps) {
  TreeDirectories directories(trees);
  for (size_t tree = 0; tree < trees.size(); ++tree) {
    if (trees[tree].transfer != Transfer::copy) continue;
    EntryCopier copier(trees[tree].undo);
    for (size_t i = 0; i < steps.size(); ++i) {
      Step& step = steps[i];
      if (step.tree != tree || !moves_source(step)) continue;
      const int source = TRY(open_source(directories, step));
      TRY(copier.copy(source, last_of(step.from), copy_name(i)));
      const auto made = look_in(trees[tree].undo, copy_name(i));
      if (!made) return system_error("look at the copy of '" + shown(step.from) + "'");
      step.from = copy_name(i);
      step.is_copied = true;
      step.fresh = made->st_ino;
    }
  }
  return {};
}

// What a directory holds that is removed whole must be older than this. The time is kept as that of a file,
// where a process that resumes the commit finds it.
Result<void> mark_begin(std::span<const CommitTree> trees, const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    const int undo = trees[step.tree].undo;
    if (!removes_directory(step) || look_in(undo, begin_mark)) continue;
    const int64_t now = TRY(mark_end(undo));
    const OwnedFd mark(::openat(undo, begin_mark, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!mark) return system_error("mark the beginning of the commit");
    TRY(set_modified({undo, begin_mark}, now));
  }
  return {};
}

void remove_begin(std::span<const CommitTree> trees) {
  for (const CommitTree& tree : trees) (void)::unlinkat(tree.undo, begin_mark, 0);
}

// "'f' (the old one is kept as 3, see undo)" for what could not be taken back.
Message describe_stuck(const Step& step, size_t number, const Error& error) {
  std::string text = "'" + shown(step.path) + "' could not be taken back (" + error.what.text() + ")";
  if (step.kind == StepKind::replace || step.kind == StepKind::remove)
    text += "; the old one is in the undo directory under the name " + undo_name(number);
  if (moves_source(step))
    text += "; the new one belongs to '" + shown(step.from) + "' of the " +
            (step.is_copied ? "undo directory" : "upper layer");
  return text;
}

constexpr std::string_view index_path = ".git/index";
constexpr size_t most_index_bytes = size_t{256} << 20;

bool places_index(const Step& step) {
  return moves_source(step) &&
         (step.path == index_path || step.path.ends_with("/" + std::string(index_path)));
}

// A file of the tree that the commit has put there, alone or with a directory.
bool is_placed(const std::set<std::string_view>& placed, std::string_view path) {
  for (; !path.empty(); path = directory_in(path))
    if (placed.contains(path)) return true;
  return false;
}

// Files that were moved have another time of change than git noted, and all of them another owner where the
// sandbox has ids of its own: git would take each for a changed one. The index is still ours alone. Where
// this fails it stays as it is, and git compares.
void refresh_index(std::span<const CommitTree> trees, const std::vector<Step>& steps, const Step& step) {
  const CommitTree& tree = trees[step.tree];
  std::set<std::string_view> placed;
  for (const Step& other : steps)
    if (moves_source(other) && other.tree == step.tree) placed.insert(other.path);
  const std::string top = step.path.substr(0, step.path.size() - index_path.size());
  const OwnedFd file = open_descendant(step.is_copied ? tree.undo : tree.source, step.from, O_RDWR);
  struct stat seen {};
  if (!file || ::fstat(file.get(), &seen) != 0 || !S_ISREG(seen.st_mode) || seen.st_nlink != 1) return;
  const auto old = sys::read_all(file.get(), most_index_bytes);
  if (!old.ok()) return;
  TreeDirectories directories(trees);
  const auto refreshed =
      refreshed_index(old.value(), [&](const std::string& name) -> std::optional<EntryFile> {
        const std::string path = top + name;
        const int directory = directories.open(step.tree, StepSide::project, directory_in(path));
        const auto now = directory < 0 ? std::nullopt : look_in(directory, last_of(path));
        if (!now) return std::nullopt;
        return EntryFile{*now, is_placed(placed, path)};
      });
  if (!refreshed) return;
  for (const std::string& text : {*refreshed, old.value()})
    if (::lseek(file.get(), 0, SEEK_SET) == 0 && sys::write_all(file.get(), text).ok()) break;
  const struct timespec times[2] = {seen.st_atim, seen.st_mtim};
  (void)::futimens(file.get(), times);
}

class Performance {
 public:
  Performance(std::span<const CommitTree> trees, Committed& commit, Attempt attempt,
              const CommitOptions& options)
      : trees_(trees),
        commit_(commit),
        attempt_(attempt),
        options_(options),
        performer_(trees, commit.steps, attempt) {}

  void run() {
    for (size_t i = 0; i < commit_.steps.size(); ++i) {
      if (places_index(commit_.steps[i])) refresh_index(trees_, commit_.steps, commit_.steps[i]);
      const auto applied = performer_.apply(i);
      if (!applied.ok()) return take_back(i, applied.error().what);
      if (options_.after_step) options_.after_step(i);
    }
    const auto ended = finish();
    if (!ended.ok()) return take_back(commit_.steps.size() - 1, ended.error().what);
    commit_.end = CommitEnd::committed;
  }

  // Everything up to the step that failed.
  void take_back(size_t failed, const Message& why) {
    commit_.end = CommitEnd::taken_back;
    commit_.reasons.push_back(why);
    // Of an earlier attempt any step may be done.
    const size_t count = attempt_ == Attempt::again ? commit_.steps.size() : failed + 1;
    for (size_t i = count; i-- > 0;) {
      const auto reverted = performer_.revert(i);
      if (reverted.ok()) continue;
      commit_.end = CommitEnd::stuck;
      commit_.reasons.push_back(describe_stuck(commit_.steps[i], i, reverted.error()));
    }
    for (const size_t i : performer_.left())
      commit_.reasons.push_back("'" + shown(commit_.steps[i].path) +
                                "' was changed by another process after it was brought in, and stays so");
    if (commit_.end != CommitEnd::taken_back) return;
    remove_copies(trees_, commit_.steps);
    remove_begin(trees_);
  }

 private:
  Result<void> finish() {
    TRY(sync_trees(trees_, options_.sync));
    for (size_t i = 0; i < commit_.steps.size(); ++i) {
      Step& step = commit_.steps[i];
      const bool is_placed = step.side == StepSide::project && step.kind != StepKind::remove;
      if (is_placed) step.placed = performer_.placed(i);
    }
    if (!commit_.steps.empty()) commit_.ended_ns = TRY(mark_end(trees_[commit_.steps.front().tree].undo));
    return {};
  }

  std::span<const CommitTree> trees_;
  Committed& commit_;
  Attempt attempt_;
  const CommitOptions& options_;
  StepPerformer performer_;
};

bool opens_source(const Step& step) {
  return step.kind == StepKind::open_directory && step.side == StepSide::source;
}

Result<void> make_ready(std::span<const CommitTree> trees, Committed& answer, const CommitOptions& options) {
  StepPerformer performer(trees, answer.steps, Attempt::first);
  for (size_t i = 0; i < answer.steps.size(); ++i) {
    if (opens_source(answer.steps[i])) TRY(performer.apply(i));
  }
  TRY(strip(trees, answer.steps));
  TRY(copy_sources(trees, answer.steps));
  TRY(sync_trees(trees, options.sync));
  if (options.before_first) TRY(options.before_first(answer.steps));
  return {};
}

void undo_ready(std::span<const CommitTree> trees, const std::vector<Step>& steps) {
  StepPerformer performer(trees, steps, Attempt::first);
  for (size_t i = steps.size(); i-- > 0;) {
    if (opens_source(steps[i])) (void)performer.revert(i);
  }
  remove_copies(trees, steps);
}

}  // namespace

std::string undo_name(size_t step) { return std::to_string(step); }

Result<Committed> commit(std::span<const CommitTree> trees, std::vector<Step> steps,
                         const CommitOptions& options) {
  TRY(mark_begin(trees, steps));
  Committed answer = check_commit(trees, std::move(steps));
  if (answer.reasons.empty()) {
    const auto ready = make_ready(trees, answer, options);
    if (!ready.ok()) {
      answer.reasons.push_back(ready.error().what);
      undo_ready(trees, answer.steps);
    }
  }
  if (!answer.reasons.empty()) {
    remove_begin(trees);
    return answer;
  }
  Performance(trees, answer, Attempt::first, options).run();
  return answer;
}

Result<Committed> resume_commit(std::span<const CommitTree> trees, std::vector<Step> steps,
                                const CommitOptions& options) {
  Committed answer{.steps = std::move(steps)};
  Performance(trees, answer, Attempt::again, options).run();
  return answer;
}

Result<Committed> take_back_commit(std::span<const CommitTree> trees, std::vector<Step> steps,
                                   const CommitOptions& options) {
  Committed answer{.steps = std::move(steps)};
  Performance(trees, answer, Attempt::again, options).take_back(0, "the changes are no longer allowed");
  return answer;
}

}  // namespace cloche
