#include "store/record/spill.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>

namespace cloche {

OwnedFd open_spill(const std::string& directory) {
  if (directory.empty()) return {};
  return OwnedFd(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
}

Chunks chunks_of(std::string_view first, int spill) {
  return [first, spill](const Sink& sink) -> Result<void> {
    TRY(chunks_of(first)(sink));
    std::array<char, size_t{32} << 10> room;
    for (off_t at = 0; spill >= 0;) {
      const ssize_t got = ::pread(spill, room.data(), room.size(), at);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return system_error("read what the command has printed");
      if (got == 0) break;
      sink({room.data(), static_cast<size_t>(got)});
      at += got;
    }
    return {};
  };
}

}  // namespace cloche
