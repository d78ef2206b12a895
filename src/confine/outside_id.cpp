#include "confine/outside_id.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sys.hpp"

namespace cloche {

Result<OutsideId> claim_outside_id(unsigned first, unsigned count, const std::string& directory) {
  const std::string path = directory + "/ids";
  auto opened = sys::open(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
  if (!opened.ok() && opened.error().number == ENOENT) {
    if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) return system_error("make " + directory);
    opened = sys::open(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
  }
  OwnedFd file = TRY(std::move(opened));
  // The lowest that is free, so that what a killed call left under its id is soon found and replaced.
  for (unsigned slot = 0; slot < count; ++slot) {
    struct flock claim {};
    claim.l_type = F_WRLCK;
    claim.l_whence = SEEK_SET;
    claim.l_start = slot;
    claim.l_len = 1;
    if (::fcntl(file.get(), F_OFD_SETLK, &claim) == 0) return OutsideId{first + slot, std::move(file)};
    if (errno != EAGAIN && errno != EACCES) return system_error("claim an id for the sandbox");
  }
  return refusal("every one of the " + std::to_string(count) + " ids for sandboxes is in use",
                 "wait for a call to end, or widen the range");
}

}  // namespace cloche
