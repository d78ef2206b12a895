#include "store/config/config_paths.hpp"

#include <sys/stat.h>

#include <cerrno>

#include "base/sys/path.hpp"
#include "store/host/callers_home.hpp"

namespace cloche {
namespace {

// A link that leads nowhere may lead somewhere when its disk is mounted. Something else than a directory is
// reported by what reads the configuration.
bool is_obstructed(const std::string& directory) {
  struct stat seen {};
  if (::stat(directory.c_str(), &seen) == 0) return !S_ISDIR(seen.st_mode);
  if (errno != ENOENT || ::lstat(directory.c_str(), &seen) == 0) return true;
  const std::string above(parent_of(directory));
  return above.size() < directory.size() && !above.empty() && is_obstructed(above);
}

// False only where nothing at all exists at the path.
bool may_be_there(const std::string& directory, const std::string& file) {
  struct stat seen {};
  if (::lstat((directory + "/" + file).c_str(), &seen) == 0) return true;
  return errno != ENOENT || is_obstructed(directory);
}

}  // namespace

Result<std::string> config_home(const Environment& environment, const std::string& home) {
  std::string given = TRY(directory_in(environment, "XDG_CONFIG_HOME"));
  if (!given.empty() || home.empty()) return given;
  return (home == "/" ? "" : home) + "/.config";
}

Result<std::string> user_config_folder(const Environment& environment) {
  const std::string home = TRY(callers_home(environment));
  return TRY(config_home(environment, home)) + "/cloche";
}

bool may_have_configuration(const std::string& home) {
  return may_be_there((home == "/" ? "" : home) + "/.config/cloche", "config.json");
}

}  // namespace cloche
