#include "store/config/profile_files.hpp"

#include <fcntl.h>
#include <strings.h>
#include <unistd.h>

#include <iterator>

#include "base/sys/directory.hpp"
#include "base/sys/fd.hpp"
#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "policy/shipped_files.hpp"
#include "store/config/config_paths.hpp"
#include "store/trust/bind_mount_alias.hpp"
#include "store/trust/hard_links.hpp"
#include "store/trust/trusted_file.hpp"

namespace cloche {
namespace {

constexpr size_t max_file_bytes = 1 << 20;

// Other files may lie beside them: notes, an editor's backups.
bool is_json_file(const std::string& name) { return name.ends_with(".json") && name[0] != '.'; }

bool looks_like_json(const std::string& name) {
  constexpr std::string_view ending = ".json";
  return name.size() >= ending.size() &&
         ::strcasecmp(name.c_str() + name.size() - ending.size(), ending.data()) == 0;
}

// By descriptor: the file that was judged is the one that is read. One that another user or a command could
// have written is refused.
enum class Kind { profile, shapes };
Result<std::string> read_own(Kind kind, const std::string& path, const ProfilePlaces& places) {
  const std::string what = kind == Kind::profile ? "the profile" : "the file of command shapes";
  TRY(judge_crossing(what + " " + path, observe_crossing(path, places.workspace)));
  const TrustedFile file = TRY(open_trusted(path, places.writers));
  const bool other_names = kind == Kind::profile && has_other_names(file.fd.get(), file.opened, ::geteuid());
  TRY(judge_opened(what, {.path = path,
                          .opened = file.opened,
                          .in_workspace = !places.workspace.empty() && lies_in(places.workspace, file.opened),
                          .has_other_names = other_names}));
  return read_operators_file(file.fd.get(), path, max_file_bytes);
}

Error about_folder(Error error) {
  error.what = "profiles_dir: " + error.what;
  return error;
}

Result<void> add_own(Profiles& profiles, const std::string& folder, const ProfilePlaces& places) {
  TRY(judge_crossing("profiles_dir: " + folder, observe_crossing(folder, places.workspace)));
  if (auto judged = check_operators_folder(folder, places.writers); !judged.ok())
    return about_folder(judged.take_error());
  const Profiles shipped = profiles;
  if (::access(folder.c_str(), R_OK | X_OK) != 0) return system_error("list the profiles in " + folder);
  for (const auto& file : names_in(folder)) {
    const std::string path = folder + "/" + file;
    if (file.ends_with(".sb")) return seatbelt_refusal(path, TRY(read_own(Kind::profile, path, places)));
    if (!is_json_file(file)) continue;
    const std::string name = file.substr(0, file.size() - 5);
    TRY(judge_own_name(path, name));
    const std::string text = TRY(read_own(Kind::profile, path, places));
    profiles.push_back(TRY(read_profile({text, path, name}, shipped, places.home)));
  }
  return {};
}

void append(Shapes& shapes, Shapes more) {
  shapes.insert(shapes.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

Result<Profiles> load_profiles(const ProfilePlaces& places) {
  Profiles profiles;
  for (const auto& row : shipped_profiles) profiles.push_back(profile_of(row));
  if (places.folder) TRY(add_own(profiles, *places.folder, places));
  return profiles;
}

std::vector<std::string> passed_over_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& name : names_in(folder))
    if (!is_json_file(name) && looks_like_json(name)) names.push_back(name);
  return names;
}

Result<SandboxProfile> load_profile_file(const std::string& path, const Profiles& known,
                                         const std::string& home) {
  const OwnedFd file = TRY(sys::open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY));
  const std::string text = TRY(read_operators_file(file.get(), path, max_file_bytes));
  if (path.ends_with(".sb")) return seatbelt_refusal(path, text);
  std::string name = path.substr(path.rfind('/') + 1);
  if (name.ends_with(".json")) name.resize(name.size() - 5);
  return read_profile({text, path, name}, known, home);
}

Result<std::vector<std::string>> users_command_files(const Environment& environment) {
  const std::string folder = TRY(user_config_folder(environment)) + "/commands";
  std::vector<std::string> files;
  if (::access(folder.c_str(), F_OK) != 0) return files;
  TRY(check_operators_folder(folder, users_writers()));
  for (const auto& name : names_in(folder)) {
    if (is_json_file(name)) files.push_back(folder + "/" + name);
  }
  return files;
}

Result<Shapes> load_command_shapes(const Environment& environment, const std::string& workspace) {
  Shapes shapes;
  for (const auto& file : shipped_files()) {
    if (file.name.starts_with("share/commands/"))
      append(shapes, TRY(read_shapes(file.text, std::string(file.name))));  // a test has checked the examples
  }
  for (const auto& path : TRY(users_command_files(environment))) {
    const std::string text = TRY(read_own(Kind::shapes, path, {.workspace = workspace}));
    append(shapes, TRY(load_shapes(text, path)));
  }
  return shapes;
}

}  // namespace cloche
