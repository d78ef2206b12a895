#include "store/workspace/open_beneath.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text/command_words.hpp"

namespace cloche {
namespace {

int try_open(int directory, const std::string& path, int flags, Links links) {
  open_how how{};
  how.flags = static_cast<uint64_t>(flags) | O_CLOEXEC;
  if ((flags & O_PATH) == 0) how.flags |= O_NONBLOCK | O_NOCTTY;
  // Not across mounts: a command in the sandbox does not see what is mounted below the workspace either.
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  if (links == Links::refused) how.resolve |= RESOLVE_NO_SYMLINKS;
  return static_cast<int>(
      ::syscall(SYS_openat2, directory, path.empty() ? "." : path.c_str(), &how, sizeof how));
}

// A sentence for a model; the kernel's own words say less.
const char* sentence_of(int number) {
  switch (number) {
    case ENOENT: return " is not there";
    case ENOTDIR: return " goes through something that is not a directory";
    case EISDIR: return " is a directory";
    case EXDEV: return " leads out of the workspace";
    case ELOOP: return " goes through a link that is not followed here";
    case ENXIO: return " is not a regular file";
    case EACCES:
    case EPERM: return ": permission denied";
    case EROFS: return " is on a read-only file system";
    case ENAMETOOLONG: return " is too long for this file system";
    case ENOSPC:
    case EDQUOT: return ": there is no space left";
    case EAGAIN: return " is held by another process or keeps moving; try again later";
    default: return nullptr;
  }
}

}  // namespace

Error path_error(const std::string& shown_path, int number) {
  const std::string quoted = "'" + shown(shown_path) + "'";
  const char* sentence = sentence_of(number);
  if (sentence == nullptr) return system_error(quoted, number);
  return {Cause::system, quoted + sentence, number, {}};
}

Result<OwnedFd> open_beneath(int directory, const std::string& path, int flags, Links links,
                             const std::string& shown_path) {
  // EAGAIN: something was renamed while the kernel looked, or the file is under a lease, which stays.
  constexpr int tries = 32;
  for (int i = 0; i < tries; ++i) {
    OwnedFd fd(try_open(directory, path, flags, links));
    if (fd) return fd;
    if (errno != EAGAIN && errno != EINTR) break;
    ::sched_yield();
  }
  return path_error(shown_path, errno);
}

}  // namespace cloche
