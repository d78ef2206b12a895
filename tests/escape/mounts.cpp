// Attacks on the mount table and on the namespaces. When they succeed they do so in a mount namespace of
// their own: each first tries to get one, and stops if it would otherwise touch the host's.
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <optional>

#include "escape/attack.hpp"

// <sched.h> and <sys/mount.h> do not go together with the kernel's own headers; these are all we need of
// them.
extern "C" {
int unshare(int flags) noexcept;
int setns(int fd, int kind) noexcept;
int mount(const char* source, const char* target, const char* type, unsigned long flags,
          const void* data) noexcept;
int umount2(const char* target, int flags) noexcept;
}

namespace cloche::escape {
namespace {

constexpr int sys_open_tree_attr = 467;
constexpr int detach = 2;  // MNT_DETACH

// Nothing when it is safe to go on.
std::optional<Report> leave_host_mounts(const Arguments& args) {
  if (unshare(CLONE_NEWNS) != 0) unshare(CLONE_NEWUSER | CLONE_NEWNS);
  if (in_host_namespace("mnt", args.at(0))) return unable("this would be the host's mount table");
  mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  return std::nullopt;
}

Report answer(const std::string& doing, long result) {
  return result >= 0 ? escaped(doing + " succeeded") : held_by_errno(doing);
}

Report mount_tmpfs(const Arguments& args) {
  if (const auto stop = leave_host_mounts(args)) return *stop;
  return answer("mount of a tmpfs", mount("tmpfs", ".", "tmpfs", 0, nullptr));
}

Report mount_bind(const Arguments& args) {
  if (const auto stop = leave_host_mounts(args)) return *stop;
  return answer("bind mount", mount("/", ".", nullptr, MS_BIND | MS_REC, nullptr));
}

Report remount_writable(const Arguments& args) {
  if (const auto stop = leave_host_mounts(args)) return *stop;
  int error = 0;
  for (const char* path : {"/usr", "/etc", "/proc", "/", "/dev"}) {
    const unsigned long flags = MS_REMOUNT | MS_BIND | MS_RELATIME;
    if (mount(nullptr, path, nullptr, flags, nullptr) == 0) return escaped(std::string("remounted ") + path);
    error = errno;
  }
  return held_by_errno("remount", error);
}

// Under a mount may lie what it covers.
Report unmount(const Arguments& args) {
  if (const auto stop = leave_host_mounts(args)) return *stop;
  int error = 0;
  for (const char* path : {"/proc", "/dev/shm", "/tmp", "/dev", "/etc", "/usr", "."}) {
    if (umount2(path, detach) == 0) return escaped(std::string("unmounted ") + path);
    error = errno;
  }
  return held_by_errno("umount2", error);
}

Report pivot_root_away(const Arguments& args) {
  if (const auto stop = leave_host_mounts(args)) return *stop;
  mount("tmpfs", ".", "tmpfs", 0, nullptr);
  // The mount is below our old working directory; step onto it.
  char here[4096];
  if (getcwd(here, sizeof here) != nullptr && chdir(here) != 0) return unable_by_errno("chdir");
  return answer("pivot_root", syscall(SYS_pivot_root, ".", "."));
}

Report open_file_system(const Arguments& args) {
  if (const auto stop = leave_host_mounts(args)) return *stop;
  return answer("fsopen", syscall(SYS_fsopen, "tmpfs", 0));
}

Report clone_tree(const Arguments& args) {
  if (const auto stop = leave_host_mounts(args)) return *stop;
  return answer("open_tree", syscall(SYS_open_tree, AT_FDCWD, "/", OPEN_TREE_CLONE | AT_RECURSIVE));
}

Report clone_tree_with_attributes(const Arguments& args) {
  if (const auto stop = leave_host_mounts(args)) return *stop;
  mount_attr attributes{};
  return answer("open_tree_attr", syscall(sys_open_tree_attr, AT_FDCWD, "/", OPEN_TREE_CLONE | AT_RECURSIVE,
                                          &attributes, sizeof attributes));
}

// A tree that is only looked at, not cloned, can be moved by whoever may.
Report move_tree(const Arguments& args) {
  if (const auto stop = leave_host_mounts(args)) return *stop;
  const long tree = syscall(SYS_open_tree, AT_FDCWD, "/", OPEN_TREE_CLONE | AT_RECURSIVE);
  if (tree < 0) {
    const int error = errno;
    if (syscall(SYS_move_mount, AT_FDCWD, "/proc", AT_FDCWD, ".", 0) == 0) return escaped("moved /proc");
    return held_by_errno("open_tree and move_mount", error);
  }
  return answer("move_mount", syscall(SYS_move_mount, tree, "", AT_FDCWD, ".", MOVE_MOUNT_F_EMPTY_PATH));
}

Report set_mount_attributes(const Arguments& args) {
  if (const auto stop = leave_host_mounts(args)) return *stop;
  int error = 0;
  for (const char* path : {"/usr", "/etc", "/proc", "/"}) {
    mount_attr attributes{};
    attributes.attr_clr = MOUNT_ATTR_RDONLY;
    if (syscall(SYS_mount_setattr, AT_FDCWD, path, 0, &attributes, sizeof attributes) == 0) {
      return escaped(std::string("cleared the attributes of ") + path);
    }
    error = errno;
  }
  return held_by_errno("mount_setattr", error);
}

Report change_root(const Arguments&) { return answer("chroot", chroot(".")); }

struct Kind {
  const char* name;
  uint64_t flag;
};

constexpr Kind kinds[] = {{"user", CLONE_NEWUSER},     {"mnt", CLONE_NEWNS},   {"pid", CLONE_NEWPID},
                          {"net", CLONE_NEWNET},       {"ipc", CLONE_NEWIPC},  {"uts", CLONE_NEWUTS},
                          {"cgroup", CLONE_NEWCGROUP}, {"time", CLONE_NEWTIME}};

uint64_t flag_of(const std::string& name) {
  for (const Kind& kind : kinds) {
    if (kind.name == name) return kind.flag;
  }
  return 0;
}

Report unshare_namespace(const Arguments& args) {
  const auto flag = static_cast<int>(flag_of(args.at(0)));
  if (flag == 0) return unable("no such namespace");
  if (unshare(flag) == 0) return escaped("unshared " + args[0]);
  const int error = errno;
  if (unshare(flag | CLONE_NEWUSER) == 0) return escaped("unshared user and " + args[0]);
  return held_by_errno("unshare", error);
}

Report report_clone(const std::string& how, long child) {
  if (child == 0) _exit(0);
  if (child < 0) return held_by_errno(how);
  waitpid(static_cast<pid_t>(child), nullptr, __WALL);
  return escaped(how + " started a child");
}

long plain_clone(uint64_t flags) {
  return syscall(SYS_clone, flags | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
}

Report clone_namespace(const Arguments& args) {
  const uint64_t flag = flag_of(args.at(0));
  const Report alone = report_clone("clone", plain_clone(flag));
  if (alone.ending == Ending::escaped) return alone;
  return report_clone("clone", plain_clone(flag | CLONE_NEWUSER));
}

// The kernel drops the high half of clone's flags; a filter must not be confused by it.
Report clone_namespace_with_high_bits(const Arguments& args) {
  const uint64_t flags = flag_of(args.at(0)) | CLONE_NEWUSER | (uint64_t{1} << 40);
  return report_clone("clone with high bits", plain_clone(flags));
}

long plain_clone3(uint64_t flags) {
  clone_args how{};
  how.flags = flags;
  how.exit_signal = SIGCHLD;
  return syscall(SYS_clone3, &how, sizeof how);
}

// No filter can look into the structure that clone3 takes, so it may not be there at all.
Report clone3_namespace(const Arguments& args) {
  const uint64_t flag = flag_of(args.at(0));
  const Report alone = report_clone("clone3", plain_clone3(flag));
  if (alone.ending == Ending::escaped) return alone;
  return report_clone("clone3", plain_clone3(flag | CLONE_NEWUSER));
}

Report join_namespace(const Arguments& args) {
  int error = ENOENT;
  for (const std::string& whose : {args.at(1), std::string("1"), std::string("self")}) {
    const int fd = open(("/proc/" + whose + "/ns/" + args.at(0)).c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) continue;
    if (setns(fd, 0) == 0) return escaped("joined the " + args[0] + " namespace of " + whose);
    error = errno;
    close(fd);
  }
  return held_by_errno("setns", error);
}

}  // namespace

Attacks mount_attacks() {
  return {
      {"mount-tmpfs", "nothing can be mounted", mount_tmpfs},
      {"mount-bind", "nothing can be bind-mounted", mount_bind},
      {"remount-writable", "a read-only mount stays read-only", remount_writable},
      {"unmount", "no mount can be taken away", unmount},
      {"pivot-root", "the root cannot be exchanged", pivot_root_away},
      {"open-file-system", "the new mount API is not there: fsopen", open_file_system},
      {"clone-tree", "the new mount API is not there: open_tree", clone_tree},
      {"clone-tree-with-attributes", "the new mount API is not there: open_tree_attr",
       clone_tree_with_attributes},
      {"move-tree", "the new mount API is not there: move_mount", move_tree},
      {"set-mount-attributes", "the new mount API is not there: mount_setattr", set_mount_attributes},
      {"change-root", "chroot is refused", change_root},
      {"unshare-namespace", "no new namespace by unshare", unshare_namespace},
      {"clone-namespace", "no new namespace by clone", clone_namespace},
      {"clone-namespace-with-high-bits", "high bits do not hide clone's flags",
       clone_namespace_with_high_bits},
      {"clone3-namespace", "no new namespace by clone3", clone3_namespace},
      {"join-namespace", "no namespace can be joined", join_namespace},
  };
}

}  // namespace cloche::escape
