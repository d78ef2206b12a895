#include "doors/cli/log_command.hpp"

#include <poll.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/sys/sys.hpp"
#include "base/text/command_words.hpp"
#include "doors/changes/stored_sets_text.hpp"
#include "doors/cli/options.hpp"
#include "doors/cli/print.hpp"
#include "doors/commands.hpp"
#include "gateway/changes/stored_changes.hpp"
#include "gateway/configuration/configuration.hpp"
#include "gateway/configuration/installation.hpp"
#include "model/limits.hpp"
#include "store/host/callers_home.hpp"
#include "store/protected/git_places.hpp"
#include "store/record/prune.hpp"
#include "store/record/stored_head.hpp"

namespace cloche {
namespace {

using Action = LogArguments::Action;

constexpr int follow_every_ms = 200;
constexpr size_t calls_before_following = 10;
constexpr size_t shown_text_bytes = 72;
constexpr size_t shown_reason_bytes = 300;

constexpr ActionName<Action> actions[] = {
    {"list", Action::list, "",
     "The runs in the state directory, the one written last at the end, with the calls that were refused "
     "and the paths that calls changed, had withheld or left staged, and the change sets that wait "
     "for your answer, oldest first; also without an action."},
    {"show", Action::show, "RUN", "A table of its calls, and the gates that objected."},
    {"verify", Action::verify, "RUN",
     "Check that the record is as it was written: names the first line that was changed, removed, inserted "
     "or moved, and an end that was cut off."},
    {"tail", Action::tail, "RUN", "Its last calls, and each new one as it ends."},
    {"prune", Action::prune, "[RUN]",
     "Remove what finished runs have left: the homes of tasks, change sets beyond the bounds of the key undo "
     "(none younger than a day, none that waits) and, with RUN or --older-than, the records. The artifacts "
     "of a --run DIR are never removed, and a run that is in use is left alone."}};

constexpr unsigned bit(Action action) { return 1U << static_cast<unsigned>(action); }
constexpr unsigned of_a_run = ~(bit(Action::list) | bit(Action::prune));

constexpr Option<LogArguments> options[] = {
    {"--task", "T", "Only the calls of this task.", keep<&LogArguments::task>, of_a_run},
    {"--head", "H",
     "Of verify: a head of the audit that you stored elsewhere; it must still be in the chain.",
     keep<&LogArguments::head>, bit(Action::verify)},
    {"--older-than", "TIME",
     "Of prune: remove every run that was not written to for so long (1h, 90m), and what calls without a "
     "record had quarantined by then.",
     keep<&LogArguments::older_than>, bit(Action::prune)},
    {"--json", "",
     "Print JSON: of show and tail the lines of the record, of verify ok, lines, head, first_bad and notes.",
     raise<&LogArguments::json>, of_a_run},
    help_option<LogArguments>};

std::string log_help() {
  return text_of(HelpPage{
      .usage = "cloche log [list]\n"
               "cloche log show|verify|tail RUN [--task T] [--head H] [--json]\n"
               "cloche log prune [RUN | --older-than TIME]",
      .about = "RUN is a run's id, 'last', or its directory; show and verify also take one transcript file.",
      .rows = rows_of<Action>(actions) + rows_of<LogArguments>(options),
      .notes = "Exit code 0 when the record is whole, 1 when not, 125 when there is no such run.",
      .examples = {"cloche log show last", "cloche log verify run1 --json",
                   "cloche log tail run1 --task T-001", "cloche log prune --older-than 168h"}});
}

Error bad_usage(const std::string& what) { return usage_error(what, "see cloche log --help"); }

Result<void> check(const LogArguments& arguments) {
  if (arguments.action == Action::list) {
    if (!arguments.run.empty()) return bad_usage("list takes no run");
    return {};
  }
  if (arguments.action != Action::prune && arguments.run.empty())
    return bad_usage("name a run: its id, 'last' or its directory");
  if (!arguments.run.empty() && !arguments.older_than.empty())
    return bad_usage("give a run or --older-than, not both");
  if (!arguments.older_than.empty()) TRY(parse_duration_ms("--older-than", arguments.older_than));
  if (!arguments.task.empty()) TRY(check_task_id(arguments.task));
  return {};
}

std::string column(std::string_view text, size_t width) { return padded(text, width, 1); }

std::string ending_of(const LoggedCall& call) {
  if (call.outcome.empty()) return "no result";
  if (call.advisory && call.outcome == "exited") return "advisory";
  return call.outcome == "exited" ? "exit " + call.exit : call.outcome;
}

std::string changes_of(const RunCounts& counts) {
  std::string text;
  const auto add = [&](uint64_t paths, const char* word) {
    if (paths > 0) text += (text.empty() ? "" : ", ") + std::to_string(paths) + " " + word;
  };
  add(counts.changed, "changed");
  add(counts.withheld, "withheld");
  add(counts.staged, "staged");
  return text.empty() ? "none" : text;
}

bool is_regular(const std::string& path) {
  struct stat seen {};
  return ::stat(path.c_str(), &seen) == 0 && S_ISREG(seen.st_mode);
}

// What RUN names: one transcript file, or a whole run.
struct Target {
  std::string file = {};  // empty: the run
  RunPlace run = {};
};
Result<Target> find_target(const LogArguments& arguments, const std::string& state) {
  if (arguments.run.find('/') != std::string::npos && is_regular(arguments.run))
    return Target{arguments.run, {}};
  if (arguments.run.ends_with(transcript_ending) && is_regular(arguments.run))
    return Target{arguments.run, {}};
  auto found = find_run(arguments.run, state);
  const bool verifies = arguments.action == Action::verify;
  if (const auto lost = !found.ok() && verifies ? find_lost_run(arguments.run, state) : std::nullopt)
    return Target{{}, *lost};
  const RunPlace run = TRY(std::move(found));
  if (!has_record(run) && !(verifies && read_stored_head(run)))
    return refusal(shown(run.directory) + " has no record in it");
  return Target{{}, run};
}

Result<int> show(const LogArguments& arguments, const Target& target) {
  if (arguments.json) {
    const auto print_line = [](const JsonValue&, std::string_view line) { print(std::string(line) + "\n"); };
    if (!target.file.empty()) {
      TRY(visit_lines(target.file, print_line));
    } else {
      TRY(TranscriptFollower(target.run, arguments.task).read_on(print_line));
    }
    return 0;
  }
  print(log_table(
      TRY(target.file.empty() ? read_log(target.run, arguments.task) : read_log_file(target.file))));
  return 0;
}

Result<int> verify(const LogArguments& arguments, const Target& target) {
  const VerifyRequest request{arguments.head, arguments.task};
  const Verification found =
      TRY(target.file.empty() ? verify_run(target.run, request) : verify_file(target.file, request));
  return print_all(arguments.json ? to_json(found) + "\n" : verification_text(found),
                   found.first_bad ? 1 : 0);
}

// Waits a moment; false when the reader of stdout has gone.
bool reader_stays() {
  pollfd output{.fd = 1, .events = 0, .revents = 0};
  return ::poll(&output, 1, follow_every_ms) == 0 || (output.revents & (POLLERR | POLLNVAL)) == 0;
}

Result<int> tail(const LogArguments& arguments, const Target& target) {
  if (!target.file.empty())
    return bad_usage("tail follows a run, not a transcript file: name its run and give --task");
  TranscriptFollower follower(target.run, arguments.task);
  size_t most = calls_before_following;
  do {
    for (const auto& ended : TRY(follower.read_latest(most))) {
      const std::string text = arguments.json ? ended.line + "\n" : log_line(ended.call);
      if (!sys::write_all(1, text).ok()) return 0;
    }
    most = ~size_t{0};  // from here on every one
  } while (reader_stays());
  return 0;
}

// The operator's: a project cannot say.
Result<UndoBounds> undo_bounds(const Environment& environment) {
  const Installation installation = TRY(find_installation(environment));
  return TRY(load_configuration(environment, installation, "")).settings.undo.value;
}

void recover_change_sets(const std::string& state, const Environment& environment) {
  if (state.empty()) return;
  const std::string home = with_home_from_database(environment).get("HOME");
  const StoredChanges stored(state, find_git_sources(environment, home, state));
  for (const Recovered& recovered : stored.recover()) complain(recovered_text(recovered));
}

Result<int> prune(const LogArguments& arguments, const std::string& state, const Environment& environment) {
  if (!arguments.run.empty()) {
    const RunPlace place = TRY(find_run(arguments.run, state));
    if (!has_record(place)) return refusal(visible(place.directory) + " has no record in it");
    const Pruned what = TRY(prune_run(place));
    print(what == Pruned::record ? "removed the run " + place.run_id() + "\n"
                                 : "removed the task homes of " + visible(place.directory) + "\n");
    return 0;
  }
  std::optional<uint64_t> age;
  if (!arguments.older_than.empty()) age = TRY(parse_duration_ms("--older-than", arguments.older_than));
  recover_change_sets(state, environment);
  const PruneReport report = prune_state(state, age, TRY(undo_bounds(environment)));
  for (const auto& run : report.records) print("removed the run " + run + "\n");
  for (const auto& run : report.task_homes) print("removed the task homes of " + run + "\n");
  for (const auto& call : report.quarantines) print("removed the quarantine " + call + "\n");
  if (report.change_sets != 0)
    print("removed change sets, which can no longer be undone: " + std::to_string(report.change_sets) + "\n");
  for (const auto& line : report.left) complain(line);
  return 0;
}

Result<int> act(const LogArguments& arguments, const Environment& environment) {
  const std::string state = TRY(find_installation(environment)).state;
  if (arguments.action == Action::prune) return prune(arguments, state, environment);
  if (arguments.action == Action::list) {
    print(list_table(list_runs(state)));
    for (const std::string& set : staged_sets(state)) print("waits: " + set + "\n");
    return 0;
  }
  const Target target = TRY(find_target(arguments, state));
  switch (arguments.action) {
    case Action::verify: return verify(arguments, target);
    case Action::tail: return tail(arguments, target);
    default: return show(arguments, target);
  }
}

}  // namespace

Result<LogArguments> parse_log(std::span<char* const> words) {
  if (words.empty()) return LogArguments{.action = Action::list};
  const std::string first = words.front();
  if (first == "--help" || first == "-h") return LogArguments{};
  LogArguments arguments{.action = TRY(read_action<Action>(actions, first, "see cloche log --help"))};
  const OptionTables<LogArguments> tables{{options}, bit(arguments.action)};
  const auto runs =
      TRY(read_options(arguments, words.subspan(1), tables, OptionsEnd::dashes, "see cloche log --help"));
  if (arguments.help) return LogArguments{};
  if (runs.size() > 1 || (runs.size() == 1 && *runs[0] == 0))
    return bad_usage("one run at a time: unexpected argument '" + std::string(runs.back()) + "'");
  if (!runs.empty()) arguments.run = runs[0];
  TRY(check(arguments));
  return arguments;
}

std::string list_table(const std::vector<RunSummary>& runs) {
  if (runs.empty()) return "no runs\n";
  std::string text = column("RUN", 26) + column("WRITTEN", 26) + column("CALLS", 7) + column("REFUSED", 9) +
                     column("CHANGES", 24) + "WORKSPACE\n";
  for (const auto& run : runs)
    text += column(shown(run.run_id, 80), 26) + column(run.written, 26) +
            column(std::to_string(run.calls), 7) +
            column(run.counts ? std::to_string(run.counts->refused) : "-", 9) +
            column(run.counts ? changes_of(*run.counts) : "-", 24) +
            shown(run.workspace, shown_reason_bytes) + "\n";
  return text;
}

std::string log_line(const LoggedCall& call) {
  std::string text = column(shown(call.call_id, 24), 8) + column(shown(call.time, 32), 26);
  text += column(shown(call.task_id, 24), 10) + column(shown(call.tool, 24), 18);
  text += column(shown(call.decision, 16), 7) + column(shown(ending_of(call), 24), 11);
  text += column(call.wall_ms.empty() ? "-" : shown(call.wall_ms, 12) + " ms", 9);
  text += shown(call.args, shown_text_bytes) + "\n";
  for (const auto& objection : call.objections)
    text += std::string(8, ' ') + shown(objection, shown_reason_bytes) + "\n";
  return text;
}

std::string log_table(const Log& log) {
  if (log.calls.empty() && log.unreadable_lines == 0) return "no calls\n";
  std::string text = column("CALL", 8) + column("TIME", 26) + column("TASK", 10) + column("TOOL", 18) +
                     column("GATES", 7) + column("END", 11) + column("TOOK", 9) + "ARGS\n";
  for (const auto& call : log.calls) text += log_line(call);
  if (log.unreadable_lines > 0)
    text +=
        "lines that cannot be read: " + std::to_string(log.unreadable_lines) + "; see cloche log verify\n";
  return text;
}

std::string verification_text(const Verification& verification) {
  std::string text;
  for (const auto& note : verification.notes) text += "note: " + visible(note) + "\n";
  if (const auto& bad = verification.first_bad) {
    const std::string line = bad->line == 0 ? "" : " line " + std::to_string(bad->line);
    return text + "BAD: " + visible(bad->file) + line + ": " + visible(bad->why) + "\n";
  }
  return text + "ok: " + std::to_string(verification.lines) + " lines, head " + verification.head + "\n";
}

int log_command(std::span<char* const> words, const Environment& environment) {
  const auto arguments = parse_log(words);
  if (!arguments.ok()) {
    complain(describe(arguments.error()));
    return 2;
  }
  if (arguments.value().action == Action::help) return print_all(log_help(), 0);
  const auto done = act(arguments.value(), environment);
  return done.ok() ? done.value() : report(done.error());
}

}  // namespace cloche
