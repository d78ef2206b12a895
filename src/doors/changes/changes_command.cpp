// `cloche changes`, `cloche diff` and `cloche undo`: what calls did to a project's files, and what becomes of
// it.
#include <unistd.h>

#include <algorithm>
#include <map>

#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "base/text/amounts.hpp"
#include "base/text/visible_text.hpp"
#include "doors/changes/change_text.hpp"
#include "doors/changes/changes_arguments.hpp"
#include "doors/changes/pager.hpp"
#include "doors/changes/stored_sets_text.hpp"
#include "doors/changes/visible_bytes.hpp"
#include "doors/cli/print.hpp"
#include "doors/commands.hpp"
#include "gateway/configuration/configuration.hpp"
#include "gateway/configuration/installation.hpp"
#include "store/commit/set_contents.hpp"
#include "store/host/callers_home.hpp"
#include "store/protected/git_places.hpp"

namespace cloche {
namespace {

using Action = ChangesArguments::Action;

constexpr size_t most_notes = 10;   // about contents that are not shown
constexpr size_t most_later = 100;  // sets that may keep what a set put into the project
constexpr size_t most_listed = 20;  // of the sets in which nothing waits
constexpr const char* not_in_a_set =
    "What an agent's own Edit tool wrote past a hook is in no change set, and is still there.\n";

// For stdout as it is.
DiffOptions options_for_output(const Environment& environment, bool stat) {
  const Screen screen = screen_of_output(environment);
  DiffOptions options{.colour = screen.colour, .stat = stat};
  if (screen.columns != 0) options.width = screen.columns;
  return options;
}

std::string in_sets(const std::string& objects) { return "{\"sets\":[" + objects + "]}\n"; }

int exit_code_of(OperatorEnd end) {
  switch (end) {
    case OperatorEnd::done: return 0;
    case OperatorEnd::nothing:
    case OperatorEnd::conflict: return 1;
    case OperatorEnd::stuck: return 125;
  }
  return 125;
}

// A rehearsal changes nothing: what a later set stands in the way with would be gone by then.
void expect_undone(const std::vector<OperatorOutcome>& later, OperatorOutcome& outcome) {
  if (outcome.end != OperatorEnd::conflict) return;
  std::erase_if(outcome.conflicts, [&](const ConflictingPath& conflict) {
    return std::ranges::any_of(later, [&](const OperatorOutcome& one) {
      return std::ranges::any_of(
          one.paths, [&](const ChangedPath& path) { return is_at_or_below(conflict.path, path.path); });
    });
  });
  if (outcome.conflicts.empty() && outcome.reasons.empty()) outcome.end = OperatorEnd::done;
}

class ChangesDoor {
 public:
  ChangesDoor(const ChangesArguments& arguments, const Environment& environment,
              const Installation& installation)
      : arguments_(arguments),
        environment_(environment),
        installation_(installation),
        store_(installation.state,
               find_git_sources(environment, with_home_from_database(environment).get("HOME"),
                                installation.state)) {}

  Result<int> run() {
    const std::string current = TRY(sys::hold(".")).path;
    TRY(follow_workspace(current));
    const auto all_recovered = store_.recover();
    for (const Recovered& recovered : all_recovered) complain(recovered_text(recovered));
    if (!all_recovered.empty()) store_.sets().empty_trash();
    all_ = store_.sets().list();
    here_ = TRY(workspace_here(all_, current));
    switch (arguments_.action) {
      case Action::list: return list();
      case Action::show: return show();
      case Action::diff: return diff();
      case Action::undo: return undo();
      case Action::apply:
      case Action::drop: return answer();
    }
    return 125;
  }

 private:
  // A project that was renamed is still the one that its sets were made in.
  Result<void> follow_workspace(const std::string& current) const {
    const auto all = store_.sets().list();
    const KnownDirectory here = TRY(workspace_here(all, current)).directory;
    for (const SetHeader& header : all) {
      if (header.workspace.path == here.path || !is_same_directory(header.workspace, here)) continue;
      const auto followed = store_.sets().follow_workspace(header.id, here);
      if (!followed.ok()) complain(describe(followed.error()));
    }
    return {};
  }

  // Of `changes` without an id.
  Result<std::vector<SetHeader>> the_waiting_one() const {
    std::vector<SetHeader> waiting;
    for (const SetHeader& header : all_) {
      if (!is_same_directory(header.workspace, here_.directory)) continue;
      const auto set = store_.sets().find(header.id);
      if (set.ok() && !waiting_changes(set.value()).empty()) waiting.push_back(header);
    }
    const bool decides = arguments_.action == Action::apply || arguments_.action == Action::drop;
    if (waiting.size() > 1 && decides)
      return usage_error(std::to_string(waiting.size()) + " change sets wait for an answer",
                         "name one: cloche changes lists them");
    if (!waiting.empty()) waiting.resize(1);
    return waiting;
  }

  Result<std::vector<SetHeader>> wanted() const {
    const bool is_of_changes = arguments_.command == ChangesCommand::changes;
    if (arguments_.word.empty() && is_of_changes) return the_waiting_one();
    IsCandidate may_be_last;
    if (arguments_.action == Action::undo)
      may_be_last = [&](const SetHeader& header) { return has_any_in_project(header.id); };
    return choose_sets(all_, arguments_.word.empty() ? "last" : arguments_.word, here_, may_be_last);
  }

  // One that was taken back, but for what was withheld of it, has nothing more to undo.
  bool has_any_in_project(const std::string& id) const {
    const auto set = store_.sets().find(id);
    if (!set.ok()) return true;  // which says what is wrong with it
    for (size_t i = 0; i < set.value().changes.changes.size(); ++i)
      if (is_in_project(set.value(), i)) return true;
    return false;
  }

  // No set is meant.
  int nothing() const {
    const std::string here = shown(here_.directory.path);
    const bool is_of_changes = arguments_.command == ChangesCommand::changes;
    complain(is_of_changes
                 ? "no change set of " + here + " waits for an answer; cloche changes lists them"
                 : "no call has changed anything in " + here +
                       " that is kept; cloche changes lists what waits for an answer, with --all in "
                       "every workspace");
    return 1;
  }

  Result<int> list() const {
    std::vector<ListedSet> rows;
    for (const SetHeader& header : all_) {
      if (!arguments_.all && !is_same_directory(header.workspace, here_.directory)) continue;
      const auto set = store_.sets().find(header.id);
      if (!set.ok()) {
        complain(describe(set.error()));
        continue;
      }
      rows.push_back(listed(set.value(), is_undo(all_, header)));
    }
    rows = in_list_order(std::move(rows), most_listed);
    return print_all(arguments_.json ? sets_json(rows)
                                     : sets_table(rows, arguments_.all ? Workspaces::every : Workspaces::one,
                                                  screen_of_output(environment_)),
                     0);
  }

  // The changes that the operator's paths mean.
  Result<std::vector<ShownChange>> files_of(const StoredSet& set) const {
    std::vector<ShownChange> files = shown_files(set.changes, verdicts_now(set));
    const auto paths = TRY(resolve_paths(set.header, arguments_.paths, here_));
    if (paths.empty()) return files;
    std::erase_if(files, [&](const ShownChange& file) { return !is_meant(paths, file.change); });
    return files;
  }

  Result<int> show() const {
    const auto sets = TRY(wanted());
    if (sets.empty()) return nothing();
    std::string text;
    for (const SetHeader& header : sets) {
      const StoredSet set = TRY(store_.sets().find(header.id));
      const auto files = TRY(files_of(set));
      text += arguments_.json ? (text.empty() ? "" : ",") + set_json(set, files, nullptr)
                              : set_text(set, files, screen_of_output(environment_));
    }
    return print_all(arguments_.json ? in_sets(text) : text, 0);
  }

  // Of the same workspace, oldest first.
  std::vector<StoredSet> later_than(const SetHeader& header) const {
    std::vector<StoredSet> later;
    for (auto at = all_.rbegin(); at != all_.rend() && later.size() < most_later; ++at) {
      if (at->created_ms < header.created_ms || at->id == header.id) continue;
      if (at->status != SetStatus::committed || !is_same_directory(at->workspace, header.workspace)) continue;
      auto set = store_.sets().find(at->id);
      if (set.ok()) later.push_back(std::move(set).value());
    }
    return later;
  }

  // By the configuration as it is now, and by the patterns that the call had.
  Result<void> mark_hidden(const StoredSet& set, std::vector<ShownChange>& files) const {
    const Settings settings =
        TRY(load_configuration(environment_, installation_, set.header.workspace.path)).settings;
    const HiddenPaths hidden = TRY(HiddenPaths::read({.patterns = settings.hide.value}));
    for (ShownChange& file : files)
      file.hidden = file.verdict.reason == hidden_reason ||
                    hidden.hides(set.changes.trees[file.change.tree].path, file.change.path);
    return {};
  }

  Result<void> read_contents(const StoredSet& set, std::vector<ShownChange>& files,
                             const DiffOptions& options) const {
    std::map<std::pair<size_t, std::string_view>, size_t> places;
    for (size_t i = 0; i < set.changes.changes.size(); ++i)
      places[{set.changes.changes[i].tree, set.changes.changes[i].path}] = i;
    SetContents contents = TRY(SetContents::open(set, [&] { return later_than(set.header); }));
    mark_ignored(set, contents, files);
    TRY(mark_hidden(set, files));
    std::vector<std::string> notes;
    for (const size_t shown_file : files_shown_whole(files, options)) {
      ShownChange& file = files[shown_file];
      if (file.hidden) continue;
      const size_t place = places.at({file.change.tree, file.change.path});
      SideContents before = contents.before(place);
      SideContents after = contents.after(place);
      for (const SideContents* side : {&before, &after}) {
        if (!side->why.empty()) notes.push_back(quoted_name(file.path) + " " + side->why);
      }
      file.before = std::move(before.bytes);
      file.after = std::move(after.bytes);
    }
    for (size_t i = 0; i < std::min(notes.size(), most_notes); ++i) complain(notes[i]);
    if (notes.size() > most_notes) complain("and " + count_text(notes.size() - most_notes, "more note"));
    return {};
  }

  Result<int> diff() const {
    auto sets = TRY(wanted());
    if (sets.empty()) return nothing();
    const bool is_one = sets.size() == 1;
    const DiffOptions options = arguments_.json ? DiffOptions{.stat = arguments_.stat}
                                                : options_for_output(environment_, arguments_.stat);
    std::ranges::reverse(sets);  // as they came
    std::string text;
    for (const SetHeader& header : sets) {
      TRY(check_places(header));
      const StoredSet set = TRY(store_.sets().find(header.id));
      auto files = TRY(files_of(set));
      if (files.empty()) continue;
      TRY(read_contents(set, files, options));
      const std::string patch = diff_text(files, options);
      if (arguments_.json) {
        text += (text.empty() ? "" : ",") + set_json(set, files, &patch);
      } else {
        const bool is_plain = is_one && header.status == SetStatus::committed;
        text += (is_plain ? "" : set_heading(header) + "\n") + patch;
      }
    }
    if (text.empty()) {
      complain("nothing was changed at these paths");
      return 1;
    }
    if (arguments_.json) return print_all(in_sets(text), 0);
    if (arguments_.no_pager) return print_all(text, 0);
    std::vector<std::string> writable;
    for (const SetHeader& header : sets) {
      writable.push_back(header.workspace.path);
      for (const StoredTree& tree : header.trees) writable.push_back(tree.project.path);
    }
    return page(text, writable);
  }

  // Newest first, up to the first one that cannot be taken back.
  Result<int> undo() const {
    auto sets = TRY(wanted());
    if (sets.empty()) return nothing();
    if (sets.size() > 1)
      std::erase_if(sets, [](const auto& set) { return set.status != SetStatus::committed; });
    const Rehearsal rehearsal = arguments_.dry_run ? Rehearsal::dry_run : Rehearsal::no;
    const OperatorWord word = arguments_.dry_run ? OperatorWord::undo_rehearsed : OperatorWord::undo;
    std::vector<OperatorOutcome> outcomes;
    std::string text;
    int code = 1;
    for (const SetHeader& header : sets) {
      const auto paths = TRY(resolve_paths(header, arguments_.paths, here_));
      auto outcome = store_.undo(header.id, paths, rehearsal);
      if (outcome.ok() && arguments_.dry_run) expect_undone(outcomes, outcome.value());
      if (!outcome.ok()) {
        if (!arguments_.json) print(text);  // what was done is said before what failed
        return outcome.error();
      }
      code = exit_code_of(outcome.value().end);
      text += outcome_text(outcome.value(), word);
      outcomes.push_back(std::move(outcome).value());
      if (code != 0) break;
    }
    if (outcomes.empty())
      text = "nothing to do: nothing of " + shown(arguments_.word) + " is in the project\n";
    if (outcomes.size() < sets.size())
      text +=
          "earlier change sets that stay as they are: " + count_text(sets.size() - outcomes.size()) + "\n";
    if (code == 0) text += not_in_a_set;
    return print_all(arguments_.json ? outcomes_json(outcomes, word) : text, code);
  }

  // Those by which the call would have been judged; of a set that was judged none are asked for.
  Result<ChangeRules> rules_for(const SetHeader& header) const {
    ChangeRules rules;
    if (!is_unjudged(TRY(store_.sets().find(header.id)))) return rules;
    const Settings settings =
        TRY(load_configuration(environment_, installation_, header.workspace.path)).settings;
    rules.rules = settings.changes;
    rules.hidden = TRY(HiddenPaths::read({.patterns = settings.hide.value}));
    return rules;
  }

  Result<int> answer() const {
    const auto sets = TRY(wanted());
    if (sets.empty()) return nothing();
    if (sets.size() != 1)
      return usage_error("one change set at a time", "name it by its id: see cloche changes");
    const SetHeader& header = sets.front();
    const bool is_apply = arguments_.action == Action::apply;
    const auto only = TRY(resolve_paths(header, arguments_.paths, here_));
    const auto ours = TRY(resolve_paths(header, arguments_.ours, here_));
    const auto theirs = TRY(resolve_paths(header, arguments_.theirs, here_));
    // What cannot be configured can still be thrown away.
    const ChangeRules rules = is_apply || !only.empty() ? TRY(rules_for(header)) : ChangeRules();
    const OperatorOutcome outcome = TRY(is_apply ? store_.apply(header.id, {only, ours, theirs}, rules)
                                                 : store_.drop(header.id, only, rules));
    const OperatorWord word = is_apply ? OperatorWord::apply : OperatorWord::drop;
    const int code = print_all(arguments_.json ? outcomes_json({outcome}, word) : outcome_text(outcome, word),
                               exit_code_of(outcome.end));
    store_.sets().empty_trash();  // after the answer, because it takes time
    return code;
  }

  const ChangesArguments& arguments_;
  const Environment& environment_;
  const Installation& installation_;
  StoredChanges store_;
  std::vector<SetHeader> all_ = {};  // newest first
  WorkspaceHere here_ = {};
};

int changes_door(std::span<char* const> words, const Environment& environment, ChangesCommand command) {
  const auto arguments = parse_changes_words(words, command);
  if (!arguments.ok()) {
    complain(describe(arguments.error()));
    return 2;
  }
  if (arguments.value().help) return print_all(text_of(changes_help(command)), 0);
  const auto done = [&]() -> Result<int> {
    const Installation installation = TRY(find_installation(environment));
    if (installation.state.empty()) return refusal("there is no state directory: " + installation.no_state);
    return ChangesDoor(arguments.value(), environment, installation).run();
  }();
  return done.ok() ? done.value() : report(done.error());
}

}  // namespace

int changes_command(std::span<char* const> words, const Environment& environment) {
  return changes_door(words, environment, ChangesCommand::changes);
}

int diff_command(std::span<char* const> words, const Environment& environment) {
  return changes_door(words, environment, ChangesCommand::diff);
}

int undo_command(std::span<char* const> words, const Environment& environment) {
  return changes_door(words, environment, ChangesCommand::undo);
}

}  // namespace cloche
