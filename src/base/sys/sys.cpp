#include "base/sys/sys.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <memory>
#include <utility>

#include "base/sys/path.hpp"

namespace cloche::sys {

Result<OwnedFd> open(const std::string& path, int flags, mode_t mode) {
  return open_at(AT_FDCWD, path, flags, mode);
}

Result<OwnedFd> open_at(int dir, const std::string& path, int flags, mode_t mode) {
  OwnedFd fd(::openat(dir, path.c_str(), flags | O_CLOEXEC, mode));
  if (!fd) return system_error("open " + path);
  return fd;
}

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("make a pipe");
  return Pipe{OwnedFd(ends[0]), OwnedFd(ends[1])};
}

Result<OwnedFd> pidfd_open(pid_t pid) {
  OwnedFd fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!fd) return system_error("hold a process by descriptor");
  return fd;
}

Result<OwnedFd> memory_file() {
  OwnedFd fd(::memfd_create("cloche-plan", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return system_error("make a memory file");
  return fd;
}

Result<void> seal(int fd) {
  if (::fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0)
    return system_error("seal a file");
  return {};
}

Result<std::string> read_all(int fd, size_t most) {
  auto text = read_beginning(fd, most + 1);
  if (text.ok() && text.value().size() > most) return system_error("read", EFBIG);
  return text;
}

Result<std::string> read_beginning(int fd, size_t most) {
  std::string text;
  constexpr size_t piece = 16384;
  const auto buffer =
      std::make_unique_for_overwrite<char[]>(piece);  // a caller may have left us a small stack
  while (text.size() < most) {
    const ssize_t got = ::read(fd, buffer.get(), std::min(piece, most - text.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("read");
    if (got == 0) break;
    text.append(buffer.get(), static_cast<size_t>(got));
  }
  return text;
}

Result<std::string> read_file(const std::string& path, size_t most) {
  return read_file_at(AT_FDCWD, path, most);
}

Result<std::string> read_file_at(int dir, const std::string& path, size_t most) {
  auto fd = TRY(open_at(dir, path, O_RDONLY | O_NONBLOCK));
  auto text = read_all(fd.get(), most);
  if (!text.ok()) return system_error("read " + path, text.error().number);
  return text;
}

Result<std::string> read_small_file(const std::string& path) { return read_small_file_at(AT_FDCWD, path); }

Result<std::string> read_small_file_at(int dir, const std::string& path) {
  auto fd = TRY(open_at(dir, path, O_RDONLY | O_NONBLOCK));
  std::array<char, 4096> buffer;
  const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
  if (got < 0) return system_error("read " + path);
  if (static_cast<size_t>(got) == buffer.size()) return system_error("read " + path, EFBIG);
  return std::string(buffer.data(), static_cast<size_t>(got));
}

namespace {

// With the name of the file, where it has one: "no space left" is a question of where.
Error write_error(int fd, int number) {
  const auto path = path_of(fd);
  return system_error(path.ok() && path.value().starts_with('/') ? "write " + path.value() : "write", number);
}

}  // namespace

Result<void> write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return write_error(fd, errno);
    bytes.remove_prefix(static_cast<size_t>(put));
  }
  return {};
}

Result<std::string> read_link(const std::string& path) {
  std::array<char, PATH_MAX + 1> buffer;
  const ssize_t length = ::readlink(path.c_str(), buffer.data(), buffer.size());
  if (length < 0) return system_error("read the link " + path);
  if (static_cast<size_t>(length) >= buffer.size() - 1)
    return system_error("read the link " + path, ENAMETOOLONG);
  return std::string(buffer.data(), static_cast<size_t>(length));
}

Result<std::string> path_of(int fd) { return read_link("/proc/self/fd/" + std::to_string(fd)); }

namespace {

// The usual case, and the cheap one: there is no link on the way, so the path is where it leads.
OwnedFd open_without_links(const std::string& path) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS;
  return OwnedFd(static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how)));
}

}  // namespace

Result<Held> hold(const std::string& path) {
  if (is_plain_absolute(path)) {
    if (OwnedFd fd = open_without_links(path)) return Held{std::move(fd), path};
    if (errno == ENOENT) return system_error("open " + path);
  }
  auto fd = TRY(open(path, O_PATH));
  auto where = TRY(path_of(fd.get()));
  return Held{std::move(fd), std::move(where)};
}

namespace {

// What is still to be walked, the next part last.
void walk_next(std::vector<std::string>& rest, std::string_view path) {
  const auto parts = components_of(path);
  rest.insert(rest.end(), parts.rbegin(), parts.rend());
}

// What a link says that is held itself: no other one can be put in its place meanwhile.
Result<std::string> text_of_link(int fd, const std::string& path) {
  std::array<char, PATH_MAX + 1> buffer;
  const ssize_t length = ::readlinkat(fd, "", buffer.data(), buffer.size());
  if (length < 0) return system_error("read the link " + path);
  return std::string(buffer.data(), static_cast<size_t>(length));
}

}  // namespace

Result<Walked> walk(const std::string& path) {
  constexpr int most_links = 40;  // as the kernel has it
  if (path.empty()) return system_error("open a path without a name", ENOENT);
  if (is_plain_absolute(path)) {
    if (OwnedFd fd = open_without_links(path)) return Walked{std::move(fd), path};
    if (errno == ENOENT) return system_error("open " + path);
  }
  Walked walked{TRY(open(path.starts_with('/') ? "/" : ".", O_PATH)), {}};
  std::vector<std::string> rest;
  walk_next(rest, path);
  for (int links = 0; !rest.empty();) {
    const std::string part = std::move(rest.back());
    rest.pop_back();
    const std::string here = TRY(path_of(walked.fd.get()));
    OwnedFd next = TRY(open_at(walked.fd.get(), part, O_PATH | O_NOFOLLOW));
    struct stat seen {};
    if (::fstat(next.get(), &seen) != 0) return system_error("look at " + path);
    if (part == "..") walked.turns.push_back(here);
    if (!S_ISLNK(seen.st_mode)) {
      walked.fd = std::move(next);
      continue;
    }
    if (++links > most_links) return system_error("open " + path, ELOOP);
    walked.turns.push_back((here == "/" ? "" : here) + "/" + part);
    const std::string leads = TRY(text_of_link(next.get(), path));
    if (leads.starts_with('/')) walked.fd = TRY(open("/", O_PATH));
    walk_next(rest, leads);
  }
  walked.path = TRY(path_of(walked.fd.get()));
  return walked;
}

uint64_t monotonic_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000 + static_cast<uint64_t>(now.tv_nsec) / 1'000'000;
}

}  // namespace cloche::sys
