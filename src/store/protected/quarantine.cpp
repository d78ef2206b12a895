#include "store/protected/quarantine.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "base/sys/directory.hpp"
#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "store/workspace/safe_walk.hpp"

namespace cloche {
namespace {

constexpr std::string_view harmless_ending = ".cloche-quarantined";
constexpr size_t most_copied_bytes = size_t{64} << 20;
constexpr size_t most_copied_files = 4096;
constexpr int most_copied_depth = 32;

// A command may have closed its directory to stop this.
int rename_out(int directory, const std::string& name, int to_directory, const std::string& to) {
  if (::renameat2(directory, name.c_str(), to_directory, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EACCES) return errno;
  struct stat seen {};
  if (::fstat(directory, &seen) != 0) return EACCES;
  ::chmod(("/proc/self/fd/" + std::to_string(directory)).c_str(), (seen.st_mode & 0777U) | 0700U);
  return ::renameat2(directory, name.c_str(), to_directory, to.c_str(), RENAME_NOREPLACE) == 0 ? 0 : errno;
}

// To another file system. Regular files, directories and links: nothing else is worth keeping.
class Copy {
 public:
  bool copy(int from, const std::string& name, int to, const std::string& as, int depth = 0) {
    struct stat seen {};
    if (::fstatat(from, name.c_str(), &seen, AT_SYMLINK_NOFOLLOW) != 0) return false;
    if (++files_ > most_copied_files || depth > most_copied_depth) return false;
    if (S_ISREG(seen.st_mode)) return copy_file(from, name, to, as);
    if (S_ISLNK(seen.st_mode)) return copy_link(from, name, to, as);
    return S_ISDIR(seen.st_mode) && copy_directory(from, name, to, as, depth);
  }

 private:
  bool copy_file(int from, const std::string& name, int to, const std::string& as) {
    const auto in = sys::open_at(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const auto text = in.ok() ? sys::read_all(in.value().get(), most_copied_bytes - bytes_) : in.error();
    const auto out = sys::open_at(to, as, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (!text.ok() || !out.ok()) return false;
    bytes_ += text.value().size();
    return sys::write_all(out.value().get(), text.value()).ok();
  }

  static bool copy_link(int from, const std::string& name, int to, const std::string& as) {
    char says[4096] = {};
    const ssize_t length = ::readlinkat(from, name.c_str(), says, sizeof says - 1);
    return length > 0 && ::symlinkat(says, to, as.c_str()) == 0;
  }

  bool copy_directory(int from, const std::string& name, int to, const std::string& as, int depth) {
    const auto in = sys::open_at(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!in.ok() || ::mkdirat(to, as.c_str(), 0700) != 0) return false;
    const auto out = sys::open_at(to, as, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!out.ok()) return false;
    for (const auto& child : names_in("/proc/self/fd/" + std::to_string(in.value().get()))) {
      if (!copy(in.value().get(), child, out.value().get(), child, depth + 1)) return false;
    }
    return true;
  }

  size_t bytes_ = 0;
  size_t files_ = 0;
};

void remove(int directory, const std::string& name) {
  if (::unlinkat(directory, name.c_str(), 0) != 0)
    remove_tree("/proc/self/fd/" + std::to_string(directory) + "/" + name);
}

bool is_there(int directory, const std::string& name) {
  struct stat seen {};
  return ::fstatat(directory, name.c_str(), &seen, AT_SYMLINK_NOFOLLOW) == 0;
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

Result<std::optional<Quarantined>> Quarantine::take(const HeldRoot& root, const Suspect& suspect) {
  auto taken = take_out(root, suspect);
  if (taken.ok()) return std::optional(std::move(taken).value());
  if (taken.error().number == ENOENT) return std::optional<Quarantined>();
  return taken.take_error();
}

Result<Quarantined> Quarantine::take_out(const HeldRoot& root, const Suspect& suspect) {
  Quarantined taken{.path = suspect.path, .reason = suspect.reason};
  const std::string name = suspect.path.substr(suspect.path.rfind('/') + 1);
  const OwnedFd parent = TRY(open_parent(root.fd.get(), suspect.path));
  const auto place = next_place();
  const auto to = place.ok() ? sys::open(place.value(), O_RDONLY | O_DIRECTORY) : place.error();
  taken.kept_at = place.ok() ? place.value() + "/" + name : "";
  if (to.ok() && rename_out(parent.get(), name, to.value().get(), name) == 0) return taken;
  // By one step that only one of several calls can take: so nobody copies what another removes.
  const auto renamed = rename_here(parent.get(), name);
  if (renamed.ok() && to.ok() && Copy().copy(parent.get(), renamed.value(), to.value().get(), name)) {
    remove(parent.get(), renamed.value());
    if (!is_there(parent.get(), renamed.value())) return taken;
  }
  if (to.ok()) ::rmdir(place.value().c_str());  // where nothing came into it
  taken.kept_at = std::string(parent_of(root.path + "/" + suspect.path)) + "/" + TRY(renamed);
  return taken;
}

Result<std::string> Quarantine::keep(const std::string& name, const std::string& content) {
  const std::string place = TRY(next_place());
  const std::string path = place + "/" + name;
  const OwnedFd fd = TRY(sys::open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
  auto written = sys::write_all(fd.get(), content);
  if (written.ok()) return path;
  ::unlink(path.c_str());
  ::rmdir(place.c_str());
  return written.take_error();
}

}  // namespace cloche
