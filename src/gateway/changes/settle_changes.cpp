#include "gateway/changes/settle_changes.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/sys/sys.hpp"
#include "base/text/visible_text.hpp"
#include "gateway/changes/judge_set.hpp"
#include "gateway/changes/stored_changes.hpp"
#include "policy/plan/layered_trees.hpp"
#include "store/commit/change_sets.hpp"
#include "store/commit/commit_lock.hpp"
#include "store/commit/task_changes.hpp"
#include "store/layers/conflicts.hpp"
#include "store/layers/layer_reader.hpp"

namespace cloche {
namespace {

constexpr const char* still_open =
    "a process that outlived the call may still hold a file of it open, so what it wrote may not be complete";
constexpr const char* was_cancelled = "the call was cancelled";
constexpr const char* asked_to_stage = "an operator looks at them first";
constexpr const char* went_on = "it stands on what earlier calls of the task wrote, which waits as well: ";

std::vector<TreeLayers> layers_of(const CallLayers& layers) {
  std::vector<TreeLayers> trees;
  for (const TreeLayer& layer : layers.trees())
    trees.push_back({layer.tree, layer.lower.get(), layer.upper.get(), layers.attributes()});
  return trees;
}

// As it is held, where it is a tree of the call: nothing else may stand at its name by now.
KnownDirectory workspace_of(const CallLayers& layers, const std::string& path) {
  for (const TreeLayer& layer : layers.trees()) {
    if (layer.tree.path != path) continue;
    if (auto held = know_held(layer.lower.get(), path); held.ok()) return std::move(held).value();
  }
  auto known = know_directory(path);
  return known.ok() ? std::move(known).value() : KnownDirectory{.path = path};
}

// From here on the layers belong to a set of the store.
Result<SetInWork> begin_set(CallLayers& layers, const ChangeSets& sets, const ChangeTerms& terms) {
  if (auto& continued = layers.continued()) {
    SetInWork work = *std::exchange(continued, std::nullopt);
    work.header.later.push_back(terms.label);
    return work;
  }
  SetHeader header{.id = terms.id, .sync = terms.sync, .label = terms.label};
  header.task = terms.task;
  header.workspace = workspace_of(layers, terms.workspace);
  TRY(layers.describe_kept(header));
  SetInWork work = TRY(sets.begin(std::move(header)));
  if (const auto kept = layers.keep(terms.id); !kept.ok()) {
    sets.discard(work);
    return kept.error();
  }
  return work;
}

std::string describe(const ReadFinding& finding) {
  return "what the call wrote could not be read whole: " + std::string(name_of(finding.problem)) + " at " +
         shown(finding.path) + (finding.what.empty() ? "" : " (" + finding.what + ")");
}

// What keeps the set out of the project, before anything is looked at in the project; nothing: nothing does.
std::optional<std::string> why_unread(const ReadChanges& read, const ChangeTerms& terms) {
  if (!terms.is_released) return still_open;
  if (!read.is_exact()) return describe(read.findings.front());
  if (terms.was_cancelled) return was_cancelled;
  return std::nullopt;
}

std::optional<std::string> why_asked(const std::vector<ChangeVerdict>& verdicts) {
  const ChangeVerdict* asked = most_telling_question(verdicts);
  if (asked == nullptr) return std::nullopt;
  return "an operator has to say: " + asked->reason;
}

std::string conflicts_text(const std::vector<ConflictingPath>& conflicts) {
  std::string text = shown(conflicts.front().path) + " " + conflicts.front().why;
  if (conflicts.size() > 1) text += ", and " + std::to_string(conflicts.size() - 1) + " more";
  return text;
}

std::string reasons_text(const std::vector<Message>& reasons) {
  constexpr size_t most_shown = 3;
  if (reasons.empty()) return "it could not be committed";
  std::string text;
  for (size_t i = 0; i < std::min(reasons.size(), most_shown); ++i)
    text += (i == 0 ? "" : "; ") + reasons[i].text();
  if (reasons.size() > most_shown) text += "; and " + std::to_string(reasons.size() - most_shown) + " more";
  return text;
}

// Its first write copies a file of the project to the layer, however little is changed.
std::vector<std::string> large_copies(const ChangeSet& set) {
  constexpr uint64_t large = uint64_t{256} << 20;
  std::vector<std::string> notes;
  for (const Change& change : set.changes) {
    const bool is_copied = change.kind == ChangeKind::changed && change.before && change.after &&
                           change.before->kind == FileKind::file && change.after->kind == FileKind::file;
    if (is_copied && change.before->size >= large)
      notes.push_back(shown(shown_path(set, change.tree, change.path)) + " of " +
                      std::to_string(change.before->size >> 20) + " MiB was copied before it was changed");
  }
  return notes;
}

// For rules that count per task.
Result<void> count_for_task(const ChangeTerms& terms, const ChangeSet& set,
                            const std::vector<ChangeVerdict>& verdicts) {
  if (!terms.rules.count_per_task()) return {};
  return TaskChanges(terms.state, terms.task).add(set, verdicts);
}

class Settling {
 public:
  Settling(CallLayers& layers, const ChangeTerms& terms)
      : layers_(layers), terms_(terms), trees_(layers_of(layers)), sets_(terms.state, boot_id()) {}

  // What cannot be judged is stored, with the reason. What cannot be stored either goes at once: no later
  // call would find it, and each would want for the space.
  Result<ChangesOutcome> run(const ConfinementPlan& plan) {
    const bool is_stored = layers_.continued().has_value();
    auto settled = judge_and_commit(plan);
    if (!settled.ok() && may_be_stored_) settled = stage(describe(settled.error()));
    if (settled.ok() || is_stored || (work_ && work_->header.status != SetStatus::open)) return settled;
    if (work_) sets_.discard(*work_);
    Error error = settled.take_error();
    error.what = "it could not be stored, and is gone: " + error.what.text();
    return error;
  }

 private:
  Result<ChangesOutcome> judge_and_commit(const ConfinementPlan& plan) {
    for (const ViewEntry* entry : live_trees(plan)) outcome_.live.push_back(entry->source);
    // A call that wrote nothing waits for no other's commit: there is nothing of it that could come together
    // with that.
    if (terms_.is_released && !layers_.continued()) {
      TRY(let_go());
      const ReadChanges first = TRY(read_changes(trees_, {.entries = 0}));
      if (first.set.changes.empty() && first.is_exact()) return nothing();
    }
    // From here to the last rename no other call commits to these trees: what is judged together must come
    // together.
    std::vector<ChangedTree> roots;
    for (const TreeLayers& tree : trees_) roots.push_back(tree.tree);
    finish_interrupted(terms_.state, terms_.git);
    const auto lock = lock_commits(terms_.state, roots);
    TRY(let_go());
    const uint64_t until_ms = sys::monotonic_ms() + plan.limits.judge_ms;
    const ReadChanges read =
        TRY(read_changes(trees_, {.entries = plan.limits.changes, .until_ms = until_ms}));
    set_ = read.set;
    if (set_.changes.empty() && read.is_exact()) return nothing();
    outcome_.counts = count(set_);
    outcome_.digest = digest_of(set_);
    outcome_.notes = large_copies(set_);
    if (const auto why = why_unread(read, terms_)) return stage(*why);
    if (!lock.ok()) return stage(lock.error().what.text());
    ChangeRules rules = terms_.rules;
    if (rules.count_per_task()) {
      auto earlier = TaskChanges(terms_.state, terms_.task).read();
      if (!earlier.ok()) return stage(describe(earlier.error()));
      rules.earlier = std::move(earlier).value();
    }
    JudgedChanges judged = TRY(judge_set(set_, trees_, terms_.git, rules, {.until_ms = until_ms}));
    verdicts_ = std::move(judged.verdicts);  // none beyond a bound, which an operator's apply does not have
    if (const auto& before = layers_.continued()) return stage(went_on + before->header.why);
    if (judged.stage) return stage(*judged.stage);
    if (terms_.writes == Writes::stage) return stage(asked_to_stage);
    if (const auto why = why_asked(verdicts_)) {
      outcome_.asks = true;
      return stage(*why);
    }
    return commit();
  }

  // Where the kernel has not let go of the layers, what is stored is a copy.
  Result<void> let_go() {
    if (terms_.is_released) {
      layers_.take_back_approved();
    } else {
      TRY(layers_.renew(terms_.state));
      trees_ = layers_of(layers_);
    }
    may_be_stored_ = true;
    return {};
  }

  Result<ChangesOutcome> nothing() {
    if (!layers_.continued()) return outcome_;
    SetInWork work = TRY(begin_set(layers_, sets_, terms_));  // the call took everything back
    sets_.discard(work);
    return outcome_;
  }

  Result<ChangesOutcome> commit() {
    TRY(close_directories(trees_, set_));
    for (const auto& conflict : TRY(find_conflicts(trees_, set_, layers_.start(), layers_.indexes())))
      outcome_.conflicts.push_back(
          {shown_path(set_, conflict.tree, conflict.path, terms_.workspace), conflict.what});
    if (!outcome_.conflicts.empty()) return stage(conflicts_text(outcome_.conflicts));
    if (const auto counted = count_for_task(terms_, set_, verdicts_); !counted.ok())
      return stage(describe(counted.error()));
    may_be_stored_ = false;
    SetInWork& work = work_.emplace(TRY(begin_set(layers_, sets_, terms_)));
    outcome_.set = work.header.id;
    Committed committed;
    for (int tries = 0; tries == 0 || may_try_again(committed, tries); ++tries) {
      auto tried = sets_.commit(work, set_, verdicts_, {.sync = terms_.sync, .bounds = terms_.undo});
      if (!tried.ok() && work.header.status != SetStatus::open) return tried.error();
      committed = tried.ok() ? std::move(tried).value() : Committed{.reasons = {tried.error().what}};
    }
    if (committed.end != CommitEnd::committed) {
      outcome_.end = ChangesEnd::staged;
      outcome_.why_staged = reasons_text(committed.reasons);
      work.header.why = outcome_.why_staged.text();
      if (committed.end != CommitEnd::stuck) TRY(sets_.stage(work, set_, verdicts_));
    } else {
      outcome_.end = ChangesEnd::committed;
    }
    outcome_.paths = changed_paths(set_, verdicts_, terms_.workspace);
    return std::move(outcome_);
  }

  // Every `git status` of the host's writes the index anew, and takes no notice of our lock.
  bool may_try_again(const Committed& committed, int tries) {
    constexpr int most_tries = 10;
    const bool was_too_late = committed.end == CommitEnd::taken_back;
    if ((!was_too_late && committed.end != CommitEnd::refused) || tries >= most_tries) return false;
    const IndexesNow now = take_refreshed_indexes(trees_, set_, layers_.start(), layers_.indexes());
    return now == IndexesNow::refreshed || (now == IndexesNow::as_read && was_too_late);
  }

  Result<ChangesOutcome> stage(const std::string& why) {
    const bool goes_on = layers_.continued().has_value();
    may_be_stored_ = false;
    SetInWork& work = work_.emplace(TRY(begin_set(layers_, sets_, terms_)));
    if (!goes_on) work.header.why = why;  // what is in the way of the first is in the way of all
    // Half of a call that the user broke off is put aside: the next one goes on from the project. And what is
    // asked about is of no task before the answer: the answer is about this call alone.
    const bool is_put_aside = terms_.was_cancelled && terms_.writes != Writes::stage;
    if (!goes_on && (is_put_aside || outcome_.asks)) work.header.task.clear();
    TRY(close_directories(trees_, set_));
    TRY(sets_.stage(work, set_, verdicts_));
    outcome_.end = ChangesEnd::staged;
    outcome_.set = work.header.id;
    outcome_.why_staged = why;
    outcome_.paths = changed_paths(set_, verdicts_, terms_.workspace);
    return std::move(outcome_);
  }

  CallLayers& layers_;
  const ChangeTerms& terms_;
  std::vector<TreeLayers> trees_;
  ChangeSets sets_;
  std::optional<SetInWork> work_ = {};
  ChangeSet set_ = {};
  std::vector<ChangeVerdict> verdicts_ = {};
  // The kernel has let go of the layers, and no set of the store has them yet.
  bool may_be_stored_ = false;
  ChangesOutcome outcome_ = {};
};

}  // namespace

void finish_interrupted(const std::string& state, const GitSources& git) {
  ChangeSets(state, boot_id()).recover_interrupted([&](const StoredSet& set) {
    return may_be_finished(set, git);
  });
}

Result<ChangesOutcome> settle_changes(CallLayers& layers, const ConfinementPlan& plan,
                                      const ChangeTerms& terms) {
  return Settling(layers, terms).run(plan);
}

Question question_about(const ChangesOutcome& changes, const std::string& label) {
  constexpr size_t most_shown = 20;
  std::string text = escape_for_person(label) +
                     " has ended, and what it changed is not in the project yet: " +
                     escape_for_person(changes.why_staged.text()) + "\n" + counts_text(changes.counts) + "\n";
  size_t asked = 0;
  for (const ChangedPath& path : changes.paths) {
    if (path.fate != Fate::asked || ++asked > most_shown) continue;
    text += "  " + std::string(name_of(path.kind)) + " " + escape_for_person(path.path) + "\n";
  }
  if (asked > most_shown) text += "  and " + std::to_string(asked - most_shown) + " more\n";
  text += "bring it in? no leaves it staged as " + changes.set + "\n";
  return {.digest = changes.digest, .text = std::move(text)};
}

Result<void> leave_staged(const ChangesOutcome& changes, const ChangeTerms& terms) {
  return ChangeSets(terms.state, boot_id()).give_to_task(changes.set, terms.task);
}

void bring_in(ChangesOutcome& changes, const ChangeTerms& terms) {
  const auto applied = [&]() -> Result<OperatorOutcome> {
    const StoredSet set = TRY(ChangeSets(terms.state, boot_id()).find(changes.set));
    TRY(count_for_task(terms, set.changes, set.verdicts));
    return StoredChanges(terms.state, terms.git).apply(changes.set, {});
  }();
  changes.asks = false;
  if (!applied.ok() || applied.value().end != OperatorEnd::done) {
    if (applied.ok()) changes.conflicts = applied.value().conflicts;
    changes.why_staged =
        applied.ok() ? Message("it was allowed, and something is in the way by now") : applied.error().what;
    return;
  }
  changes.end = ChangesEnd::committed;
  changes.why_staged = {};
  for (ChangedPath& path : changes.paths)
    if (path.fate == Fate::asked) path = {path.path, path.kind, Fate::committed, ""};
}

}  // namespace cloche
