#include "gateway/protected/unlooked_configuration.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "gateway/protected/protected_look.hpp"
#include "policy/protected/protected_trees.hpp"
#include "store/config/config_paths.hpp"
#include "store/protected/git_places.hpp"
#include "store/protected/open_call.hpp"

namespace cloche {
namespace {

std::string project_folder(const std::string& workspace) {
  return std::string(parent_of(workspace + "/" + project_config));
}

bool is_in(const std::vector<ProtectedFact>& known, const std::string& path, const struct stat& seen) {
  return std::any_of(known.begin(), known.end(), [&](const ProtectedFact& fact) {
    return fact.file.path == path && fact.file.device == seen.st_dev && fact.file.inode == seen.st_ino;
  });
}

// One that was there before is read-only for every command, or the command is not started at all; so that
// one may be edited by whoever owns it.
bool may_be_a_commands(const std::string& state, const std::string& workspace) {
  struct stat seen {};
  // Without a file nothing is read from it.
  const std::string path = project_folder(workspace);
  if (::lstat((workspace + "/" + std::string(project_config)).c_str(), &seen) != 0 ||
      ::lstat(path.c_str(), &seen) != 0)
    return false;
  const auto root = sys::open(workspace, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  const auto unlooked = root.ok() ? find_unlooked(state, root.value().get()) : std::nullopt;
  if (!unlooked || is_in(unlooked->known, path, seen)) return false;
  return ChangeTime{seen.st_ctim.tv_sec, seen.st_ctim.tv_nsec} >= unlooked->since;
}

std::string what_happened(const std::string& workspace) {
  return project_folder(workspace) +
         " came while a call ran there whose Cloche was killed, so a command may have made it";
}

}  // namespace

Result<void> judge_unlooked_configuration(const std::string& state, const std::string& workspace) {
  if (!may_be_a_commands(state, workspace)) return {};
  return refusal(what_happened(workspace) + ", and it is not read",
                 "the next command or call here moves it to the quarantine: cloche run --workspace " +
                     workspace + " -- true");
}

Result<void> take_unlooked_configuration(const WorkspaceWords& said, const Environment& environment,
                                         const Installation& installation) {
  const auto held = sys::hold(said.run ? *said.run + "/artifacts" : said.workspace.value_or("."));
  if (!held.ok() || !may_be_a_commands(installation.state, held.value().path)) return {};
  const std::string& workspace = held.value().path;
  Facts facts;
  facts.workspace.path = workspace;
  GuardFacts& guard = facts.guard;
  guard.roots = {workspace};
  guard.git = find_git_sources(environment, environment.get("HOME"));
  guard.allowed = TRY(allowed_paths(said.allow_protected, workspace, guard.roots));
  const ProtectedLook look = TRY(ProtectedLook::begin(facts, "", installation.state));
  std::string others;
  const Quarantined* configuration = nullptr;
  for (const auto& taken : look.taken_so_far()) {
    if (taken.host_path == project_folder(workspace)) {
      configuration = &taken;
    } else {
      others += "; quarantined as well: " + taken.path;
    }
  }
  if (configuration == nullptr) return {};
  return refusal(what_happened(workspace) + "; it is in " + configuration->kept_at + " now" + others +
                     ". Nothing was run",
                 "run it again; or put it back first, when it is yours");
}

}  // namespace cloche
