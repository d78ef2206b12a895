// A part of a file, wherever the descriptor stands.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/result.hpp"

namespace cloche::sys {

// At most `most` bytes from `offset` on: fewer where the file ends, never more however it grows. `doing` is
// for the error.
inline Result<std::string> read_at(int fd, uint64_t offset, size_t most, const std::string& doing) {
  std::string bytes(most, '\0');
  size_t filled = 0;
  while (filled < most) {
    const ssize_t got =
        ::pread(fd, bytes.data() + filled, most - filled, static_cast<off_t>(offset + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error(doing);
    if (got == 0) break;
    filled += static_cast<size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

}  // namespace cloche::sys
