#include "base/private_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>

#include "base/directory.hpp"
#include "base/path.hpp"
#include "base/sys.hpp"

namespace cloche {

Result<std::string> read_private_file(const std::string& path, size_t most) {
  auto file = TRY(sys::open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  struct stat seen {};
  if (::fstat(file.get(), &seen) != 0 || seen.st_uid != ::geteuid() || (seen.st_mode & 077) != 0 ||
      !S_ISREG(seen.st_mode)) {
    return system_error("trust " + path, EPERM);
  }
  if (static_cast<uint64_t>(seen.st_size) > most) return system_error("read " + path, EFBIG);
  std::string text(static_cast<size_t>(seen.st_size), '\0');
  const ssize_t got = ::read(file.get(), text.data(), text.size());
  if (got != seen.st_size) return system_error("read " + path, got < 0 ? errno : EIO);
  return text;
}

bool write_private_file(const std::string& path, std::string_view bytes) {
  static std::atomic<unsigned> counter{0};
  if (!make_private_directories(std::string(parent_of(path)))) return false;
  const std::string fresh = path + "." + std::to_string(::getpid()) + "-" + std::to_string(counter++);
  auto file = sys::open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (!file.ok()) return false;
  if (sys::write_all(file.value().get(), bytes).ok() && ::rename(fresh.c_str(), path.c_str()) == 0)
    return true;
  ::unlink(fresh.c_str());
  return false;
}

}  // namespace cloche
