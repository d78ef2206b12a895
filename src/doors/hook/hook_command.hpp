// The judge behind `cloche hook`: one PreToolUse call from stdin to an answer on stdout. A shell command is
// filed here and comes back as `cloche run --call ID`; what the agent does itself is judged and recorded as
// advisory. Every failure is exit 2 with a sentence; hook_front.hpp answers for a judge that ends otherwise.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/sys/environment.hpp"

namespace cloche {

struct HookArguments {
  enum class Action { judge, install, uninstall, check };
  Action action = Action::judge;
  std::string workspace = {};  // --workspace: else as hook_place() has it
  std::string agent = {};      // of an installation: claude or codex
  std::string settings = {};   // --settings: which file; else the user's own
  std::string timeout = {};    // --timeout: hook_front.hpp reads it
  size_t places = 0;           // --home and the like: agent_environment.hpp reads them
  bool yes = false;            // --yes: do not ask before it is changed
  bool help = false;
};

Result<HookArguments> parse_hook(std::span<char* const> words);

// The answer, as the agent reads it.
Result<std::string> answer_hook(std::string_view input, const HookArguments& arguments,
                                const Environment& environment);

}  // namespace cloche
