// The command shapes of a session: those that come with Cloche and the user's own files. A user's file that a
// sandboxed command or another user could have written is refused, and so is a directory that other users can
// write to.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/sys/environment.hpp"
#include "policy/shapes/shapes.hpp"

namespace cloche {

// $XDG_CONFIG_HOME/cloche/commands/*.json
Result<std::vector<std::string>> users_command_files(const Environment& environment);

// Every shape: first those that come with Cloche, then the user's own, examples checked. None of the user's
// files may lie in `workspace` (resolved; empty: there is none).
Result<Shapes> load_command_shapes(const Environment& environment, const std::string& workspace);

}  // namespace cloche
