#include "store/config/rule_files.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "base/json/json_writer.hpp"
#include "base/json_keys.hpp"
#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "store/operators_file.hpp"
#include "store/second_name.hpp"
#include "store/workspace_way.hpp"

namespace cloche {
namespace {

constexpr const char* project_file = project_config;

Result<ConfigFile> read_open(int fd, const std::string& path, std::span<const std::string_view> keys) {
  return parse_config(TRY(read_operators(fd, path, config_limits.bytes)), path, keys);
}

// Who can write there can take the file away, or put another in its place: also when none is there. Root in
// the home of another has no file there that counts, and that directory may be the other's.
Result<void> judge_directory_of(const std::string& path, const Writers& writers) {
  const std::string directory(parent_of(path));
  struct stat seen {};
  if (::stat(directory.c_str(), &seen) != 0) return {};  // and whoever reads the file says why
  const OwnerFact fact = owner_fact(seen, directory);
  if (!writers.group) TRY(judge_owner(fact, writers));
  return judge_mode(fact, writers);
}

Result<std::optional<ConfigFile>> read_trusted(const std::string& path, const Writers& writers,
                                               const std::string& workspace,
                                               std::span<const std::string_view> keys) {
  if (path.empty()) return std::optional<ConfigFile>();
  const Reach reach = TRY(reach_of(path, workspace));
  TRY(judge_configuration_reach(path, {.reach = reach, .workspace = workspace}));
  TRY(judge_directory_of(path, writers));
  if (reach == Reach::absent) return std::optional<ConfigFile>();
  const OperatorsFile file = TRY(open_operators(path, writers));
  // A link may lead to where somebody else can put another file in its place.
  const WayFact way = file.opened == path ? WayFact{} : TRY(look_at_way(path, file));
  TRY(judge_operators_way(way, writers));
  // What was opened counts, should a link have been turned since the walk.
  const bool inside = !workspace.empty() && lies_in(workspace, file.opened);
  TRY(judge_opened("the configuration", {.path = path, .opened = file.opened, .in_workspace = inside}));
  return std::optional<ConfigFile>(TRY(read_open(file.fd.get(), path, keys)));
}

// Beneath the workspace and through no link: the project's file is the workspace's own or none.
Result<std::optional<ConfigFile>> read_projects(const std::string& workspace,
                                                std::span<const std::string_view> keys) {
  const std::string path = workspace + "/" + project_file;
  const OwnedFd root = TRY(sys::open(workspace, O_PATH | O_DIRECTORY));
  open_how how{};
  how.flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const OwnedFd fd(static_cast<int>(::syscall(SYS_openat2, root.get(), project_file, &how, sizeof how)));
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
  TRY(refuse_unknown_keys(file.root, keys, path));
  return file;
}

Result<ConfigPaths> config_paths(const Environment& environment, const std::string& workspace) {
  ConfigPaths paths{.workspace = workspace};
  // Not with .. on the way: where that passes something that is not there it leads nowhere today and
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
  const OwnedFd root = TRY(sys::open(paths.workspace, O_PATH | O_DIRECTORY));
  const std::string workspace = TRY(sys::path_of(root.get()));
  ConfigFiles files;
  files.managed = TRY(read_trusted(paths.managed, administrator, workspace, keys));
  files.user = TRY(read_trusted(paths.user, user, workspace, keys));
  files.project = TRY(read_projects(workspace, keys));
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
