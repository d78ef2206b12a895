#include "doors/cli/help_pages.hpp"

#include <algorithm>

#include "base/lists.hpp"
#include "base/text/pieces.hpp"
#include "doors/changes/changes_arguments.hpp"

namespace cloche {
namespace {

template <ChangesCommand command>
HelpPage page_of() {
  return changes_help(command);
}

constexpr CommandHelp helps[] = {
    {"run", "-- CMD ARG...", "Run a command under kernel isolation.", run_help},
    {"call", "TOOL JSON", "Make a tool call as a model does: judged, run under isolation, recorded.",
     call_help},
    {"explain", "run|call ...", "Show every gate's answer and the plan; run nothing.", explain_help},
    {"tools", "", "List the tools, as a table or as an API expects them.", tools_help},
    {"mcp", "", "Serve MCP on stdin and stdout, for an agent.", mcp_help},
    {"hook", "", "Judge the calls of Claude Code and Codex as their PreToolUse hook.", hook_help},
    {"approve", "[yes|no ID]", "Answer the questions that wait for the operator.", approve_help},
    {"diff", "[CALL|RUN|last]", "Show what a call changed in the project, as git shows it.",
     page_of<ChangesCommand::diff>},
    {"undo", "[CALL|RUN|last]", "Take back what a call changed in the project.",
     page_of<ChangesCommand::undo>},
    {"changes", "[show|diff|apply|drop ID]",
     "List what calls changed, and answer for what waits: bring it in, or throw it away.",
     page_of<ChangesCommand::changes>},
    {"log", "[show|verify|tail RUN]", "List the runs, or show or check the record of one.", log_help},
    {"profiles", "", "List the sandbox profiles, or run their examples.", profiles_help},
    {"config", "", "Show the configuration in force here, and which file says so.", config_help},
    {"test", "[FILE...]", "Check the examples of command shapes and rules.", test_help},
    {"new", "KIND NAME", "Write a skill, an executor or a rule that works, with its test.", new_help},
    {"wrap", "--backend B -- CMD", "Print the plan of a command for bubblewrap, an OCI runtime or macOS.",
     wrap_help},
    {"doctor", "", "Show what this host can enforce, proven by running it.", doctor_help},
};

bool is_word(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= 'a' && c <= 'z'; });
}

}  // namespace

std::span<const CommandHelp> command_helps() { return helps; }

HelpPage main_help() {
  std::vector<HelpRow> rows;
  for (const auto& row : helps) {
    const std::string words = row.words.empty() ? "" : " " + std::string(row.words);
    rows.push_back({std::string(row.name) + words, std::string(row.help)});
  }
  rows.push_back({"--version", "Print the version."});
  return {.usage = "cloche COMMAND [flags] ...",
          .about =
              "Runs commands and tool calls of models under kernel isolation, judges them "
              "first, and records them.",
          .rows = std::move(rows),
          .notes = "'cloche COMMAND --help' lists every flag of a command with its default.",
          .examples = {"cloche run -- python3 build.py", "cloche run --profile readonly -- git log",
                       "cloche run --json -- make test"}};
}

bool is_flag(std::string_view name) { return name.starts_with('-'); }

HelpNames names_of(const HelpRow& row) {
  HelpNames found;
  std::string_view rest = row.left;
  while (!rest.empty()) {
    const size_t end = rest.find_first_of(", ");
    found.names.emplace_back(rest.substr(0, end));
    if (end == std::string_view::npos) break;
    const bool another = rest.substr(end).starts_with(", ");
    rest.remove_prefix(end + (another ? 2 : 1));
    if (another) continue;
    found.value = rest;
    break;
  }
  return found;
}

std::vector<std::string> action_words(const HelpPage& page) {
  std::vector<std::string> words;
  const auto add = [&](std::string_view word) {
    if (is_word(word) && !contains(words, word)) words.emplace_back(word);
  };
  for (const auto& row : page.rows)
    if (const HelpNames found = names_of(row); !found.names.empty()) add(found.names.front());
  for (std::string_view usage = page.usage; !usage.empty();) {
    std::string_view line = take_line(usage);
    for (int before = 0; before < 2; ++before) take_until(line, " ");  // "cloche new"
    std::string_view choice = take_until(line, " ");
    while (!choice.empty()) add(take_until(choice, "|"));
  }
  return words;
}

}  // namespace cloche
