// Where configuration may be. Apart from reading it: a plain `cloche run` only asks whether there is any.
#pragma once

#include <string>

#include "base/result.hpp"
#include "base/sys/environment.hpp"

namespace cloche {

inline constexpr const char* managed_config = "/etc/cloche/config.json";
inline constexpr const char* project_config = ".cloche/config.json";  // below the workspace

// Where programs have the configuration of whose home it is: $XDG_CONFIG_HOME, else .config in there; empty
// where there is neither.
Result<std::string> config_home(const Environment& environment, const std::string& home);

// Where the user has what is for Cloche, config.json and commands/: below the config_home of callers_home. An
// Error when it is not known whose home it is.
Result<std::string> user_config_folder(const Environment& environment);

// Whether a user's file below this home is there, or cannot be ruled out.
bool may_have_configuration(const std::string& home);

}  // namespace cloche
