// The commands of `cloche` with the page of each. --help, the manual pages (manual_page.hpp) and the
// completions of shells (completions.hpp) are made of this table, so that none of them can disagree.
#pragma once

#include <span>
#include <string_view>

#include "doors/cli/options.hpp"

namespace cloche {

struct CommandHelp {
  std::string_view name;
  std::string_view words;  // that follow the name
  std::string_view help;
  HelpPage (*page)();
};
std::span<const CommandHelp> command_helps();

// The page of `cloche --help`.
HelpPage main_help();

HelpPage approve_help();
HelpPage call_help();
HelpPage config_help();
HelpPage doctor_help();
HelpPage explain_help();
HelpPage hook_help();
HelpPage log_help();
HelpPage mcp_help();
HelpPage new_help();
HelpPage profiles_help();
HelpPage run_help();
HelpPage test_help();
HelpPage tools_help();
HelpPage wrap_help();

// The left side of a row of the help: "-e, --env NAME[=VALUE]", or the word of an action, "show ID".
struct HelpNames {
  std::vector<std::string> names;
  std::string value;  // empty: it takes none
};
HelpNames names_of(const HelpRow& row);
bool is_flag(std::string_view name);

// The words of a command that says what it does by its first word: "list", "show". From its rows, and from
// its usage where that names them as "cloche new skill|executor|rule".
std::vector<std::string> action_words(const HelpPage& page);

}  // namespace cloche
