// Where configuration may be. Apart from reading it, because the front only asks whether there is any.
#pragma once

#include <string>

#include "base/environment.hpp"

namespace cloche {

inline constexpr const char* managed_config = "/etc/cloche/config.json";
inline constexpr const char* project_config = ".cloche/config.json";  // below the workspace

// Below $XDG_CONFIG_HOME, else below $HOME/.config; empty when there is no place for one.
std::string user_config(const Environment& environment);

// Whether any of the three is there, or cannot be ruled out.
bool may_be_configured(const Environment& environment, const std::string& workspace);

}  // namespace cloche
