#include "store/config/rule_files.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "base/json/json_text.hpp"
#include "base/json/json_writer.hpp"
#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "store/trust/bind_mount_alias.hpp"
#include "store/trust/trusted_file.hpp"

namespace cloche {
namespace {

constexpr const char* project_file = project_config;

Result<ConfigFile> read_open(int fd, const std::string& path, std::span<const std::string_view> keys) {
  return parse_config(TRY(read_operators_file(fd, path, config_limits.bytes)), path, keys);
}

// A user who can write to the directory can remove the file or put another in its place, also when none is
// there. Where root runs Cloche with another user's HOME, the directory may be that user's: no file there
// counts for root.
Result<void> judge_directory_of(const std::string& path, const Writers& writers) {
  const std::string directory(parent_of(path));
  struct stat seen {};
  if (::stat(directory.c_str(), &seen) != 0) return {};  // opening the file gives the reason
  const OwnerFact fact = owner_fact(seen, directory);
  if (!writers.group) TRY(judge_owner(fact, writers));
  return judge_mode(fact, writers);
}

Result<std::optional<ConfigFile>> read_trusted(const std::string& path, const Writers& writers,
                                               const std::string& workspace,
                                               std::span<const std::string_view> keys) {
  if (path.empty()) return std::optional<ConfigFile>();
  const Crossing crossing = TRY(crossing_of(path, workspace));
  TRY(judge_configuration_crossing(path, {.crossing = crossing, .workspace = workspace}));
  TRY(judge_directory_of(path, writers));
  if (crossing == Crossing::absent) return std::optional<ConfigFile>();
  const TrustedFile file = TRY(open_operators_file(path, writers));
  // Where a link led to the file, another user may be able to put another in its place.
  const PathOwners owners = file.opened == path ? PathOwners{} : TRY(look_at_path_owners(path, file));
  TRY(judge_path_owners(owners, writers));
  // What was opened counts, also where a link was replaced since crossing_of.
  const bool inside = !workspace.empty() && lies_in(workspace, file.opened);
  TRY(judge_opened("the configuration", {.path = path, .opened = file.opened, .in_workspace = inside}));
  return std::optional<ConfigFile>(TRY(read_open(file.fd.get(), path, keys)));
}

// Beneath the workspace and through no link: the project's file lies in the workspace itself.
Result<std::optional<ConfigFile>> read_projects(int root, const std::string& workspace,
                                                std::span<const std::string_view> keys) {
  const std::string path = workspace + "/" + project_file;
  open_how how{};
  how.flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const OwnedFd fd(static_cast<int>(::syscall(SYS_openat2, root, project_file, &how, sizeof how)));
  if (!fd && errno == ENOENT) return std::optional<ConfigFile>();
  if (!fd) return system_error("open " + path);
  struct stat seen {};
  if (::fstat(fd.get(), &seen) != 0) return system_error("look at " + path);
  TRY(judge_regular(owner_fact(seen, path)));
  return std::optional<ConfigFile>(TRY(read_open(fd.get(), path, keys)));
}

Result<std::optional<RuleFile>> rules_in(const std::optional<ConfigFile>& file,
                                         const NormaliseCommand& normalise) {
  if (!file) return std::optional<RuleFile>();
  return std::optional<RuleFile>(TRY(RuleFile::read(file->root.find("permissions"), file->path, normalise)));
}

}  // namespace

Result<ConfigFile> parse_config(std::string_view text, const std::string& path,
                                std::span<const std::string_view> keys) {
  ConfigFile file{path, {}};
  file.root = TRY(read_json(text, path, config_limits));
  if (!file.root.is_object()) return json_error(path, file.root.line, "a configuration must be an object");
  if (auto known = refuse_unknown_keys(file.root, keys, path); !known.ok()) {
    Error error = std::move(known).error();
    error.fix = "docs/configuration.md lists the keys";
    return error;
  }
  return file;
}

Result<ConfigPaths> config_paths(const Environment& environment, const std::string& workspace) {
  ConfigPaths paths{.workspace = workspace};
  // Without .. in it: where .. follows a name that does not exist, the path leads nowhere today and may lead
  // somewhere tomorrow.
  paths.user = TRY(user_config_folder(environment)) + "/config.json";
  return paths;
}

Result<ConfigFiles> read_config_files(const ConfigPaths& paths, std::span<const std::string_view> keys) {
  const Writers administrator{paths.administrator, false};
  const Writers user = users_writers();
  if (paths.workspace.empty()) {
    ConfigFiles files;
    files.managed = TRY(read_trusted(paths.managed, administrator, {}, keys));
    files.user = TRY(read_trusted(paths.user, user, {}, keys));
    return files;
  }
  if (!paths.workspace.starts_with('/')) return refusal("a workspace must be an absolute path");
  const auto root = sys::open(paths.workspace, O_PATH | O_DIRECTORY);
  // One that an explained call would make: no project's file lies in it yet.
  const bool is_absent = !root.ok() && root.error().number == ENOENT;
  if (!root.ok() && !is_absent) return root.error();
  const std::string workspace = is_absent ? paths.workspace : TRY(sys::path_of(root.value().get()));
  ConfigFiles files;
  files.managed = TRY(read_trusted(paths.managed, administrator, workspace, keys));
  files.user = TRY(read_trusted(paths.user, user, workspace, keys));
  if (!is_absent) files.project = TRY(read_projects(root.value().get(), workspace, keys));
  return files;
}

Result<RuleFiles> rules_of(const ConfigFiles& files, const NormaliseCommand& normalise) {
  RuleFiles rules;
  rules.managed = TRY(rules_in(files.managed, normalise));
  rules.user = TRY(rules_in(files.user, normalise));
  rules.project = TRY(rules_in(files.project, normalise));
  return rules;
}

}  // namespace cloche
