// Finds the configuration of a session and reads its permission rules: the managed file, the user's, and the
// project's. A file that is not there is fine; one that cannot be read, or says something we do not know,
// refuses. What an agent could write never counts as the operator's: no managed or user file may lie inside
// the workspace, not even one that does not exist yet, nor be reached through it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/json/json_text.hpp"
#include "base/result.hpp"
#include "base/sys/environment.hpp"
#include "policy/rules/rules.hpp"
#include "store/config/config_paths.hpp"

namespace cloche {

struct ConfigPaths {
  std::string managed = managed_config;
  std::string user = {};       // empty: there is none
  std::string workspace = {};  // empty: none, and no project's file
  unsigned administrator = 0;  // who alone writes the managed one and its directory
};

// The user's is below $XDG_CONFIG_HOME, else below $HOME/.config. `workspace` is absolute or empty.
Result<ConfigPaths> config_paths(const Environment& environment, const std::string& workspace);

struct ConfigFile {
  std::string path;
  JsonValue root;
};

struct ConfigFiles {
  std::optional<ConfigFile> managed = {};
  std::optional<ConfigFile> user = {};
  std::optional<ConfigFile> project = {};  // WORKSPACE/.cloche/config.json, opened beneath the workspace
};

// How large a configuration may be.
inline constexpr JsonLimits config_limits{.bytes = 4 << 20};

// The text of one configuration file; `path` is for messages.
Result<ConfigFile> parse_config(std::string_view text, const std::string& path,
                                std::span<const std::string_view> keys);

// `keys` are those that Cloche enforces; any other key is refused, because what is configured must be
// enforced.
Result<ConfigFiles> read_config_files(const ConfigPaths& paths, std::span<const std::string_view> keys);

Result<RuleFiles> rules_of(const ConfigFiles& files, const NormaliseCommand& normalise = {});

}  // namespace cloche
