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

// The file of --settings, else the user's own of that agent.
Result<std::string> agent_settings_file(const HookArguments& arguments, const Environment& environment);

// The words that do `action` to the settings that these arguments mean, from any directory.
std::string hook_words(const std::string& action, const HookArguments& arguments);

// --install and --uninstall: shows the change to the agent's settings file, asks, makes it.
int install_hook(const HookArguments& arguments, const Environment& environment);

// --check: whether the agent really asks the hook. An agent silently ignores a hook that it does not trust;
// then only the agent's own sandbox confines it, and that must stay on. 0: a call has arrived since the
// settings were last changed. 1: none has.
int check_hook(const HookArguments& arguments, const Environment& environment);

// `cloche run --call ID`: a command that a hook has judged and filed, started by the agent's shell. It is
// judged again, run in the sandbox and recorded; its output goes to the caller, and its exit code is
// Cloche's.
int run_pending_command(const std::string& id, const Environment& environment);

}  // namespace cloche
