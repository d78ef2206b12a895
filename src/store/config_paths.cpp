#include "store/config_paths.hpp"

#include <sys/stat.h>

#include <cerrno>

namespace cloche {
namespace {

// A link counts, wherever it leads; and so does what we may not look at.
bool may_be_there(const std::string& path) {
  struct stat seen {};
  return ::lstat(path.c_str(), &seen) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

}  // namespace

std::string user_config(const Environment& environment) {
  std::string base = environment.get("XDG_CONFIG_HOME");
  if (base.empty() && !environment.get("HOME").empty()) base = environment.get("HOME") + "/.config";
  return base.empty() ? "" : base + "/cloche/config.json";
}

bool may_be_configured(const Environment& environment, const std::string& workspace) {
  const std::string user = user_config(environment);
  return may_be_there(managed_config) || may_be_there(workspace + "/" + project_config) ||
         (!user.empty() && (user[0] != '/' || may_be_there(user)));
}

}  // namespace cloche
