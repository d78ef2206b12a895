// Attacks on the mount view: what is not shown cannot be read, and what is shown read-only cannot be written.
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "escape/attack.hpp"

namespace cloche::escape {
namespace {

Report loot(const std::string& path) {
  const std::string text = slurp(path);
  if (!text.empty()) return escaped("read " + printable(text) + " from " + path);
  if (errno == 0) return held(path + " is empty");
  return held_by_errno("read " + path);
}

Report read_path(const Arguments& args) {
  Report last = unable("no path given");
  for (const std::string& path : args) {
    last = loot(path);
    if (last.ending == Ending::escaped) return last;
  }
  return last;
}

// A file that may exist inside, as a curated copy, but must not hold the host's words.
Report read_words(const Arguments& args) {
  const std::string text = slurp(args.at(0));
  if (text.find(args.at(1)) != std::string::npos) return escaped(args[0] + " holds " + args[1]);
  return held(args[0] + " does not hold the host's words");
}

Report climb_with_dots(const Arguments& args) {
  std::string path;
  for (int i = 0; i < 64; ++i) path += "../";
  return loot(path + args.at(0).substr(1));
}

// chdir one level at a time, so that no single path names the climb.
Report climb_by_chdir(const Arguments& args) {
  for (int i = 0; i < 64; ++i) {
    if (chdir("..") != 0) return held_by_errno("chdir ..");
  }
  return loot(args.at(0).substr(1));
}

// A directory that is moved while it is the working directory: `..` then leads to its new parent.
Report climb_from_moved_directory(const Arguments& args) {
  mkdir("a", 0755);
  mkdir("a/b", 0755);
  mkdir("c", 0755);
  const int deep = open("a/b", O_PATH | O_DIRECTORY);
  if (deep < 0) return unable_by_errno("a/b");
  if (rename("a/b", "c/b") != 0) return unable_by_errno("rename");
  std::string path;
  for (int i = 0; i < 64; ++i) path += "../";
  const int fd = openat(deep, (path + args.at(0).substr(1)).c_str(), O_RDONLY);
  if (fd < 0) return held_by_errno("openat ..");
  const std::string text = slurp_descriptor(fd);
  return text.empty() ? held("nothing to read") : escaped("read " + printable(text));
}

Report follow_planted_symlink(const Arguments& args) {
  if (symlink(args.at(0).c_str(), "planted-link") != 0) return unable_by_errno("symlink");
  return loot("planted-link");
}

Report follow_planted_directory_symlink(const Arguments& args) {
  if (symlink(args.at(0).c_str(), "planted-folder") != 0) return unable_by_errno("symlink");
  return loot("planted-folder/" + args.at(1));
}

std::atomic<bool> swapping = true;

// Flips one name between a harmless file and a link to the loot, as fast as the kernel renames.
void* swap_names(void*) {
  while (swapping) {
    syscall(SYS_renameat2, AT_FDCWD, "race-honest", AT_FDCWD, "race-link", RENAME_EXCHANGE);
  }
  return nullptr;
}

Report race_symlink_swap(const Arguments& args) {
  const int honest = open("race-honest", O_CREAT | O_WRONLY, 0644);
  if (honest < 0) return unable_by_errno("race-honest");
  if (write(honest, "honest", 6) != 6) return unable_by_errno("write");
  close(honest);
  if (symlink(args.at(0).c_str(), "race-link") != 0) return unable_by_errno("symlink");
  pthread_t swapper{};
  if (pthread_create(&swapper, nullptr, swap_names, nullptr) != 0) return unable("no thread");
  Report result = held("a second of swapping showed nothing but the honest file");
  const double end = seconds_now() + 1.0;
  while (seconds_now() < end && result.ending == Ending::held) {
    const std::string text = slurp("race-honest");
    if (!text.empty() && text != "honest") result = escaped("the race read " + printable(text));
  }
  swapping = false;
  pthread_join(swapper, nullptr);
  return result;
}

Report read_through_proc_root(const Arguments& args) {
  Report last = unable("nothing tried");
  for (const char* root : {"/proc/self/root", "/proc/thread-self/root", "/proc/self/task/../root"}) {
    last = loot(root + args.at(0));
    if (last.ending == Ending::escaped) return last;
  }
  return last;
}

Report read_through_init_root(const Arguments& args) { return loot("/proc/1/root" + args.at(0)); }

// Any process that stands outside lends us its working directory or its root.
Report read_through_process_cwd(const Arguments& args) {
  int last_error = ENOENT;
  for (const int pid : visible_processes()) {
    if (pid == getpid()) continue;
    const std::string base = "/proc/" + std::to_string(pid);
    for (const std::string& path : {base + "/cwd/" + args.at(0), base + "/root" + args.at(1)}) {
      const std::string text = slurp(path);
      if (!text.empty()) return escaped("read " + printable(text) + " from " + path);
      if (errno != 0) last_error = errno;
    }
  }
  return held_by_errno("no process lends its directory", last_error);
}

// A file handle names an inode, not a path: with one, no mount view is in the way.
Report open_by_handle(const Arguments& args) {
  alignas(file_handle) char bytes[sizeof(file_handle) + MAX_HANDLE_SZ] = {};
  auto* handle = reinterpret_cast<file_handle*>(bytes);
  handle->handle_type = atoi(args.at(0).c_str());
  const std::string hex = args.at(1);
  handle->handle_bytes = static_cast<unsigned>(hex.size() / 2);
  for (size_t i = 0; i < hex.size() / 2; ++i) {
    bytes[sizeof(file_handle) + i] = static_cast<char>(strtoul(hex.substr(i * 2, 2).c_str(), nullptr, 16));
  }
  const int folder = open(".", O_RDONLY | O_DIRECTORY);
  const int fd = open_by_handle_at(folder, handle, O_RDONLY);
  if (fd < 0) return held_by_errno("open_by_handle_at");
  return escaped("opened by handle and read " + printable(slurp_descriptor(fd)));
}

Report write_path(const Arguments& args) {
  const int fd = open(args.at(0).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) return held_by_errno("open " + args[0] + " for writing");
  if (write(fd, "tampered\n", 9) != 9) return held_by_errno("write " + args[0]);
  return escaped("wrote to " + args[0]);
}

Report write_through_symlink(const Arguments& args) {
  if (symlink(args.at(0).c_str(), "planted-link") != 0) return unable_by_errno("symlink");
  return write_path({"planted-link"});
}

Report rename_out(const Arguments& args) {
  const int fd = open("contraband", O_CREAT | O_WRONLY, 0644);
  if (fd < 0) return unable_by_errno("contraband");
  close(fd);
  if (rename("contraband", args.at(0).c_str()) == 0) return escaped("renamed a file to " + args[0]);
  const int error = errno;
  if (link("contraband", args[0].c_str()) == 0) return escaped("linked a file to " + args[0]);
  return held_by_errno("rename and link out", error);
}

Report link_in(const Arguments& args) {
  if (link(args.at(0).c_str(), "stolen") == 0) return escaped("linked " + args[0] + " into the workspace");
  const int error = errno;
  if (rename(args[0].c_str(), "stolen") == 0) return escaped("moved " + args[0] + " into the workspace");
  return held_by_errno("link and rename in", error);
}

Report remove_path(const Arguments& args) {
  if (unlink(args.at(0).c_str()) == 0) return escaped("removed " + args[0]);
  return held_by_errno("unlink " + args[0]);
}

// Every way to change a file or a folder that is only to be read.
Report change_readonly_workspace(const Arguments& args) {
  const char* file = args.at(0).c_str();
  const int made = open("new-file", O_CREAT | O_WRONLY, 0644);
  if (made >= 0) return escaped("made a new file");
  const int first_error = errno;
  if (open(file, O_WRONLY) >= 0) return escaped("opened for writing");
  if (open(file, O_RDWR | O_TRUNC) >= 0) return escaped("truncated by open");
  if (truncate(file, 0) == 0) return escaped("truncated");
  if (mkdir("new-folder", 0755) == 0) return escaped("made a folder");
  if (symlink("x", "new-link") == 0) return escaped("made a link");
  if (link(file, "new-name") == 0) return escaped("made a hard link");
  if (mkfifo("new-fifo", 0644) == 0) return escaped("made a FIFO");
  if (rename(file, "renamed") == 0) return escaped("renamed");
  if (unlink(file) == 0) return escaped("unlinked");
  if (chmod(file, 0777) == 0) return escaped("changed the mode");
  if (chown(file, getuid(), getgid()) == 0) return escaped("changed the owner");
  if (utimes(file, nullptr) == 0) return escaped("changed the times");
  if (setxattr(file, "user.cloche", "x", 1, 0) == 0) return escaped("set an attribute");
  if (open(".", O_TMPFILE | O_RDWR, 0644) >= 0) return escaped("made an unnamed file");
  const int readable = open(file, O_RDONLY);
  const std::string again = "/proc/self/fd/" + std::to_string(readable);
  if (open(again.c_str(), O_RDWR) >= 0) return escaped("reopened a read-only descriptor for writing");
  if (mount(nullptr, ".", nullptr, MS_REMOUNT | MS_BIND, nullptr) == 0)
    return escaped("remounted read-write");
  return held_by_errno("make a file", first_error);
}

// Devices that hand over the machine. Only opened, never read or written: the control runs this on the host.
Report open_devices(const Arguments&) {
  int error = ENOENT;
  for (const char* device :
       {"/dev/mem",     "/dev/kmsg",      "/dev/port",        "/dev/vda",         "/dev/sda",
        "/dev/nvme0n1", "/dev/kvm",       "/dev/fuse",        "/dev/net/tun",     "/dev/loop-control",
        "/dev/loop0",   "/dev/vsock",     "/dev/vhost-vsock", "/dev/userfaultfd", "/dev/console",
        "/dev/tty0",    "/dev/tty1",      "/dev/ttyS0",       "/dev/vcs",         "/dev/input/event0",
        "/dev/hwrng",   "/dev/dri/card0", "/dev/snd/timer",   "/dev/rfkill",      "/dev/zram0"}) {
    const int fd = open(device, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0) return escaped(std::string("opened ") + device);
    if (errno != ENOENT) error = errno;
  }
  return held_by_errno("no device of the host opens", error);
}

}  // namespace

Attacks file_attacks() {
  return {
      {"read-path", "a file outside the view cannot be read by its absolute path", read_path},
      {"read-words", "a curated system file does not show what the host's own says", read_words},
      {"climb-with-dots", "no number of .. leads above the view", climb_with_dots},
      {"climb-by-chdir", "walking up one .. at a time does not leave the view", climb_by_chdir},
      {"climb-from-moved-directory", "a directory moved while held does not lead out",
       climb_from_moved_directory},
      {"follow-planted-symlink", "a link planted in the workspace leads nowhere outside",
       follow_planted_symlink},
      {"follow-planted-directory-symlink", "a folder that is a link leads nowhere outside",
       follow_planted_directory_symlink},
      {"race-symlink-swap", "no check can be raced by swapping a file for a link", race_symlink_swap},
      {"read-through-proc-root", "/proc/self/root is the view's root", read_through_proc_root},
      {"read-through-init-root", "/proc/1/root is not the host's root", read_through_init_root},
      {"read-through-process-cwd", "no visible process lends a directory outside", read_through_process_cwd},
      {"open-by-handle", "file handles do not open inodes outside the view", open_by_handle},
      {"write-path", "nothing outside the workspace can be written", write_path},
      {"write-through-symlink", "a planted link does not lead a write outside", write_through_symlink},
      {"rename-out", "no file can be moved or linked out of the workspace", rename_out},
      {"link-in", "no file outside can be linked or moved into the workspace", link_in},
      {"remove-path", "no file outside can be removed", remove_path},
      {"change-readonly-workspace", "nothing in a read-only workspace can be changed",
       change_readonly_workspace},
      {"open-devices", "no device of the host is in the view", open_devices},
  };
}

}  // namespace cloche::escape
