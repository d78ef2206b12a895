#include "jail/core/overlay.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "jail/core/kernel.hpp"
#include "jail/core/report.hpp"
#include "jail/core/text.hpp"

namespace cloche::jail {
namespace {

using wire::Mount;
using wire::MountKind;
using wire::Step;

// Below: the project. Beside each other: what is written, and the kernel's own work directory. A detached
// clone is taken apart when its own descriptor is closed, so all of them stay open until the overlay is
// there.
struct Layers {
  int lower;
  int parent;
  int upper;
  int work;
};
Layers opened[wire::max_mounts];  // by index of the mount

// Covered while the overlays are made, in a namespace whose own /tmp is of no use any more.
constexpr const char* attach_point = "/tmp";

int open_directory(const char* path, const wire::Identity& judged, uint32_t index) {
  const int fd = must(::open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), Step::clone_source, index);
  must_be(judged, fd, Step::check_source, index);
  return fd;
}

int open_in(int directory, const char* name, uint32_t index) {
  return must(::openat(directory, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), Step::mount_overlay,
              index);
}

Layers open_layers(const wire::Plan& plan, const Mount& mount, uint32_t index) {
  int lower = -1;
  int layers = -1;
  if (plan.has(wire::privileged)) {
    // Upper and work must come from one clone: the kernel renames between them.
    Mount own = mount;
    own.source = mount.layers;
    own.judged = mount.judged_layers;
    lower = clone_tree(plan, mount, index);
    layers = clone_tree(plan, own, index);
  } else {
    lower = open_directory(mount.source, mount.judged, index);
    layers = open_directory(mount.layers, mount.judged_layers, index);
  }
  return {lower, layers, open_in(layers, wire::upper_name, index), open_in(layers, wire::work_name, index)};
}

// A descriptor as a path: no byte of the real one can mean anything to the parser of mount options, and it is
// the directory that was checked.
void set_layer(int fs, const char* key, int fd, uint32_t index) {
  Text<32> path;
  path.add("/proc/self/fd/").add(static_cast<uint64_t>(fd));
  must(kernel::fsconfig_set(fs, key, path.c_str()), Step::mount_overlay, index);
}

void set_options(int fs, const wire::Plan& plan, uint32_t index) {
  // Every new path has its own entry in the upper directory with all its bytes: nothing is redirected, and no
  // file is its attributes alone.
  constexpr const char* off[][2] = {
      {"redirect_dir", "nofollow"}, {"metacopy", "off"}, {"index", "off"}, {"xino", "off"}};
  for (const auto& option : off)
    must(kernel::fsconfig_set(fs, option[0], option[1]), Step::mount_overlay, index);
  if (!plan.has(wire::privileged)) must(kernel::fsconfig_flag(fs, "userxattr"), Step::mount_overlay, index);
  // Without it the end of every call would write the whole file system to disk.
  must(kernel::fsconfig_flag(fs, "volatile"), Step::mount_overlay, index);
}

void raise_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  must(static_cast<int>(::syscall(SYS_capget, &header, data)), Step::mount_overlay);
  for (auto& half : data) half.effective = half.permitted;
  must(static_cast<int>(::syscall(SYS_capset, &header, data)), Step::mount_overlay);
}

// The overlay remembers the ids of its maker and makes files with them, and an idmapped layer knows none but
// the sandbox's own.
void create_as_owner(int fs, const wire::Plan& plan, uint32_t index) {
  if (!plan.has(wire::privileged)) {
    must(kernel::fsconfig_create(fs), Step::mount_overlay, index);
    return;
  }
  (void)::syscall(SYS_setfsgid, plan.outside_gid);
  (void)::syscall(SYS_setfsuid, plan.outside_uid);
  raise_capabilities();  // those for files went with the id
  const int created = kernel::fsconfig_create(fs);
  const int number = errno;
  (void)::syscall(SYS_setfsuid, 0);
  (void)::syscall(SYS_setfsgid, 0);
  if (created < 0) fail(Step::mount_overlay, number, index);
}

bool has_flag(int fd, unsigned long flag, uint32_t index) {
  struct statfs seen {};
  must(static_cast<int>(::syscall(SYS_fstatfs, fd, &seen)), Step::mount_overlay, index);
  return (static_cast<unsigned long>(seen.f_flags) & flag) != 0;
}

// Where a clone can be a layer only if it is mounted. Taking it away again would wait for every processor: it
// goes with the old root.
void attach(const Layers& layers, uint32_t index) {
  for (const int clone : {layers.lower, layers.parent})
    must(kernel::move_mount(clone, AT_FDCWD, attach_point), Step::mount_overlay, index);
}

int mount_overlay(const wire::Plan& plan, uint32_t index) {
  const Mount& mount = plan.mounts[index];
  const Layers& layers = opened[index];
  if (plan.has(wire::privileged) && !takes_detached_layers()) attach(layers, index);
  const int fs = must(kernel::fsopen("overlay"), Step::mount_overlay, index);
  set_layer(fs, "lowerdir", layers.lower, index);
  set_layer(fs, "upperdir", layers.upper, index);
  set_layer(fs, "workdir", layers.work, index);
  set_options(fs, plan, index);
  create_as_owner(fs, plan, index);
  uint64_t attributes = attributes_of(mount);
  // Where the host runs nothing, the command does not either: a new mount has no flag of its lower layer.
  if (has_flag(layers.lower, MS_NOEXEC, index)) attributes |= MOUNT_ATTR_NOEXEC;
  const int fd = must(kernel::fsmount(fs, static_cast<unsigned>(attributes)), Step::mount_overlay, index);
  for (const int open : {fs, layers.lower, layers.parent, layers.upper, layers.work}) ::close(open);
  // Where the work directory cannot be used, the kernel mounts it read-only and says so nowhere else.
  if (has_flag(fd, MS_RDONLY, index)) fail(Step::mount_overlay, EROFS, index);
  return fd;
}

void watch(int inotify, int overlay, uint32_t index) {
  Text<32> path;
  path.add("/proc/self/fd/").add(static_cast<uint64_t>(overlay));
  // IN_UNMOUNT comes with every watch; this one asks for nothing that happens to the root of a mount.
  must(kernel::inotify_watch(inotify, path.c_str(), IN_DELETE_SELF | IN_ONLYDIR), Step::watch_overlay, index);
}

}  // namespace

bool takes_detached_layers() {
  static int known = -1;
  if (known >= 0) return known == 1;
  utsname names{};
  must(static_cast<int>(::syscall(SYS_uname, &names)), Step::mount_overlay);
  unsigned version[2] = {0, 0};
  const char* at = names.release;
  for (unsigned& part : version) {
    for (; *at >= '0' && *at <= '9'; ++at) part = part * 10 + static_cast<unsigned>(*at - '0');
    if (*at == '.') ++at;
  }
  known = version[0] > 6 || (version[0] == 6 && version[1] >= 15) ? 1 : 0;
  return known == 1;
}

OverlayWatch open_watch(const wire::Plan& plan) {
  OverlayWatch watch;
  for (const Mount& mount : plan.mounts)
    if (mount.kind == MountKind::overlay) ++watch.overlays;
  if (watch.overlays != 0) watch.inotify = must(kernel::inotify(), Step::watch_overlay);
  return watch;
}

uint32_t count_released(const OverlayWatch& watch) {
  alignas(inotify_event) char buffer[4096];
  uint32_t released = 0;
  for (ssize_t got = 0; watch.overlays != 0 && (got = ::read(watch.inotify, buffer, sizeof buffer)) > 0;) {
    for (ssize_t at = 0; at < got;) {
      inotify_event event{};
      std::memcpy(&event, buffer + at, sizeof event);
      if ((event.mask & IN_UNMOUNT) != 0) ++released;
      at += static_cast<ssize_t>(sizeof event + event.len);
    }
  }
  return released;
}

void mount_overlays(const wire::Plan& plan, Trees& trees, const FirstsMounts& first) {
  if (trees.inotify < 0) return;
  for (uint32_t i = 0; i < plan.mounts.size(); ++i) {
    if (plan.mounts[i].kind != MountKind::overlay) continue;
    opened[i] = open_layers(plan, plan.mounts[i], i);  // all of them before the first is attached over a path
  }
  const bool there = first.mounts >= 0 && !takes_detached_layers();
  const int home = must(::open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC), Step::mount_overlay);
  if (there) must(kernel::enter_mounts(first.mounts), Step::mount_overlay);
  // The new one lies on top of it by now, and has neither our /proc nor the place.
  if (there && first.old_root >= 0) {
    must(::fchdir(first.old_root), Step::mount_overlay);
    must(static_cast<int>(::syscall(SYS_chroot, ".")), Step::mount_overlay);
  }
  for (uint32_t i = 0; i < plan.mounts.size(); ++i) {
    if (plan.mounts[i].kind != MountKind::overlay) continue;
    trees.fd[i] = mount_overlay(plan, i);
    watch(trees.inotify, trees.fd[i], i);
  }
  if (there) must(kernel::enter_mounts(home), Step::mount_overlay);
  ::close(home);
}

}  // namespace cloche::jail
