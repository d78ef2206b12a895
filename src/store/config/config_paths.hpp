// Where configuration files may be.
#pragma once

#include <string>

#include "base/result.hpp"
#include "base/sys/environment.hpp"

namespace cloche {

inline constexpr const char* managed_config = "/etc/cloche/config.json";
inline constexpr const char* project_config = ".cloche/config.json";  // below the workspace

// Where programs look for the configuration of the user with this home: $XDG_CONFIG_HOME, else HOME/.config;
// empty where there is neither.
Result<std::string> config_home(const Environment& environment, const std::string& home);

// The user's directory for Cloche, with config.json and commands/: below the config_home of callers_home. An
// Error when the caller's home is not known.
Result<std::string> user_config_folder(const Environment& environment);

// Whether there is a user's file below this home, or it cannot be ruled out.
bool may_have_configuration(const std::string& home);

}  // namespace cloche
