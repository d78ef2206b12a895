// The words of `cloche changes`, `cloche diff` and `cloche undo`, and their help.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "doors/cli/options.hpp"

namespace cloche {

// As they are typed.
enum class ChangesCommand { changes, diff, undo };

struct ChangesArguments {
  enum class Action { list, show, diff, apply, drop, undo };
  ChangesCommand command = ChangesCommand::changes;
  Action action = Action::list;
  std::string word = {};                 // which sets; empty: the action's default
  std::vector<std::string> paths = {};   // only these
  std::vector<std::string> ours = {};    // of apply
  std::vector<std::string> theirs = {};  // of apply
  bool all = false;
  bool stat = false;
  bool no_pager = false;
  bool dry_run = false;
  bool json = false;
  bool help = false;

  bool operator==(const ChangesArguments&) const = default;
};

// `words` are those after the command's name.
Result<ChangesArguments> parse_changes_words(std::span<char* const> words, ChangesCommand command);
HelpPage changes_help(ChangesCommand command);

}  // namespace cloche
