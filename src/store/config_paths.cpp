#include "store/config_paths.hpp"

#include <sys/stat.h>

#include <cerrno>

#include "base/path.hpp"

namespace cloche {
namespace {

// A link that leads nowhere may lead somewhere when its disk is mounted, and what stands in the way of a
// directory is for others to explain.
bool is_obstructed(const std::string& directory) {
  struct stat seen {};
  if (::stat(directory.c_str(), &seen) == 0) return !S_ISDIR(seen.st_mode);
  if (errno != ENOENT || ::lstat(directory.c_str(), &seen) == 0) return true;
  const std::string above(parent_of(directory));
  return above.size() < directory.size() && !above.empty() && is_obstructed(above);
}

// Ruled out only where the way to it ends in nothing at all.
bool may_be_there(const std::string& directory, const std::string& file) {
  struct stat seen {};
  if (::lstat((directory + "/" + file).c_str(), &seen) == 0) return true;
  return errno != ENOENT || is_obstructed(directory);
}

// The directory of the managed file alone says something: who can write there may have taken the file away.
bool is_there_at_all(const std::string& path) {
  struct stat seen {};
  return ::lstat(path.c_str(), &seen) == 0 || errno != ENOENT;
}

}  // namespace

std::string user_config(const Environment& environment) {
  std::string base = environment.get("XDG_CONFIG_HOME");
  if (base.empty() && !environment.get("HOME").empty()) base = environment.get("HOME") + "/.config";
  return base.empty() ? "" : base + "/cloche/config.json";
}

bool may_be_configured(const Environment& environment, const std::string& workspace) {
  // A place of the operator's choice may lie anywhere, in the workspace too; that is for cloche-full to
  // judge.
  if (!environment.get("XDG_CONFIG_HOME").empty()) return true;
  const std::string user = user_config(environment);
  return is_there_at_all(std::string(parent_of(managed_config))) ||
         may_be_there(workspace + "/.cloche", "config.json") ||
         (!user.empty() && (user[0] != '/' || may_be_there(std::string(parent_of(user)), "config.json")));
}

}  // namespace cloche
