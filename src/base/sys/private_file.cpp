#include "base/sys/private_file.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>

#include "base/sys/directory.hpp"
#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"

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

namespace {

// FILE.PROCESS-NUMBER, until it is whole.
std::string unfinished_name(const std::string& path) {
  static std::atomic<unsigned> counter{0};
  return path + "." + std::to_string(::getpid()) + "-" + std::to_string(counter++);
}

// Whose unfinished file it is; 0: it is none.
pid_t writer_of(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return 0;
  const char* end = name.data() + name.size();
  pid_t writer = 0;
  const auto [line, problem] = std::from_chars(name.data() + dot + 1, end, writer);
  if (problem != std::errc{} || line == end || *line != '-') return 0;
  unsigned number = 0;
  const auto rest = std::from_chars(line + 1, end, number);
  return rest.ec == std::errc{} && rest.ptr == end ? writer : 0;
}

}  // namespace

void clear_unfinished(const std::string& directory) {
  for (const auto& name : names_in(directory)) {
    const pid_t writer = writer_of(name);
    if (writer <= 0 || ::kill(writer, 0) == 0 || errno != ESRCH) continue;
    // In another container he may live by another number: then he holds it.
    const std::string path = directory + "/" + name;
    const auto file = sys::open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (file.ok() && ::flock(file.value().get(), LOCK_EX | LOCK_NB) == 0) ::unlink(path.c_str());
  }
}

bool make_private_file(const std::string& path, std::string_view bytes) {
  const OwnedFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return false;
  const auto written = sys::write_all(file.get(), bytes);
  if (written.ok()) return true;
  ::unlink(path.c_str());
  errno = written.error().number;
  return false;
}

bool write_private_file(const std::string& path, std::string_view bytes) {
  if (!make_private_directories(std::string(parent_of(path)))) return false;
  const std::string fresh = unfinished_name(path);
  auto file = sys::open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (!file.ok()) return false;
  ::flock(file.value().get(), LOCK_EX);
  if (sys::write_all(file.value().get(), bytes).ok() && ::rename(fresh.c_str(), path.c_str()) == 0)
    return true;
  ::unlink(fresh.c_str());
  return false;
}

}  // namespace cloche
