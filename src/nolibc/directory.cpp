// Reading directories.
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <new>

#include "nolibc/call.hpp"

struct __dirstream {
  int fd;
  long filled;
  long at;
  alignas(dirent) char buffer[16384];
};

extern "C" {

DIR* fdopendir(int fd) {
  DIR* dir = new DIR;
  dir->fd = fd;
  dir->filled = dir->at = 0;
  return dir;
}
DIR* opendir(const char* path) {
  const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return fd < 0 ? nullptr : fdopendir(fd);
}
// The kernel's record is the same as this structure, shortened to the length of the name.
dirent* readdir(DIR* dir) {
  if (dir->at >= dir->filled) {
    dir->at = 0;
    dir->filled = cloche::nolibc::call(SYS_getdents64, dir->fd, dir->buffer, sizeof dir->buffer);
    if (dir->filled <= 0) return nullptr;
  }
  auto* entry = reinterpret_cast<dirent*>(dir->buffer + dir->at);
  dir->at += entry->d_reclen;
  return entry;
}
int dirfd(DIR* dir) noexcept { return dir->fd; }
int closedir(DIR* dir) {
  const int result = close(dir->fd);
  delete dir;
  return result;
}

}  // extern "C"
