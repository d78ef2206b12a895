// What a skill or an executor declares, as read: words, not yet granted. Unset, empty and a list are three
// different things: what is unset stays as the operator has it, an empty list is none at all.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/sys/fd.hpp"
#include "model/call.hpp"
#include "model/facts.hpp"
#include "model/layers.hpp"
#include "model/limits.hpp"

namespace cloche {

// Where a declaration lies. One that a call could have written, or that came with a project, only tightens.
enum class Trust { project, operators };

struct Capability {
  enum class Family {
    read,      // fs:read:HINT
    write,     // fs:write:HINT
    network,   // network:https:HOST, network:http:HOST, network:tcp:HOST:PORT, network:HOST
    execute,   // code:exec
    no_effect  // a family without a meaning here: mail, time
  };
  Family family = Family::no_effect;
  std::string hint = {};     // a path with globs, or HOST[:PORT]; ~ is not yet expanded
  std::string written = {};  // the whole of it, for sentences
};

// needs_network: false is neither; true is `unnamed`; a list is its hosts.
struct NetworkNeed {
  bool unnamed = false;
  std::vector<std::string> hosts = {};
};

struct Skill {
  std::string name = {};
  std::string description = {};
  std::string source = {};  // the file, for messages
  Trust trust = Trust::project;
  std::optional<std::vector<std::string>> loadout = {};  // tool_loadout
  std::optional<CommandProfile> commands = {};           // passive or full
  std::optional<NetworkNeed> network = {};
  std::optional<std::vector<std::string>> pass_env = {};
  std::optional<std::vector<Capability>> capabilities = {};
  std::vector<LimitSetting> limits = {};        // of each, the smaller one counts
  std::vector<std::string> allowed_tools = {};  // turn an ask into an allow, and widen nothing
  std::vector<std::string> warnings = {};       // unknown keys, with file:line
};

// A user's own tool: a program, JSON on its stdin, JSON on its stdout.
struct Executor {
  std::string name = {};
  std::string description = {};
  std::string source = {};                   // the manifest
  std::string folder = {};                   // that it lies in, resolved: the code directory, shown read-only
  FileFact folder_fact = {};                 // that folder as it was when the executor was loaded
  std::shared_ptr<const OwnedFd> held = {};  // and held since, so that nothing else can pass for it
  std::string code = {};                     // the program, absolute, beneath the folder
  std::string input_schema = {};             // JSON Schema, as text
  std::string output_schema = {};            // empty: any JSON
  Trust trust = Trust::project;              // of a project's a name alone approves nothing
  std::string code_digest = {};              // "sha256:...", once an approval has something to say about it
  std::vector<Capability> capabilities = {};
  Limits limits = {};  // the defaults, narrowed by the manifest
  std::optional<IsolationLevel> isolation = {};
};

// It begins with a-z and is at most 64 of a-z, 0-9, _ and -.
inline bool is_executor_name(std::string_view name) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz";
  return !name.empty() && name.size() <= 64 && letters.find(name[0]) != std::string_view::npos &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") == std::string_view::npos;
}

}  // namespace cloche
