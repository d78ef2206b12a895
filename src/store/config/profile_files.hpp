// The operator's own files: sandbox profiles in `profiles_dir` and command shapes, each beside those that
// come with Cloche. One that cannot be read, or that a sandboxed command or another user could have written,
// refuses them all, because a tool may be meant to have it; and so does a directory that others can write to.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/sys/environment.hpp"
#include "policy/authority/profiles.hpp"
#include "policy/shapes/shapes.hpp"
#include "store/trust/trusted_file.hpp"

namespace cloche {

struct ProfilePlaces {
  std::optional<std::string> folder = {};  // profiles_dir
  std::string workspace = {};              // no profile may lie in it; empty: there is none
  std::string home = {};                   // what ~/ means in a path
  Writers writers = users_writers();       // of the folder and what is in it, besides root
};

// Those that come with Cloche, without their examples, before the operator's own.
Result<Profiles> load_profiles(const ProfilePlaces& places);

// Files in profiles_dir that look like a profile and are not read, because their name is not NAME.json:
// .NAME.json and NAME.JSON.
std::vector<std::string> passed_over_in(const std::string& folder);

// One file that an operator named, read as if it lay in profiles_dir.
Result<SandboxProfile> load_profile_file(const std::string& path, const Profiles& known,
                                         const std::string& home);

// $XDG_CONFIG_HOME/cloche/commands/*.json
Result<std::vector<std::string>> users_command_files(const Environment& environment);

// Every shape: first those that come with Cloche, then the user's own, examples checked. None of the user's
// files may lie in `workspace` (resolved; empty: there is none).
Result<Shapes> load_command_shapes(const Environment& environment, const std::string& workspace);

}  // namespace cloche
