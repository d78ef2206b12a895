#include "doors/cli/completions.hpp"

#include "doors/cli/help_pages.hpp"

namespace cloche {
namespace {

enum class ValueKind { none, directory, file, other };

ValueKind kind_of(std::string_view value) {
  if (value.empty()) return ValueKind::none;
  if (value == "DIR") return ValueKind::directory;
  if (value == "FILE" || value == "PATH" || value.starts_with("SRC")) return ValueKind::file;
  return ValueKind::other;
}

struct Flag {
  std::vector<std::string> names;
  ValueKind kind;
  std::string help;
};

// What can follow the name of a command.
struct CommandWords {
  std::string_view name;
  std::string_view help;
  std::vector<std::string> actions;
  std::vector<Flag> flags;
};

// Without the ".", and without what follows the sentence.
std::string first_sentence(std::string_view help) {
  const size_t end = help.find(". ");
  if (end != std::string_view::npos) help = help.substr(0, end);
  if (help.ends_with('.')) help.remove_suffix(1);
  return std::string(help);
}

std::vector<CommandWords> all_commands() {
  std::vector<CommandWords> all;
  for (const auto& command : command_helps()) {
    const HelpPage page = command.page();
    CommandWords words{
        .name = command.name, .help = command.help, .actions = action_words(page), .flags = {}};
    for (const auto& row : page.rows) {
      HelpNames found = names_of(row);
      if (found.names.empty() || !is_flag(found.names.front())) continue;
      words.flags.push_back({std::move(found.names), kind_of(found.value), first_sentence(row.help)});
    }
    all.push_back(std::move(words));
  }
  return all;
}

// As one word of a shell. fish has two characters more that mean something within the quotes of the others.
std::string quoted(std::string_view text, std::string_view quote_inside, std::string_view backslash_inside) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += quote_inside;
    } else if (c == '\\') {
      out += backslash_inside;
    } else {
      out += c;
    }
  }
  return out + "'";
}
std::string for_sh(std::string_view text) { return quoted(text, "'\\''", "\\"); }
std::string for_fish(std::string_view text) { return quoted(text, "\\'", "\\\\"); }

// "a|b", for a pattern of `case`; a pattern that nothing matches where there is none.
std::string names_with(const CommandWords& command, ValueKind kind) {
  std::string all;
  for (const auto& flag : command.flags) {
    if (flag.kind != kind) continue;
    for (const auto& name : flag.names) all += (all.empty() ? "" : "|") + name;
  }
  return all;
}

// In `case $previous`: what follows a flag that takes a value.
std::string value_cases(const CommandWords& command, std::string_view directory, std::string_view file,
                        std::string_view other) {
  std::string out;
  for (const auto& [kind, action] : {std::pair{ValueKind::directory, directory},
                                     std::pair{ValueKind::file, file}, std::pair{ValueKind::other, other}}) {
    const std::string names = names_with(command, kind);
    if (!names.empty()) out += "        " + names + ") " + std::string(action) + "; return ;;\n";
  }
  return out;
}

// `_describe` takes WORD:HELP.
std::string zsh_row(std::string_view word, std::string_view help) {
  std::string row(word);
  row += ':';
  for (const char c : help) row += c == ':' ? std::string("\\:") : std::string(1, c);
  return " " + for_sh(row);
}

}  // namespace

std::string bash_completion() {
  std::string names;
  std::string cases;
  for (const auto& command : all_commands()) {
    names += std::string(command.name) + " ";
    std::string flags;
    for (const auto& flag : command.flags)
      for (const auto& name : flag.names) flags += (flags.empty() ? "" : " ") + name;
    std::string actions;
    for (const auto& action : command.actions) actions += (actions.empty() ? "" : " ") + action;
    cases += "    " + std::string(command.name) + ")\n      flags='" + flags + "'\n      actions='" +
             actions + "'\n      case $previous in\n" +
             value_cases(command, R"(COMPREPLY=($(compgen -d -- "$current")))",
                         R"(COMPREPLY=($(compgen -f -- "$current")))", "COMPREPLY=()") +
             "      esac\n      ;;\n";
  }
  return R"(# Completion of cloche for bash. Made of the table that prints 'cloche --help'.
_cloche() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} flags= actions= at
  # --flag=value is three words for readline.
  if [[ $current == = ]]; then
    current=
  elif [[ $previous == = ]] && ((COMP_CWORD > 2)); then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W ')" +
         names + R"(--version --help' -- "$current"))
    return
  fi
  for ((at = 2; at < COMP_CWORD; ++at)); do
    [[ ${COMP_WORDS[at]} == -- ]] || continue
    # The words of another program.
    if declare -F _comp_command_offset >/dev/null; then
      _comp_command_offset $((at + 1))
    elif declare -F _command_offset >/dev/null; then
      _command_offset $((at + 1))
    elif ((COMP_CWORD == at + 1)); then
      COMPREPLY=($(compgen -c -- "$current"))
    else
      COMPREPLY=($(compgen -f -- "$current"))
    fi
    return
  done
  case ${COMP_WORDS[1]} in
)" + cases +
         R"(  esac
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$current"))
  elif ((COMP_CWORD == 2)) && [[ -n $actions ]]; then
    COMPREPLY=($(compgen -W "$actions" -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}
complete -o filenames -F _cloche cloche
)";
}

std::string zsh_completion() {
  std::string names;
  std::string cases;
  for (const auto& command : all_commands()) {
    names += zsh_row(command.name, command.help);
    std::string flags;
    for (const auto& flag : command.flags)
      for (const auto& name : flag.names) flags += zsh_row(name, flag.help);
    std::string actions;
    for (const auto& action : command.actions) actions += " " + action;
    cases += "    " + std::string(command.name) + ")\n      flags=(" + flags + ")\n      actions=(" +
             actions + ")\n      case $words[CURRENT-1] in\n" +
             value_cases(command, "_files -/", "_files", "_message value") + "      esac\n      ;;\n";
  }
  return R"(#compdef cloche
# Completion of cloche for zsh. Made of the table that prints 'cloche --help'.
_cloche() {
  local -a commands flags actions
  local at
  commands=()" +
         names + R"()
  if ((CURRENT == 2)); then
    _describe -t commands command commands
    return
  fi
  at=${words[(i)--]}
  if ((at < CURRENT)); then
    # The words of another program.
    shift $at words
    ((CURRENT -= at))
    _normal
    return
  fi
  case $words[2] in
)" + cases +
         R"(  esac
  if [[ $PREFIX == -* ]]; then
    _describe -o -t options flag flags
  elif ((CURRENT == 3 && $#actions)); then
    _describe -t actions action actions
  else
    _files
  fi
}
_cloche "$@"
)";
}

std::string fish_completion() {
  std::string out = R"(# Completion of cloche for fish. Made of the table that prints 'cloche --help'.
# Whether the command is $argv[1] and none of its words is behind "--", where they are another program's.
function __cloche_is
  set -l words (commandline -opc)
  test (count $words) -ge 2; and test $words[2] = $argv[1]; and not contains -- -- $words
end
function __cloche_acts
  __cloche_is $argv[1]; and test (count (commandline -opc)) -eq 2
end
function __cloche_begins
  test (count (commandline -opc)) -eq 1
end
complete -c cloche -n __cloche_begins -f -l version -d 'Print the version'
complete -c cloche -n __cloche_begins -f -l help -d 'List the commands'
)";
  for (const auto& command : all_commands()) {
    const std::string name(command.name);
    out += "complete -c cloche -n __cloche_begins -f -a " + name + " -d " +
           for_fish(first_sentence(command.help)) + "\n";
    for (const auto& action : command.actions)
      out += "complete -c cloche -n '__cloche_acts " + name + "' -f -a " + action + "\n";
    for (const auto& flag : command.flags) {
      out += "complete -c cloche -n '__cloche_is " + name + "'";
      for (const auto& one : flag.names)
        out += one.starts_with("--") ? " -l " + one.substr(2) : " -s " + one.substr(1);
      if (flag.kind == ValueKind::directory) out += " -x -a '(__fish_complete_directories)'";
      if (flag.kind == ValueKind::file) out += " -r";
      if (flag.kind == ValueKind::other) out += " -x";
      out += " -d " + for_fish(flag.help) + "\n";
    }
  }
  return out;
}

}  // namespace cloche
