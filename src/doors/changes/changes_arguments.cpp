#include "doors/changes/changes_arguments.hpp"

namespace cloche {
namespace {

using Action = ChangesArguments::Action;

constexpr ActionName<Action> actions[] = {
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

// What the commands differ in, in the order of ChangesCommand.
struct CommandText {
  std::string_view see;
  Action action;
  unsigned options;  // of the help
  std::string_view usage;
  std::string_view about;
  std::string_view notes;
  std::vector<std::string_view> examples;
};
const CommandText& text_of(ChangesCommand command) {
  static const CommandText texts[] = {
      {"see cloche changes --help",
       Action::list,
       of_one | bit(Action::list),
       "cloche changes [list] [--all] [--json]\ncloche changes show|diff|apply|drop [ID] [--only PATH]...",
       "What calls wrote: each call that changed something has a change set.",
       "Without an ID: the one set of this workspace that waits for an answer. An ID may also be RUN/c-0007.",
       {"cloche changes", "cloche changes diff", "cloche changes apply --only .envrc"}},
      {"see cloche diff --help",
       Action::diff,
       diff_command_bit,
       "cloche diff [CALL | RUN | last] [PATH...] [--stat] [--json] [--no-pager]",
       "What a call changed in the project, as git shows it.",
       sets_text,
       {"cloche diff", "cloche diff last src --stat"}},
      {"see cloche undo --help",
       Action::undo,
       undo_command_bit,
       "cloche undo [CALL | RUN | last] [PATH...] [--dry-run] [--json]",
       "Takes back what a call changed in the project: all of it or nothing. A run is taken back newest call "
       "first, up to the first conflict. What an agent's own Edit tool wrote past a hook is in no change "
       "set, and is not taken back.",
       sets_text,
       {"cloche undo", "cloche undo last old.py", "cloche undo run1"}}};
  return texts[static_cast<size_t>(command)];
}

}  // namespace

Result<ChangesArguments> parse_changes_words(std::span<char* const> words, ChangesCommand command) {
  const CommandText& text = text_of(command);
  const std::string see(text.see);
  ChangesArguments arguments{.command = command, .action = text.action};
  const bool takes_paths = command != ChangesCommand::changes;
  if (!takes_paths && !words.empty() && *words.front() != '-') {
    arguments.action = TRY(read_action<Action>(actions, words.front(), see));
    words = words.subspan(1);
  }
  const OptionTables<ChangesArguments> tables{{options}, takes_paths ? text.options : bit(arguments.action)};
  const auto others = TRY(read_options(arguments, words, tables, OptionsEnd::dashes, see));
  if (arguments.help) return ChangesArguments{.command = command, .help = true};
  for (const char* const word : others) {
    if (*word == '\0') return usage_error("a word is empty", see);
  }
  const size_t most = takes_paths ? others.size() : arguments.action == Action::list ? 0 : 1;
  if (others.size() > most)
    return usage_error("unexpected argument '" + std::string(others[most]) + "'", see);
  if (!others.empty()) arguments.word = others.front();
  for (size_t i = 1; i < others.size(); ++i) arguments.paths.emplace_back(others[i]);
  return arguments;
}

HelpPage changes_help(ChangesCommand command) {
  const CommandText& text = text_of(command);
  std::vector<HelpRow> rows;
  if (command == ChangesCommand::changes) rows = rows_of<Action>(actions);
  const std::string notes = std::string(text.notes) + "\n" + std::string(codes_text);
  return {text.usage, text.about, std::move(rows) + rows_of<ChangesArguments>({options, text.options}), notes,
          text.examples};
}

}  // namespace cloche
