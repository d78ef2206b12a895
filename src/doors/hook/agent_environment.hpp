// What `cloche hook`, `cloche run --call` and `cloche mcp --home` take from their environment. An agent
// starts them, and a repository's settings can set variables of the agent. So the environment is not asked
// where the operator's configuration is, which libraries are loaded or which ids commands get. Those come
// from the passwd database and from the flags of the installed line, which the hook passes on to the command
// that it files.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/sys/environment.hpp"

namespace cloche {

// Whether an agent starts this process: a hook's judgement, a command that a hook has filed, or an MCP server
// whose line has one of the flags. `words` begin with the program's name.
bool is_agents_start(std::span<char* const> words);

// Of an agent's variables those that say nothing about the operator, and what the flags among `words` say.
class AgentEnvironment {
 public:
  AgentEnvironment(char* const* agents, std::span<char* const> words);
  AgentEnvironment(const AgentEnvironment&) = delete;
  AgentEnvironment& operator=(const AgentEnvironment&) = delete;

  char** block() { return block_.data(); }

 private:
  std::vector<std::string> texts_;
  std::vector<char*> block_;
};

// The flags for the operator's directories that are not the account's own: for the installed line, and for
// the line of a filed command. The environment must know the account's home.
std::vector<std::string> flags_of_places(const Environment& environment);

// These flags; each takes a value.
struct PlaceFlag {
  std::string_view flag;
  std::string_view value;
  std::string_view variable;
  std::string_view usual;  // below the home, when the variable is not set; empty: there is no usual one
  std::string_view help;
};
inline constexpr PlaceFlag place_flags[] = {
    {"--home", "DIR", "HOME", "", "The operator's home (default: that of the account)."},
    {"--config-home", "DIR", "XDG_CONFIG_HOME", "/.config",
     "Where cloche/config.json is (default: .config of the home)."},
    {"--state-home", "DIR", "XDG_STATE_HOME", "/.local/state",
     "Where Cloche's state directory is (default: .local/state of the home)."},
    {"--uid-range", "FIRST:COUNT", "CLOCHE_UID_RANGE", "",
     "The ids that commands get when Cloche runs as root."}};
bool is_flag_of_place(std::string_view flag);

}  // namespace cloche
