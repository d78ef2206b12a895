#include "doors/hook/hook_command.hpp"

#include <sys/stat.h>
#include <time.h>

#include <algorithm>

#include "base/sys/sys.hpp"
#include "doors/cli/print.hpp"
#include "doors/hook/hook_place.hpp"
#include "doors/hook/hook_settings.hpp"
#include "gateway/configuration/installation.hpp"
#include "store/sealed/agent_sessions.hpp"

namespace cloche {
namespace {

struct AgentWords {
  std::string_view trust;       // what makes the agent use the hook
  std::string_view switch_off;  // what takes the agent's own sandbox away
};
constexpr AgentWords words_for_codex = {"start Codex, open /hooks and trust the hook",
                                        "Codex's own sandbox would now refuse what Cloche needs, and every "
                                        "command would end with 125. Switch it off\n"
                                        "in ~/.codex/config.toml; from then on the hook alone confines "
                                        "commands, so check again after every change of\n"
                                        "the hook, of Codex or of Cloche:\n"
                                        "    sandbox_mode = \"danger-full-access\"\n"};
constexpr AgentWords words_for_claude = {"start a new session of Claude Code",
                                         "Where Claude Code's own sandbox is on (`sandbox.enabled` in its "
                                         "settings), switch it off: Cloche's cannot start\n"
                                         "within it.\n"};

const AgentWords& words_for(const std::string& agent) {
  return agent == "codex" ? words_for_codex : words_for_claude;
}

std::string shown_time(uint64_t ms) {
  const auto seconds = static_cast<time_t>(ms / 1000);
  struct tm local {};
  char text[32];
  if (::localtime_r(&seconds, &local) == nullptr) return "?";
  return {text, ::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &local)};
}

uint64_t in_ms(const struct timespec& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1000 + static_cast<uint64_t>(time.tv_nsec) / 1'000'000;
}

// An older file that was moved here (mv, cp -p, tar x) keeps its modification time, and so does the target of
// a link. The change time of the file or of the link itself does show the move.
uint64_t changed_ms(const std::string& file) {
  uint64_t latest = 0;
  struct stat seen {};
  for (const auto look : {::stat, ::lstat})
    if (look(file.c_str(), &seen) == 0) latest = std::max({latest, in_ms(seen.st_mtim), in_ms(seen.st_ctim)});
  return latest;
}

int not_seen(const HookArguments& arguments, const std::string& file, const std::optional<FirstCall>& older) {
  std::string text = "No session of the agent has asked the hook since " + visible(file) + " was changed";
  if (older) text += " (the last one before: " + shown_time(older->at_ms) + ")";
  text +=
      ".\nAn agent silently ignores a hook that it does not trust, and runs everything itself: leave its "
      "own\n"
      "sandbox and its own questions on.\n"
      "1. " +
      std::string(words_for(arguments.agent).trust) +
      ";\n"
      "2. let a new session run a command, such as `ls`;\n"
      "3. " +
      hook_words("--check", arguments) + "\n";
  return print_all(text, 1);
}

Result<int> check(const HookArguments& arguments, const Environment& environment) {
  const std::string file = TRY(agent_settings_file(arguments, environment));
  const auto settings = sys::read_file(file);
  if (!settings.ok() || !has_hook(settings.value(), TRY(path_of_cloche())))
    return refusal("the hook is not installed in " + file, hook_words("--install", arguments));
  const Installation installation = TRY(find_installation(environment));
  const AgentSessions sessions = TRY(AgentSessions::open(installation.state));
  const auto newest = sessions.newest(arguments.agent);
  if (!newest || newest->at_ms <= changed_ms(file)) return not_seen(arguments, file, newest);
  return print_all("The hook works: a session in " + visible(newest->workspace) + " asked it at " +
                       shown_time(newest->at_ms) + ".\n" + std::string(words_for(arguments.agent).switch_off),
                   0);
}

}  // namespace

int check_hook(const HookArguments& arguments, const Environment& environment) {
  const auto code = check(arguments, environment);
  return code.ok() ? code.value() : report(code.error());
}

}  // namespace cloche
