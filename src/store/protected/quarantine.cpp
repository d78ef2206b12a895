#include "store/protected/quarantine.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/sys/directory.hpp"
#include "base/sys/sys.hpp"
#include "store/workspace/safe_walk.hpp"

namespace cloche {
namespace {

constexpr std::string_view harmless_ending = ".cloche-quarantined";

// A command may have closed its directory to stop this.
int rename_out(int directory, const std::string& name, int to_directory, const std::string& to) {
  if (::renameat2(directory, name.c_str(), to_directory, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EACCES) return errno;
  struct stat seen {};
  if (::fstat(directory, &seen) != 0) return EACCES;
  ::chmod(("/proc/self/fd/" + std::to_string(directory)).c_str(), (seen.st_mode & 0777U) | 0700U);
  return ::renameat2(directory, name.c_str(), to_directory, to.c_str(), RENAME_NOREPLACE) == 0 ? 0 : errno;
}

// Where it is, under a name that nothing executes.
Result<std::string> rename_here(int directory, const std::string& name) {
  constexpr size_t longest = 200;
  for (int i = 0; i < 100; ++i) {
    const std::string other =
        name.substr(0, longest) + std::string(harmless_ending) + (i == 0 ? "" : "-" + std::to_string(i));
    const int why = rename_out(directory, name, directory, other);
    if (why == 0) return other;
    if (why != EEXIST) return system_error("rename " + name, why);
  }
  return system_error("rename " + name, EEXIST);
}

}  // namespace

// DIRECTORY/1, DIRECTORY/2, ...: what is put there keeps its name.
Result<std::string> Quarantine::next_place() {
  if (directory_.empty()) return refusal("there is no directory for it");
  if (taken_ == 0 && !make_private_directories(directory_)) return system_error("make " + directory_);
  constexpr unsigned most_places = 100'000;
  while (++taken_ < most_places) {
    std::string place = directory_ + "/" + std::to_string(taken_);
    if (::mkdir(place.c_str(), 0700) == 0) return place;
    if (errno != EEXIST) return system_error("make " + place);
  }
  return system_error("make a place in " + directory_, EEXIST);
}

Result<Quarantined> Quarantine::take(int root, const std::string& root_path, const std::string& path) {
  Quarantined taken{.path = path, .host_path = root_path + "/" + path};
  const std::string name = last_of(path);
  const OwnedFd parent = TRY(open_parent(root, path));
  const auto place = next_place();
  const auto to = place.ok() ? sys::open(place.value(), O_RDONLY | O_DIRECTORY) : place.error();
  taken.kept_at = place.ok() ? place.value() + "/" + name : "";
  if (to.ok() && rename_out(parent.get(), name, to.value().get(), name) == 0) return taken;
  if (to.ok()) ::rmdir(place.value().c_str());
  taken.kept_at = std::string(directory_in(taken.host_path)) + "/" + TRY(rename_here(parent.get(), name));
  return taken;
}

}  // namespace cloche
