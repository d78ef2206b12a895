#include "doors/changes/changes_arguments.hpp"

#include <algorithm>

#include "doors/cli/options.hpp"

namespace cloche {
namespace {

using Action = ChangesArguments::Action;

struct ActionName {
  std::string_view name;
  Action action;
  std::string_view value;
  std::string_view help;
};
constexpr ActionName actions[] = {
    {"list", Action::list, "",
     "The change sets of this workspace, those that wait for your answer first; also without an action."},
    {"show", Action::show, "[ID]", "Its paths, and why each that waits is not in the project."},
    {"diff", Action::diff, "[ID]", "What it changed, as git shows it."},
    {"apply", Action::apply, "[ID]",
     "Bring what waits into the project. What was withheld has to be named: --only PATH."},
    {"drop", Action::drop, "[ID]", "Throw away what waits. What is in the project stays."}};

constexpr unsigned bit(Action action) { return 1U << static_cast<unsigned>(action); }
constexpr unsigned diff_command_bit = 1U << 30;
constexpr unsigned undo_command_bit = 1U << 31;
constexpr unsigned of_one = bit(Action::show) | bit(Action::diff) | bit(Action::apply) | bit(Action::drop);

constexpr Option<ChangesArguments> options[] = {
    {"--only", "PATH", "Only this path and what is beneath it; may be given again.",
     add<&ChangesArguments::paths>, of_one},
    {"--ours", "PATH", "Of apply: keep the project's own at this path.", add<&ChangesArguments::ours>,
     bit(Action::apply)},
    {"--theirs", "PATH",
     "Of apply: take the call's at this path, although the project's was changed since. Undo brings that "
     "back.",
     add<&ChangesArguments::theirs>, bit(Action::apply)},
    {"--all", "", "The sets of every workspace.", raise<&ChangesArguments::all>, bit(Action::list)},
    {"--stat", "", "A line for each file instead of its contents.", raise<&ChangesArguments::stat>,
     bit(Action::diff) | diff_command_bit},
    {"--no-pager", "", "Print at once, also on a terminal.", raise<&ChangesArguments::no_pager>,
     bit(Action::diff) | diff_command_bit},
    {"--dry-run", "", "Say what would be taken back, and change nothing.", raise<&ChangesArguments::dry_run>,
     undo_command_bit},
    {"--json", "", "Print JSON.", raise<&ChangesArguments::json>},
    help_option<ChangesArguments>};

constexpr std::string_view sets_text =
    "last is the newest call that changed something in the workspace of the current directory, RUN all "
    "calls of a run, CALL one of them (c-0007, RUN/c-0007) or the id of a change set. A PATH means what is "
    "beneath it too.";
constexpr std::string_view codes_text =
    "Exit code 0; 1 for a conflict, or when there was nothing to do; 125 when it failed; 2 bad usage.";

std::string_view see_help(ChangesCommand command) {
  switch (command) {
    case ChangesCommand::changes: return "see cloche changes --help";
    case ChangesCommand::diff: return "see cloche diff --help";
    case ChangesCommand::undo: return "see cloche undo --help";
  }
  return "";
}

OptionTables<ChangesArguments> tables_of(ChangesCommand command, Action action) {
  switch (command) {
    case ChangesCommand::diff: return {{options}, diff_command_bit};
    case ChangesCommand::undo: return {{options}, undo_command_bit};
    default: return {{options}, bit(action)};
  }
}

std::string diff_help() {
  const std::string notes = std::string(sets_text) + "\n" + std::string(codes_text);
  return text_of(HelpPage{.usage = "cloche diff [CALL | RUN | last] [PATH...] [--stat] [--json] [--no-pager]",
                          .about = "What a call changed in the project, as git shows it.",
                          .rows = rows_of(tables_of(ChangesCommand::diff, Action::diff)),
                          .notes = notes,
                          .examples = {"cloche diff", "cloche diff last src --stat"}});
}

std::string undo_help() {
  const std::string notes =
      std::string(sets_text) +
      " A run is taken back newest call first, up to the first conflict.\n"
      "What an agent's own Edit tool wrote past a hook is in no change set, and is not taken back.\n" +
      std::string(codes_text);
  return text_of(HelpPage{.usage = "cloche undo [CALL | RUN | last] [PATH...] [--dry-run] [--json]",
                          .about = "Takes back what a call changed in the project: all of it or nothing.",
                          .rows = rows_of(tables_of(ChangesCommand::undo, Action::undo)),
                          .notes = notes,
                          .examples = {"cloche undo", "cloche undo last old.py", "cloche undo run1"}});
}

}  // namespace

Result<ChangesArguments> parse_changes_words(std::span<char* const> words, ChangesCommand command) {
  const std::string see(see_help(command));
  ChangesArguments arguments{.command = command};
  if (command == ChangesCommand::diff) arguments.action = Action::diff;
  if (command == ChangesCommand::undo) arguments.action = Action::undo;
  if (command == ChangesCommand::changes && !words.empty() && *words.front() != '-') {
    const std::string_view first = words.front();
    const auto* const named = std::find_if(std::begin(actions), std::end(actions),
                                           [&](const ActionName& row) { return row.name == first; });
    if (named == std::end(actions)) return usage_error("unknown action '" + std::string(first) + "'", see);
    arguments.action = named->action;
    words = words.subspan(1);
  }
  const auto others =
      TRY(read_options(arguments, words, tables_of(command, arguments.action), OptionsEnd::dashes, see));
  if (arguments.help) return ChangesArguments{.command = command, .help = true};
  for (const char* const word : others) {
    if (*word == '\0') return usage_error("a word is empty", see);
  }
  const bool takes_paths = command != ChangesCommand::changes;
  const size_t most = takes_paths ? others.size() : arguments.action == Action::list ? 0 : 1;
  if (others.size() > most)
    return usage_error("unexpected argument '" + std::string(others[most]) + "'", see);
  if (!others.empty()) arguments.word = others.front();
  for (size_t i = 1; i < others.size(); ++i) arguments.paths.emplace_back(others[i]);
  return arguments;
}

std::string changes_help(ChangesCommand command) {
  if (command == ChangesCommand::diff) return diff_help();
  if (command == ChangesCommand::undo) return undo_help();
  const std::string notes =
      "Without an ID: the one set of this workspace that waits for an answer. An ID may also be "
      "RUN/c-0007.\n" +
      std::string(codes_text);
  std::vector<HelpRow> rows;
  for (const auto& row : actions)
    rows.push_back({std::string(row.name) + (row.value.empty() ? "" : " ") + std::string(row.value),
                    std::string(row.help)});
  for (auto& row : rows_of(OptionTables<ChangesArguments>{{options}, of_one | bit(Action::list)}))
    rows.push_back(std::move(row));
  return text_of(
      HelpPage{.usage = "cloche changes [list] [--all] [--json]\n"
                        "cloche changes show|diff|apply|drop [ID] [--only PATH]...",
               .about = "What calls wrote: each call that changed something has a change set.",
               .rows = std::move(rows),
               .notes = notes,
               .examples = {"cloche changes", "cloche changes diff", "cloche changes apply --only .envrc"}});
}

}  // namespace cloche
