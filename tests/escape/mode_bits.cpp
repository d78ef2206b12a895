// Attacks that leave a set-uid, set-gid or capability-carrying file in the workspace. As root, what is made
// inside belongs to root on disk, so one such bit is a root shell for whoever runs the file later.
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "escape/attack.hpp"

namespace cloche::escape {
namespace {

constexpr int sys_fchmodat2 = 452;
constexpr int sys_setxattrat = 463;
constexpr unsigned set_uid_program = S_ISUID | 0755;
constexpr unsigned set_gid_program = S_ISGID | 0755;
const char* const target = "planted-program";

int make_plain_file() {
  unlink(target);
  return open(target, O_CREAT | O_RDWR | O_CLOEXEC, 0755);
}

// The one judge of all routes: what the file system says afterwards, whatever the call returned.
Report judge_bits(const std::string& route, int error) {
  struct stat info {};
  if (stat(target, &info) != 0) return held_by_errno(route, error);
  if ((info.st_mode & (S_ISUID | S_ISGID)) != 0) return escaped(route + " left a set-id file");
  if (error == 0) return held(route + ": the bits were dropped");
  return held_by_errno(route, error);
}

Report by_existing_file(const std::string& route, const std::function<long(int fd)>& change) {
  const int fd = make_plain_file();
  if (fd < 0) return unable_by_errno("make a file");
  return judge_bits(route, change(fd) < 0 ? errno : 0);
}

Report by_new_file(const std::string& route, const std::function<long()>& make) {
  umask(0);
  unlink(target);
  return judge_bits(route, make() < 0 ? errno : 0);
}

Report by_chmod(const Arguments&) {
  return by_existing_file("chmod", [](int) { return syscall(SYS_chmod, target, set_uid_program); });
}
Report by_chmod_set_gid(const Arguments&) {
  return by_existing_file("chmod", [](int) { return syscall(SYS_chmod, target, set_gid_program); });
}
// The kernel looks at the low half of the register only; a filter that looks at all of it sees another
// number.
Report by_chmod_with_high_bits(const Arguments&) {
  return by_existing_file("chmod with high bits", [](int) {
    return syscall(SYS_chmod, target, set_uid_program | (uint64_t{1} << 32));
  });
}
Report by_fchmod(const Arguments&) {
  return by_existing_file("fchmod", [](int fd) { return syscall(SYS_fchmod, fd, set_uid_program); });
}
Report by_fchmodat(const Arguments&) {
  return by_existing_file("fchmodat",
                          [](int) { return syscall(SYS_fchmodat, AT_FDCWD, target, set_uid_program); });
}
Report by_fchmodat2(const Arguments&) {
  return by_existing_file("fchmodat2",
                          [](int) { return syscall(sys_fchmodat2, AT_FDCWD, target, set_uid_program, 0); });
}
Report by_open(const Arguments&) {
  return by_new_file("open", [] { return syscall(SYS_open, target, O_CREAT | O_WRONLY, set_uid_program); });
}
Report by_openat(const Arguments&) {
  return by_new_file(
      "openat", [] { return syscall(SYS_openat, AT_FDCWD, target, O_CREAT | O_WRONLY, set_uid_program); });
}
Report by_creat(const Arguments&) {
  return by_new_file("creat", [] { return syscall(SYS_creat, target, set_uid_program); });
}
Report by_mknod(const Arguments&) {
  return by_new_file("mknod", [] { return syscall(SYS_mknod, target, S_IFREG | set_uid_program, 0); });
}
Report by_mknodat(const Arguments&) {
  return by_new_file("mknodat",
                     [] { return syscall(SYS_mknodat, AT_FDCWD, target, S_IFREG | set_uid_program, 0); });
}
Report by_openat2(const Arguments&) {
  return by_new_file("openat2", [] {
    open_how how{};
    how.flags = O_CREAT | O_WRONLY;
    how.mode = set_uid_program;
    return syscall(SYS_openat2, AT_FDCWD, target, &how, sizeof how);
  });
}

// An unnamed file gets its mode when opened and its name later.
Report by_unnamed_file(const Arguments&) {
  return by_new_file("O_TMPFILE and linkat", []() -> long {
    const long fd = syscall(SYS_openat, AT_FDCWD, ".", O_TMPFILE | O_RDWR, set_uid_program);
    if (fd < 0) return -1;
    const std::string path = "/proc/self/fd/" + std::to_string(fd);
    return linkat(AT_FDCWD, path.c_str(), AT_FDCWD, target, AT_SYMLINK_FOLLOW);
  });
}

// A set-gid folder gives its group to everything made in it.
Report by_set_gid_folder(const Arguments&) {
  mkdir("planted-folder", 0755);
  const int error = chmod("planted-folder", S_ISGID | 0777) == 0 ? 0 : errno;
  struct stat info {};
  if (stat("planted-folder", &info) != 0) return unable_by_errno("stat");
  if ((info.st_mode & S_ISGID) != 0) return escaped("left a set-gid folder");
  return held_by_errno("chmod of a folder", error);
}

// A capability on a file is a set-uid bit by another name: cap_setuid, permitted and effective.
const uint32_t capability_attribute[] = {0x02000001, 1U << 7, 0, 0, 0};

Report judge_capability(const std::string& route, int error) {
  char value[64];
  if (getxattr(target, "security.capability", value, sizeof value) > 0) {
    return escaped(route + " left a file with capabilities");
  }
  return held_by_errno(route, error);
}

Report by_capability(const Arguments&) {
  const int fd = make_plain_file();
  if (fd < 0) return unable_by_errno("make a file");
  const auto set = [](auto call, auto where) {
    return call(where, "security.capability", capability_attribute, sizeof capability_attribute, 0);
  };
  int error = set(setxattr, target) == 0 ? 0 : errno;
  if (error != 0 && set(lsetxattr, target) == 0) error = 0;
  if (error != 0 && set(fsetxattr, fd) == 0) error = 0;
  return judge_capability("setxattr, lsetxattr, fsetxattr", error);
}

Report by_capability_with_setxattrat(const Arguments&) {
  if (make_plain_file() < 0) return unable_by_errno("make a file");
  struct {
    uint64_t value;
    uint32_t size;
    uint32_t flags;
  } request = {reinterpret_cast<uint64_t>(&capability_attribute), sizeof capability_attribute, 0};
  const long done =
      syscall(sys_setxattrat, AT_FDCWD, target, 0, "security.capability", &request, sizeof request);
  return judge_capability("setxattrat", done == 0 ? 0 : errno);
}

// Runs a program and learns from outside of it which effective ids it got.
Report effective_ids_after_exec(const std::string& program, const std::vector<std::string>& arguments) {
  int ends[2];
  if (pipe(ends) != 0) return unable_by_errno("pipe");
  const pid_t child = fork();
  if (child < 0) return unable_by_errno("fork");
  if (child == 0) {
    dup2(ends[1], 1);
    std::vector<char*> argv = {const_cast<char*>(program.c_str())};
    for (const std::string& word : arguments) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    execv(program.c_str(), argv.data());
    _exit(errno);
  }
  close(ends[1]);
  const std::string said = slurp_descriptor(ends[0], 64);
  int status = 0;
  waitpid(child, &status, 0);
  unsigned uid = 0;
  unsigned gid = 0;
  if (sscanf(said.c_str(), "%u %u", &uid, &gid) != 2) {
    return WIFEXITED(status) ? held_by_errno("exec", WEXITSTATUS(status)) : held("the program was killed");
  }
  if (uid != getuid()) return escaped("the program ran as user " + std::to_string(uid));
  if (gid != getgid()) return escaped("the program ran as group " + std::to_string(gid));
  return held("the program ran as ourselves");
}

// The operator's own set-uid program that happens to lie in the workspace: it must run as a plain one.
Report run_set_uid_program(const Arguments& args) {
  return effective_ids_after_exec(args.at(0), {"prop", "print-ids"});
}

}  // namespace

Attacks mode_bit_attacks() {
  const char* promise = "no set-uid or set-gid file can be left in the workspace";
  const char* capability_promise = "no file with capabilities can be left in the workspace";
  return {
      {"set-uid-by-chmod", promise, by_chmod},
      {"set-gid-by-chmod", promise, by_chmod_set_gid},
      {"set-uid-by-chmod-with-high-bits", promise, by_chmod_with_high_bits},
      {"set-uid-by-fchmod", promise, by_fchmod},
      {"set-uid-by-fchmodat", promise, by_fchmodat},
      {"set-uid-by-fchmodat2", promise, by_fchmodat2},
      {"set-uid-by-open", promise, by_open},
      {"set-uid-by-openat", promise, by_openat},
      {"set-uid-by-creat", promise, by_creat},
      {"set-uid-by-mknod", promise, by_mknod},
      {"set-uid-by-mknodat", promise, by_mknodat},
      {"set-uid-by-openat2", promise, by_openat2},
      {"set-uid-by-unnamed-file", promise, by_unnamed_file},
      {"set-gid-folder", promise, by_set_gid_folder},
      {"capability-by-setxattr", capability_promise, by_capability},
      {"capability-by-setxattrat", capability_promise, by_capability_with_setxattrat},
      {"run-set-uid-program", "a set-uid program runs with the caller's own ids", run_set_uid_program},
  };
}

}  // namespace cloche::escape
