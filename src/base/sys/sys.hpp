// One wrapper a system call: an owned descriptor or an Error that says what was being done. Only what is
// used.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/sys/fd.hpp"

namespace cloche::sys {

Result<OwnedFd> open(const std::string& path, int flags, mode_t mode = 0);
Result<OwnedFd> open_at(int dir, const std::string& path, int flags, mode_t mode = 0);
Result<Pipe> make_pipe();  // both ends close-on-exec
Result<OwnedFd> pidfd_open(pid_t pid);
Result<OwnedFd> memory_file();  // empty, and can be sealed
Result<void> seal(int fd);      // cannot be changed any more by any process

// At most `most` bytes; a longer file is an error, not a prefix.
Result<std::string> read_all(int fd, size_t most);
// The same, and of what is longer its beginning: never more than `most` bytes.
Result<std::string> read_beginning(int fd, size_t most);
Result<std::string> read_file(const std::string& path, size_t most = 1 << 20);
Result<std::string> read_file_at(int dir, const std::string& path, size_t most = 1 << 20);
// One of the kernel's own that says all it has in one read of less than a page.
Result<std::string> read_small_file(const std::string& path);
Result<std::string> read_small_file_at(int dir, const std::string& path);
Result<void> write_all(int fd, std::string_view bytes);

Result<std::string> read_link(const std::string& path);
// Where a descriptor's file is now, every link resolved.
Result<std::string> path_of(int fd);

// A path held (O_PATH), and where it leads when every link is followed.
struct Held {
  OwnedFd fd;
  std::string path;
};
Result<Held> hold(const std::string& path);

// The same, and every turn on the way: a link that was followed, or a directory that .. was taken from. A
// user or command that can write there decides where the path leads.
struct Walked {
  OwnedFd fd;
  std::string path;
  std::vector<std::string> turns = {};
};
Result<Walked> walk(const std::string& path);

uint64_t monotonic_ms();

}  // namespace cloche::sys
