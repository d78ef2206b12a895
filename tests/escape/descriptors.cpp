// Attacks through what the caller had open: descriptors above 2, and the files behind 0, 1 and 2.
#include <dirent.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "escape/attack.hpp"

namespace cloche::escape {
namespace {

Report use_inherited_descriptor(const Arguments& args) {
  for (const std::string& number : args) {
    const int fd = atoi(number.c_str());
    if (write(fd, "tampered\n", 9) == 9) return escaped("wrote through descriptor " + number);
    char byte = 0;
    if (pread(fd, &byte, 1, 0) == 1) return escaped("read through descriptor " + number);
  }
  return held_by_errno("use an inherited descriptor");
}

// Whatever is open above 2 when we start is a leak, wherever it leads.
Report find_open_descriptors(const Arguments&) {
  DIR* folder = opendir("/proc/self/fd");
  if (folder == nullptr) return unable_by_errno("/proc/self/fd");
  while (const dirent* entry = readdir(folder)) {
    const int fd = atoi(static_cast<const char*>(entry->d_name));
    if (fd <= 2 || fd == dirfd(folder)) continue;
    char behind[256] = {};
    const std::string path = "/proc/self/fd/" + std::to_string(fd);
    if (readlink(path.c_str(), behind, sizeof behind - 1) < 0) continue;
    return escaped("descriptor " + std::to_string(fd) + " is open: " + static_cast<const char*>(behind));
  }
  closedir(folder);
  return held("nothing is open above 2");
}

Report use_inherited_directory(const Arguments& args) {
  const int folder = atoi(args.at(0).c_str());
  const std::string file = args.at(1);
  int fd = openat(folder, file.c_str(), O_RDONLY);
  if (fd < 0) fd = open(("/proc/self/fd/" + args[0] + "/" + file).c_str(), O_RDONLY);
  if (fd < 0 && fchdir(folder) == 0) fd = open(file.c_str(), O_RDONLY);
  if (fd < 0) return held_by_errno("openat through descriptor " + args[0]);
  return escaped("read " + printable(slurp_descriptor(fd)) + " through a directory descriptor");
}

// A file that is only readable on stdin is writable again when it is reopened by name.
Report reopen_stdin_for_writing(const Arguments&) {
  struct stat info {};
  if (fstat(0, &info) != 0) return held_by_errno("fstat of stdin");
  if (!S_ISREG(info.st_mode)) return held("stdin is not the caller's file");
  for (const char* path : {"/proc/self/fd/0", "/dev/stdin", "/dev/fd/0", "/proc/thread-self/fd/0"}) {
    const int fd = open(path, O_WRONLY | O_APPEND);
    if (fd >= 0 && write(fd, "tampered\n", 9) == 9) return escaped(std::string("wrote through ") + path);
  }
  return held_by_errno("reopen stdin");
}

// The caller's log is on stdout, opened to append: it can be read back, or emptied.
Report abuse_stdout_file(const Arguments&) {
  struct stat info {};
  if (fstat(1, &info) != 0) return held_by_errno("fstat of stdout");
  if (!S_ISREG(info.st_mode)) return held("stdout is not the caller's file");
  if (ftruncate(1, 0) == 0) return escaped("emptied the caller's file on stdout");
  const int fd = open("/proc/self/fd/1", O_RDONLY);
  if (fd >= 0) return escaped("read the caller's file on stdout: " + printable(slurp_descriptor(fd)));
  return held_by_errno("reopen stdout");
}

Report abuse_stdin_directory(const Arguments& args) {
  const int fd = openat(0, args.at(0).c_str(), O_RDONLY);
  if (fd < 0) return held_by_errno("openat stdin");
  return escaped("read " + printable(slurp_descriptor(fd)) + " through a directory on stdin");
}

// A socket on stdin is a two-way line to the caller, and it carries descriptors.
Report abuse_stdin_socket(const Arguments&) {
  int type = 0;
  socklen_t size = sizeof type;
  if (getsockopt(0, SOL_SOCKET, SO_TYPE, &type, &size) != 0) return held_by_errno("stdin is no socket");
  if (send(0, "tampered", 8, MSG_NOSIGNAL) == 8) return escaped("sent to the caller through stdin");
  return held_by_errno("send");
}

bool is_our_own_stdio(const struct stat& found) {
  for (int fd = 0; fd <= 2; ++fd) {
    struct stat own {};
    if (fstat(fd, &own) == 0 && own.st_dev == found.st_dev && own.st_ino == found.st_ino) return true;
  }
  return false;
}

// What other processes hold open can be opened again through /proc, when they let us look.
Report reopen_descriptors_of_others(const Arguments&) {
  for (const int pid : visible_processes()) {
    if (pid == getpid()) continue;
    const std::string folder = "/proc/" + std::to_string(pid) + "/fd";
    for (const std::string& number : list_directory(folder)) {
      const std::string path = folder + "/" + number;
      const int fd = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
      struct stat info {};
      if (fd < 0 || fstat(fd, &info) != 0) continue;
      close(fd);
      if (S_ISCHR(info.st_mode) || is_our_own_stdio(info)) continue;
      return escaped("opened " + path);
    }
  }
  return held("no process lends a descriptor");
}

}  // namespace

Attacks descriptor_attacks() {
  return {
      {"use-inherited-descriptor", "no descriptor above 2 is inherited", use_inherited_descriptor},
      {"find-open-descriptors", "nothing at all is open above 2 when the command starts",
       find_open_descriptors},
      {"use-inherited-directory", "no directory descriptor leads out of the view", use_inherited_directory},
      {"reopen-stdin-for-writing", "a file on stdin cannot be reopened for writing",
       reopen_stdin_for_writing},
      {"abuse-stdout-file", "a file on stdout cannot be read or emptied", abuse_stdout_file},
      {"abuse-stdin-directory", "a directory on stdin leads nowhere", abuse_stdin_directory},
      {"abuse-stdin-socket", "a socket on stdin is no way back to the caller", abuse_stdin_socket},
      {"reopen-descriptors-of-others", "no process in the view lends a descriptor",
       reopen_descriptors_of_others},
  };
}

}  // namespace cloche::escape
