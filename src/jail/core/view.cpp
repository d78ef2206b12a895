#include "jail/core/view.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "jail/core/kernel.hpp"
#include "jail/core/overlay.hpp"
#include "jail/core/report.hpp"
#include "jail/core/text.hpp"

namespace cloche::jail {
namespace {

using wire::Mount;
using wire::MountKind;
using wire::Step;

}  // namespace

uint64_t attributes_of(const Mount& mount) {
  uint64_t set = MOUNT_ATTR_NOSUID;  // on every mount: nothing here may raise privileges
  if ((mount.flags & wire::read_only) != 0) set |= MOUNT_ATTR_RDONLY;
  if ((mount.flags & wire::no_exec) != 0) set |= MOUNT_ATTR_NOEXEC;
  if ((mount.flags & wire::devices) == 0) set |= MOUNT_ATTR_NODEV;
  return set;
}

namespace {

void write_map(const char* path, const char* text, size_t size) {
  const int fd = must(::open(path, O_WRONLY | O_CLOEXEC), Step::map_owner);
  if (::write(fd, text, size) != static_cast<ssize_t>(size)) fail(Step::map_owner, errno);
  ::close(fd);
}

// Shares our memory and our descriptors and lives just long enough to open its own namespace for us.
int open_own_namespace(void* opened) {
  *static_cast<int*>(opened) = ::open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
  return 0;
}

// A user namespace whose only purpose is its id map. It needs a process to be born with. That one is dead
// when clone returns (CLONE_VFORK), and as long as it is not waited for, its id map can still be written.
struct OwnerNamespace {
  pid_t holder = -1;  // -1: its map is written
  int fd = -1;
  uint32_t uid = 0;
  uint32_t gid = 0;
};
OwnerNamespace known;  // of the owner that was mapped last: the usual plan has just one

OwnerNamespace new_namespace() {
  alignas(16) static char stack[16384];
  OwnerNamespace made;
  errno = 0;  // stays so when it is killed before it could open anything
  made.holder = must(::clone(open_own_namespace, stack + sizeof stack,
                             CLONE_NEWUSER | CLONE_VM | CLONE_FILES | CLONE_VFORK | SIGCHLD, &made.fd),
                     Step::map_owner);
  must(made.fd, Step::map_owner);
  return made;
}

void write_owner_map(const OwnerNamespace& made, const char* file, uint32_t on_disk, uint32_t outside) {
  Text<64> path;
  Text<64> line;
  path.add("/proc/").add(static_cast<uint64_t>(made.holder)).add(file);
  line.add(on_disk).add(" ").add(outside).add(" 1\n");
  write_map(path.c_str(), line.c_str(), line.size());
}

// On disk the owner of the source, in the mount the sandbox's outside id.
int owner_namespace(const wire::Plan& plan, const Mount& mount) {
  if (known.fd >= 0 && known.holder < 0) {
    if (known.uid == mount.owner_uid && known.gid == mount.owner_gid) return known.fd;
    ::close(known.fd);
    known.fd = -1;
  }
  if (known.fd < 0) known = new_namespace();
  known.uid = mount.owner_uid;
  known.gid = mount.owner_gid;
  write_owner_map(known, "/uid_map", mount.owner_uid, plan.outside_uid);
  write_owner_map(known, "/gid_map", mount.owner_gid, plan.outside_gid);
  ::waitpid(known.holder, nullptr, 0);
  known.holder = -1;
  return known.fd;
}

}  // namespace

void prepare_owner_namespace() { known = new_namespace(); }

int clone_tree(const wire::Plan& plan, const Mount& mount, uint32_t index) {
  const unsigned recursive = (mount.flags & wire::recursive) != 0 ? AT_RECURSIVE : 0;
  const int fd =
      must(kernel::open_tree(AT_FDCWD, mount.source,
                             OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW | recursive),
           Step::clone_source, index);
  must_be(mount.judged, fd, Step::check_source, index);
  mount_attr attributes{};
  attributes.attr_set = attributes_of(mount);
  attributes.propagation = MS_PRIVATE;  // what the host mounts later does not appear here
  if (plan.has(wire::privileged) && (mount.flags & wire::owned) != 0) {
    attributes.attr_set |= MOUNT_ATTR_IDMAP;
    attributes.userns_fd = static_cast<uint64_t>(owner_namespace(plan, mount));
    must(kernel::mount_setattr(fd, recursive, &attributes), Step::map_owner, index);
  } else {
    must(kernel::mount_setattr(fd, recursive, &attributes), Step::mount_tree, index);
  }
  return fd;
}

namespace {

int fresh(const char* type, unsigned attributes, Step step, uint32_t index, uint64_t size_bytes = 0,
          uint64_t files = 0, uint32_t mode = 0) {
  const int fs = must(kernel::fsopen(type), step, index);
  if (size_bytes != 0) {
    Text<32> text;
    must(kernel::fsconfig_set(fs, "size", text.add(size_bytes).c_str()), step, index);
    must(kernel::fsconfig_set(fs, "nr_inodes", text.clear().add(files).c_str()), step, index);
    must(kernel::fsconfig_set(fs, "mode", text.clear().add_octal(mode).c_str()), step, index);
  }
  if (std::strcmp(type, "devpts") == 0) {
    must(kernel::fsconfig_set(fs, "ptmxmode", "0666"), step, index);
    must(kernel::fsconfig_set(fs, "mode", "0620"), step, index);
  }
  must(kernel::fsconfig_create(fs), step, index);
  const int fd = must(kernel::fsmount(fs, attributes), step, index);
  ::close(fs);
  return fd;
}

int fresh(const Mount& mount, uint32_t index) {
  const auto attributes = static_cast<unsigned>(attributes_of(mount));
  switch (mount.kind) {
    case MountKind::tmpfs:
      return fresh("tmpfs", attributes & ~static_cast<unsigned>(MOUNT_ATTR_RDONLY),  // see seal_memory
                   Step::mount_tmpfs, index, mount.size_bytes, mount.files, mount.mode);
    case MountKind::proc: return fresh("proc", attributes, Step::mount_proc, index);
    case MountKind::pts: return fresh("devpts", attributes, Step::mount_pts, index);
    // The kernel looks at each queue as at a file of this file system.
    case MountKind::queues: return fresh("mqueue", attributes, Step::mount_queues, index);
    default: return -1;
  }
}

// Opens one component of a target, making the directory where it is missing. Links are never followed: the
// only ones on the way would be the workspace's own.
int descend(int dir, const char* name, uint32_t index) {
  constexpr int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  const int there = ::openat(dir, name, flags);
  if (there >= 0) return there;
  if (errno == ENOENT) must(::mkdirat(dir, name, 0755), Step::make_target, index);
  return must(::openat(dir, name, flags), Step::make_target, index);
}

// Walks to the directory that a target lies in. Neighbours in the plan usually share it, so the last one is
// kept.
class Walker {
 public:
  explicit Walker(int root) : root_(root), known_(root) {}

  struct Place {
    int parent;
    const char* name;  // the last component
  };

  Place find(const Mount& mount, uint32_t index) {
    const char* name = mount.target;
    for (const char* at = mount.target; *at != '\0'; ++at) {
      if (*at == '/') name = at + 1;
    }
    const auto length = static_cast<size_t>(name - mount.target);
    if (length != length_ || !same(mount.target, path_, length)) {
      if (known_ != root_) ::close(known_);
      known_ = length == 0 ? root_ : walk(mount, length, index);
      path_ = mount.target;
      length_ = length;
    }
    return {known_, name};
  }

 private:
  static bool same(const char* a, const char* b, size_t length) {
    for (size_t i = 0; i < length; ++i) {
      if (a[i] != b[i]) return false;
    }
    return true;
  }

  // At once where it is all there; step by step where something must be made.
  int walk(const Mount& mount, size_t length, uint32_t index) const {
    char path[wire::max_path_bytes + 1];
    std::memcpy(path, mount.target, length);
    path[length - 1] = '\0';
    const int there = kernel::open_beneath(root_, path);
    if (there >= 0) return there;
    if (errno != ENOENT || (mount.flags & wire::existing) != 0) fail(Step::make_target, errno, index);
    int dir = root_;
    for (char* rest = path; rest != nullptr;) {
      char* slash = std::strchr(rest, '/');
      if (slash != nullptr) *slash = '\0';
      const int next = descend(dir, rest, index);
      if (dir != root_) ::close(dir);
      dir = next;
      rest = slash != nullptr ? slash + 1 : nullptr;
    }
    return dir;
  }

  int root_;
  int known_;
  const char* path_ = "";
  size_t length_ = 0;
};
using Place = Walker::Place;

void write_text(const Place& place, const Mount& mount, uint32_t index) {
  const int fd = must(
      ::openat(place.parent, place.name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mount.mode),
      Step::write_text, index);
  size_t done = 0;
  while (done < mount.content.size()) {
    const ssize_t put = ::write(fd, mount.content.data() + done, mount.content.size() - done);
    if (put <= 0) fail(Step::write_text, errno, index);
    done += static_cast<size_t>(put);
  }
  ::close(fd);
}

// The supervisor gets the directory by a mount of its own, which stays writable where the view's is sealed.
// It can rename what is there, but as root make nothing: its id means nothing in this file system.
void make_late_text(const Place& place, const Mount& mount, uint32_t index) {
  must(::mknodat(place.parent, place.name, S_IFIFO | mount.mode, 0), Step::write_text, index);
  must(::mknodat(place.parent, wire::late_text_name, S_IFREG | mount.mode, 0), Step::write_text, index);
  const int directory =
      must(kernel::open_tree(place.parent, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH),
           Step::clone_source, index);
  send_with({.kind = wire::ReportKind::late_text}, directory);
  ::close(directory);
}

// A mount needs something of its own kind to sit on: a directory or an empty file. move_mount does not follow
// a link in the last component, so one that lies there is an error.
void attach(const Place& place, int tree, const Mount& mount, uint32_t index) {
  if ((mount.flags & wire::existing) == 0) {
    const bool file = (mount.flags & wire::plain_file) != 0;
    const int made = file ? ::mknodat(place.parent, place.name, S_IFREG | 0644, 0)
                          : ::mkdirat(place.parent, place.name, 0755);
    if (made != 0 && errno != EEXIST) fail(Step::make_target, errno, index);
  }
  must(kernel::move_mount(tree, place.parent, place.name), Step::place_mount, index);
}

void add_to_view(Walker& walker, const wire::Plan& plan, const Trees& trees, uint32_t index) {
  const Mount& mount = plan.mounts[index];
  const Place place = walker.find(mount, index);
  switch (mount.kind) {
    case MountKind::directory:
      if (::mkdirat(place.parent, place.name, mount.mode) != 0 && errno != EEXIST)
        fail(Step::make_target, errno, index);
      break;
    case MountKind::link:
      must(::symlinkat(mount.source, place.parent, place.name), Step::make_link, index);
      break;
    case MountKind::text: write_text(place, mount, index); break;
    case MountKind::late_text: make_late_text(place, mount, index); break;
    case MountKind::tree:
    case MountKind::overlay:
    case MountKind::tmpfs:
    case MountKind::proc:
    case MountKind::pts:
    case MountKind::queues: attach(place, trees.fd[index], mount, index); break;
    case MountKind::root: break;  // where everything else is put
  }
}

// Memory that the command may not write to is sealed only now: the mount points of what lies in it had to be
// made.
void seal_memory(int root, const wire::Plan& plan) {
  for (uint32_t i = 0; i < plan.mounts.size(); ++i) {
    const Mount& mount = plan.mounts[i];
    if (mount.kind != MountKind::tmpfs || (mount.flags & wire::read_only) == 0) continue;
    const int fd = must(::openat(root, mount.target, O_PATH | O_NOFOLLOW | O_CLOEXEC), Step::mount_tmpfs, i);
    mount_attr sealed{};
    sealed.attr_set = MOUNT_ATTR_RDONLY;
    must(kernel::mount_setattr(fd, 0, &sealed), Step::mount_tmpfs, i);
    ::close(fd);
  }
}

// Small, and sealed before the command starts: it holds mount points, links and the curated files of /etc.
int empty_root(unsigned attributes) {
  constexpr uint64_t bytes = 32U << 20;
  constexpr uint64_t files = 4096;
  return fresh("tmpfs", attributes, Step::root_mount, 0, bytes, files, 0755);
}

}  // namespace

void clone_trees(const wire::Plan& plan, Trees& trees, uint32_t from, const FirstsMounts& first) {
  for (uint32_t i = from; i < plan.mounts.size(); ++i) {
    const bool is_tree = plan.mounts[i].kind == MountKind::tree || plan.mounts[i].kind == MountKind::root;
    trees.fd[i] = is_tree ? clone_tree(plan, plan.mounts[i], i) : -1;
  }
  mount_overlays(plan, trees, first);
}

void mount_fresh(const wire::Plan& plan, Trees& trees, uint32_t from) {
  for (uint32_t i = from; i < plan.mounts.size(); ++i) {
    const int mounted = fresh(plan.mounts[i], i);
    if (mounted >= 0) trees.fd[i] = mounted;
  }
}

int find_old_root(int mounts) {
  const int home = must(::open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC), Step::mount_overlay);
  must(kernel::enter_mounts(mounts), Step::mount_overlay);
  const int root = must(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), Step::mount_overlay);
  must(kernel::enter_mounts(home), Step::mount_overlay);
  ::close(home);
  return root;
}

namespace {

// Whether the host has one ready-made.
bool has_root(const wire::Plan& plan) {
  return !plan.mounts.empty() && plan.mounts[0].kind == MountKind::root;
}

}  // namespace

int begin_view(const wire::Plan& plan, const Trees& trees) {
  const int root =
      has_root(plan) ? trees.fd[0] : empty_root(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
  // On top of the old root, which pivot_root below then puts on top of the new one, to be let go of.
  must(kernel::move_mount(root, AT_FDCWD, "/"), Step::root_mount);
  Walker walker(root);
  for (uint32_t i = 0; i < plan.mounts.size(); ++i) add_to_view(walker, plan, trees, i);
  return root;
}

void complete_view(const wire::Plan& plan, const Trees& trees, int root, uint32_t from) {
  Walker walker(root);
  for (uint32_t i = from; i < plan.mounts.size(); ++i) add_to_view(walker, plan, trees, i);
}

void leave_old_root(int root) {
  must(::fchdir(root), Step::pivot);
  must(kernel::pivot_root(".", "."), Step::pivot);
  must(::umount2(".", MNT_DETACH), Step::leave_old_root);
  must(::chdir("/"), Step::leave_old_root);
}

void seal_view(const wire::Plan& plan, int root) {
  seal_memory(root, plan);
  if (has_root(plan)) return;  // a ready-made one was read-only all along
  mount_attr sealed{};
  sealed.attr_set = MOUNT_ATTR_RDONLY;
  must(kernel::mount_setattr(root, 0, &sealed), Step::seal_root);
}

void cover(const char* place) {
  if (::access(place, F_OK) != 0) return;
  must(kernel::move_mount(empty_root(MOUNT_ATTR_RDONLY), AT_FDCWD, place), Step::root_mount);
}

void fill_stage(const wire::Plan& plan, const Trees& trees, const char* place) {
  // Without flags: a runtime in a user namespace of its own could take none of them away, and fails where it
  // tries.
  const int root = empty_root(0);
  must(kernel::move_mount(root, AT_FDCWD, place), Step::root_mount);
  ::umask(0);
  Walker walker(root);
  for (uint32_t i = 0; i < plan.mounts.size(); ++i) {
    add_to_view(walker, plan, trees, i);
    if (trees.fd[i] >= 0) ::close(trees.fd[i]);
  }
}

}  // namespace cloche::jail
