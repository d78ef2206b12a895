#include "doors/cli/log_command.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/sys/read_at.hpp"
#include "base/sys/sys.hpp"
#include "base/text/command_words.hpp"
#include "doors/changes/stored_sets_text.hpp"
#include "doors/cli/help_pages.hpp"
#include "doors/cli/log_text.hpp"
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
constexpr uint64_t most_result_bytes = 1 << 20;

constexpr ActionName<Action> actions[] = {
    {"list", Action::list, "",
     "The runs in the state directory, the one written last at the end, with the calls that were refused "
     "and the paths that calls changed, had withheld or left staged, and the change sets that wait "
     "for your answer, oldest first; also without an action."},
    {"show", Action::show, "RUN [CALL]",
     "A table of its calls, and the gates that objected; with CALL (c-0007) all that the record says of this "
     "one. With --denied and without a RUN: of every run in the state directory."},
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
    {"--denied", "",
     "Of show: only what was denied, by a gate, a limit or the network gate, a line for each denial.",
     raise<&LogArguments::denied>, bit(Action::show)},
    {"--head", "H",
     "Of verify: a head of the audit that you stored elsewhere; it must still be in the chain.",
     keep<&LogArguments::head>, bit(Action::verify)},
    {"--older-than", "TIME",
     "Of prune: remove every run that was not written to for so long (90m, 1h, 7d), and what calls without a "
     "record had quarantined by then.",
     keep<&LogArguments::older_than>, bit(Action::prune)},
    {"--json", "",
     "Print JSON: of show and tail the lines of the record, with --denied a line for each denial, of verify "
     "ok, lines, head, first_bad and notes, of list an array of runs. Its times are in UTC.",
     raise<&LogArguments::json>, ~bit(Action::prune)},
    help_option<LogArguments>};

}  // namespace

HelpPage log_help() {
  return {
      .usage =
          "cloche log [list [--json]]\n"
          "cloche log show RUN [CALL] [--task T] [--json]\n"
          "cloche log [show [RUN]] --denied [--task T] [--json]\n"
          "cloche log verify|tail RUN [--task T] [--head H] [--json]\n"
          "cloche log prune [RUN | --older-than TIME]",
      .about = "RUN is a run's id, 'last', or its directory; show and verify also take one transcript file.",
      .rows = rows_of<Action>(actions) + rows_of<LogArguments>(options),
      .notes = "Exit code 0 when the record is whole, 1 when not, 125 when there is no such run.",
      .examples = {"cloche log show last", "cloche log show last c-0007", "cloche log show --denied",
                   "cloche log verify run1 --json", "cloche log tail run1 --task T-001",
                   "cloche log prune --older-than 7d"}};
}

namespace {

Error bad_usage(const std::string& what) { return usage_error(what, "see cloche log --help"); }

Result<void> check(const LogArguments& arguments) {
  if (arguments.action == Action::list) {
    if (!arguments.run.empty()) return bad_usage("list takes no run");
    return {};
  }
  const bool of_all = arguments.action == Action::prune || arguments.denied;
  if (!of_all && arguments.run.empty()) return bad_usage("name a run: its id, 'last' or its directory");
  if (arguments.denied && !arguments.call.empty()) return bad_usage("--denied is of a run, not of one call");
  if (!arguments.run.empty() && !arguments.older_than.empty())
    return bad_usage("give a run or --older-than, not both");
  if (!arguments.older_than.empty()) TRY(parse_duration_ms("--older-than", arguments.older_than));
  if (!arguments.task.empty()) TRY(check_task_id(arguments.task));
  return {};
}

// "c-0007"
bool is_call_id(std::string_view word) {
  return word.size() > 2 && word.starts_with("c-") &&
         word.find_first_not_of("0123456789", 2) == std::string_view::npos;
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

// Each line of a call that has ended, of a run or of one transcript file.
Result<void> visit_calls(const LogArguments& arguments, const Target& target,
                         const TranscriptFollower::Visit& visit) {
  if (!target.file.empty()) return visit_lines(target.file, visit);
  return TranscriptFollower(target.run, arguments.task).read_on(visit);
}

// The bytes that the call gave, or what its model has read of them where no file has them.
std::string result_of(const JsonValue& line, const Target& target) {
  const std::string name = text_of(line, "task_id") + "/" + text_of(line, "call_id");
  if (target.file.empty() && line.find("raw") != nullptr && is_bare_word(text_of(line, "task_id")) &&
      is_bare_word(text_of(line, "call_id"))) {
    const std::string file = target.run.transcripts() + "/" + name + std::string(result_ending);
    if (const auto opened = read_record_file(AT_FDCWD, file, file); opened.ok()) {
      auto text = sys::read_at(opened.value().get(), 0, most_result_bytes, "read the result");
      if (text.ok()) return std::move(text).value();
    }
  }
  return text_of(line, "result");
}

Result<int> show_call(const LogArguments& arguments, const Target& target, const Screen& screen) {
  std::string found;
  const auto take = [&](const JsonValue& line, std::string_view text) {
    if (text_of(line, "call_id") != arguments.call) return;
    found = arguments.json ? std::string(text) + "\n" : call_text(line, result_of(line, target), screen);
  };
  TRY(visit_calls(arguments, target, take));
  // One that has not ended has its decision alone.
  if (found.empty() && target.file.empty()) {
    TRY(visit_lines(target.run.audit(), [&](const JsonValue& line, std::string_view text) {
      if (text_of(line, "kind") == "decision") take(line, text);
    }));
  }
  if (found.empty())
    return refusal("there is no call " + shown(arguments.call) + " in " + shown(arguments.run),
                   "cloche log show " + shown(arguments.run) + " lists them");
  return print_all(found, 0);
}

Result<std::vector<LoggedDenial>> denials_in(const LogArguments& arguments, const Target& target) {
  std::vector<LoggedDenial> denials;
  TRY(visit_calls(arguments, target, [&](const JsonValue& line, std::string_view) {
    for (auto& denial : denials_of(line)) denials.push_back(std::move(denial));
  }));
  if (target.file.empty())
    for (auto& denial : denials) denial.run_id = target.run.run_id();
  return denials;
}

Result<int> show_denials(const LogArguments& arguments, const std::string& state, const Screen& screen) {
  std::vector<LoggedDenial> denials;
  if (!arguments.run.empty()) {
    const Target target = TRY(find_target(arguments, state));
    denials = TRY(denials_in(arguments, target));
  } else {
    for (const auto& place : runs_in(state)) {
      auto of_run = denials_in(arguments, {{}, place});
      if (!of_run.ok()) complain(describe(of_run.error()));
      if (!of_run.ok()) continue;
      for (auto& denial : of_run.value()) denials.push_back(std::move(denial));
    }
  }
  std::ranges::stable_sort(denials, {}, &LoggedDenial::time);
  return print_all(arguments.json ? denials_json(denials) : denials_table(denials, screen), 0);
}

Result<int> show(const LogArguments& arguments, const Target& target, const Screen& screen) {
  if (!arguments.call.empty()) return show_call(arguments, target, screen);
  if (arguments.json) {
    TRY(visit_calls(arguments, target,
                    [](const JsonValue&, std::string_view line) { print(std::string(line) + "\n"); }));
    return 0;
  }
  print(log_table(
      TRY(target.file.empty() ? read_log(target.run, arguments.task) : read_log_file(target.file)), screen));
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

Result<int> tail(const LogArguments& arguments, const Target& target, const Screen& screen) {
  if (!target.file.empty())
    return bad_usage("tail follows a run, not a transcript file: name its run and give --task");
  TranscriptFollower follower(target.run, arguments.task);
  size_t most = calls_before_following;
  do {
    for (const auto& ended : TRY(follower.read_latest(most))) {
      const std::string text = arguments.json ? ended.line + "\n" : log_line(ended.call, screen);
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
  const Screen screen = screen_of_output(environment);
  if (arguments.action == Action::prune) return prune(arguments, state, environment);
  if (arguments.action == Action::list) {
    const auto runs = list_runs(state);
    if (arguments.json) return print_all(list_json(runs), 0);
    print(list_table(runs, screen));
    for (const std::string& set : staged_sets(state)) print(fitted("waits: " + set, 4, screen) + "\n");
    return 0;
  }
  if (arguments.denied) return show_denials(arguments, state, screen);
  const Target target = TRY(find_target(arguments, state));
  switch (arguments.action) {
    case Action::verify: return verify(arguments, target);
    case Action::tail: return tail(arguments, target, screen);
    default: return show(arguments, target, screen);
  }
}

}  // namespace

Result<LogArguments> parse_log(std::span<char* const> words) {
  if (words.empty()) return LogArguments{.action = Action::list};
  const std::string first = words.front();
  if (first == "--help" || first == "-h") return LogArguments{};
  // A flag alone is of the action that has it.
  const bool has_action = !first.starts_with('-');
  const bool asks_denied =
      std::ranges::any_of(words, [](std::string_view word) { return word == "--denied"; });
  LogArguments arguments{.action = asks_denied ? Action::show : Action::list};
  if (has_action) arguments.action = TRY(read_action<Action>(actions, first, "see cloche log --help"));
  const OptionTables<LogArguments> tables{{options}, bit(arguments.action)};
  const auto others = TRY(read_options(arguments, words.subspan(has_action ? 1 : 0), tables,
                                       OptionsEnd::dashes, "see cloche log --help"));
  if (arguments.help) return LogArguments{};
  const size_t most = arguments.action == Action::show ? 2 : 1;
  if (others.size() > most || (!others.empty() && *others.back() == 0))
    return bad_usage("one run at a time: unexpected argument '" + std::string(others.back()) + "'");
  if (!others.empty()) arguments.run = others[0];
  if (others.size() == 2) arguments.call = others[1];
  // RUN/c-0007, as the lists of changes write a call.
  const size_t slash = arguments.run.rfind('/');
  if (arguments.action == Action::show && arguments.call.empty() && slash != std::string::npos &&
      is_call_id(arguments.run.substr(slash + 1))) {
    arguments.call = arguments.run.substr(slash + 1);
    arguments.run.resize(slash);
  }
  if (!arguments.call.empty()) TRY(check_call_id(arguments.call));
  TRY(check(arguments));
  return arguments;
}

int log_command(std::span<char* const> words, const Environment& environment) {
  const auto arguments = parse_log(words);
  if (!arguments.ok()) {
    complain(describe(arguments.error()));
    return 2;
  }
  if (arguments.value().action == Action::help) return print_all(text_of(log_help()), 0);
  const auto done = act(arguments.value(), environment);
  return done.ok() ? done.value() : report(done.error());
}

}  // namespace cloche
