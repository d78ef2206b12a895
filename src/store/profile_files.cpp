#include "store/profile_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.hpp"
#include "base/fd.hpp"
#include "base/path.hpp"
#include "base/sys.hpp"
#include "store/hard_links.hpp"
#include "store/second_name.hpp"
#include "store/share_place.hpp"

namespace cloche {
namespace {

constexpr size_t max_file_bytes = 1 << 20;

std::string shipped_folder(const std::string& program) { return share_beside(program) + "/profiles"; }

// By descriptor: the file whose place was judged is the one that is read.
Result<std::string> read_outside(const std::string& path, const ProfilePlaces& places) {
  const OwnedFd file = TRY(sys::open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY));
  struct stat seen {};
  if (::fstat(file.get(), &seen) != 0) return system_error("look at " + path);
  if (!S_ISREG(seen.st_mode)) return refusal(path + " is not a regular file");
  if (!with_other_names(path, ::geteuid()).empty())
    return refusal(path + " has another name (a hard link), by which a command could widen it",
                   "give it one name, with a copy");
  const std::string real = TRY(sys::path_of(file.get()));
  // Cloche being worked on in its own sandbox has its share/ in the workspace.
  const bool own = !places.workspace.empty() && is_beneath(places.workspace, places.program) &&
                   is_beneath(std::string(parent_of(parent_of(places.program))), path);
  if (!places.workspace.empty() && !own && lies_in(places.workspace, real))
    return refusal("the profile " + real + " lies in the workspace: a command could widen it",
                   "move it, or name another workspace");
  return sys::read_all(file.get(), max_file_bytes);
}

// Somebody else's directory is somebody else's word.
Result<void> judge_folder(const std::string& folder) {
  struct stat seen {};
  if (::stat(folder.c_str(), &seen) != 0) return system_error("look at profiles_dir " + folder);
  if (!S_ISDIR(seen.st_mode)) return refusal("profiles_dir " + folder + " is not a directory");
  if (seen.st_uid != 0 && seen.st_uid != ::geteuid())
    return refusal("profiles_dir " + folder + " belongs to another user, id " + std::to_string(seen.st_uid),
                   "chown it to root or to you");
  if ((seen.st_mode & S_IWOTH) != 0)
    return refusal("profiles_dir " + folder + " can be written by everybody", "chmod o-w " + folder);
  return {};
}

Result<void> add_own(Profiles& profiles, const std::string& folder, const ProfilePlaces& places) {
  TRY(judge_folder(folder));
  const Profiles shipped = profiles;
  for (const auto& file : names_in(folder)) {
    const std::string path = folder + "/" + file;
    if (file.ends_with(".sb")) return seatbelt_refusal(path, TRY(read_outside(path, places)));
    if (!file.ends_with(".json") || file[0] == '.') continue;
    const std::string name = file.substr(0, file.size() - 5);
    if (!is_profile_name(name)) return refusal(path + ": its name is not one that a profile can have");
    if (shipped_profile(name))
      return refusal(path + ": the profile " + name + " comes with Cloche", "give yours another name");
    const std::string text = TRY(read_outside(path, places));
    profiles.push_back(TRY(read_profile({text, path, name}, shipped, places.home)));
  }
  return {};
}

}  // namespace

Result<Profiles> load_profiles(const ProfilePlaces& places) {
  Profiles profiles;
  const std::string folder = shipped_folder(places.program);
  for (const auto& row : shipped_profiles) {
    const std::string name(row.name);
    auto text = read_outside(folder + "/" + name + ".json", places);
    if (!text.ok() && text.error().fault == Fault::system)
      return refusal("the profile " + folder + "/" + name + ".json cannot be read",
                     "install share/ beside the programs, or build again");
    const std::string shown = "share/profiles/" + name + ".json";
    const std::string description = TRY(text);
    profiles.push_back(TRY(read_profile({description, shown, name}, {}, places.home)));
  }
  if (places.folder) TRY(add_own(profiles, *places.folder, places));
  return profiles;
}

Result<SandboxProfile> load_profile_file(const std::string& path, const Profiles& known,
                                         const std::string& home) {
  const std::string text = TRY(sys::read_file(path, max_file_bytes));
  if (path.ends_with(".sb")) return seatbelt_refusal(path, text);
  std::string name = path.substr(path.rfind('/') + 1);
  if (name.ends_with(".json")) name.resize(name.size() - 5);
  return read_profile({text, path, name}, known, home);
}

}  // namespace cloche
