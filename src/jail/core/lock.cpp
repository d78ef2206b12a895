#include "jail/core/lock.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <span>

#include "jail/core/filter.hpp"
#include "jail/core/kernel.hpp"
#include "jail/core/report.hpp"

namespace cloche::jail {
namespace {

using wire::Access;
using wire::Step;

constexpr uint64_t list_rights = LANDLOCK_ACCESS_FS_READ_DIR;
constexpr uint64_t read_rights = list_rights | LANDLOCK_ACCESS_FS_READ_FILE;
constexpr uint64_t change_rights = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                                   LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |
                                   LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
                                   LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SYM |
                                   LANDLOCK_ACCESS_FS_REFER | kernel::landlock::truncate;
constexpr uint64_t device_rights =
    read_rights | LANDLOCK_ACCESS_FS_WRITE_FILE | kernel::landlock::truncate | kernel::landlock::ioctl_device;
// No command is granted this. It would be a power: a device 0:0 (a whiteout) needs no capability.
constexpr uint64_t never_granted = LANDLOCK_ACCESS_FS_MAKE_CHAR;
// A mark and no power, since a block device takes CAP_MKNOD, which no command has. But the kernel moves no
// directory to where it would have a right that it has not where it is (EXDEV).
constexpr uint64_t mark_rights = LANDLOCK_ACCESS_FS_MAKE_BLOCK;
constexpr uint64_t file_only = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                               LANDLOCK_ACCESS_FS_READ_FILE | kernel::landlock::truncate |
                               kernel::landlock::ioctl_device;

constexpr uint64_t rights_of(Access access) {
  switch (access) {
    case Access::list: return list_rights;
    case Access::read: return read_rights;
    case Access::run: return read_rights | LANDLOCK_ACCESS_FS_EXECUTE;
    case Access::write: return read_rights | change_rights;
    case Access::write_run: return read_rights | change_rights | LANDLOCK_ACCESS_FS_EXECUTE;
    case Access::device: return device_rights;
    case Access::looked_at: return mark_rights;
  }
  return 0;
}

// Everything this level of the interface can handle, so that what is not granted is denied.
uint64_t handled_by(int abi) {
  uint64_t handled =
      read_rights | change_rights | device_rights | mark_rights | never_granted | LANDLOCK_ACCESS_FS_EXECUTE;
  if (abi < 5) handled &= ~kernel::landlock::ioctl_device;
  if (abi < 3) handled &= ~kernel::landlock::truncate;
  if (abi < 2) handled &= ~static_cast<uint64_t>(LANDLOCK_ACCESS_FS_REFER);
  return handled;
}

size_t attributes_size(int abi) {
  if (abi >= 6) return sizeof(kernel::RulesetAttributes);
  return abi >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
}

}  // namespace

bool set_limit(const wire::Limit& limit) {
  const auto resource = static_cast<__rlimit_resource>(limit.resource);
  const rlimit wanted{limit.value, limit.value};
  if (::setrlimit(resource, &wanted) == 0) return true;
  if (errno != EPERM) return false;
  // The caller's own hard limit is lower, and raising it takes a capability: the lower one holds.
  rlimit now{};
  if (::getrlimit(resource, &now) != 0) return false;
  errno = EPERM;
  if (now.rlim_max > wanted.rlim_max) return false;
  now.rlim_cur = now.rlim_max;
  // gVisor lets no process touch some of them; what counts is the upper bound.
  (void)::setrlimit(resource, &now);
  return true;
}

void enter_directory(const wire::Plan& plan) {
  must(::chdir(plan.directory), Step::working_directory);
  // Compared when it is entered: another call in the same workspace could exchange it in between.
  if (plan.judged_directory.inode != 0) {
    const int entered = must(::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC), Step::working_directory);
    must_be(plan.judged_directory, entered, Step::working_directory);
    ::close(entered);
  }
  if (!plan.has(wire::plain_directory)) return;
  // Where we are now, by the kernel's word: a link on the way would show. Its NUL is counted.
  char here[wire::max_path_bytes + 1];
  const long size = ::syscall(SYS_getcwd, here, sizeof here);
  const size_t wanted = ::strlen(plan.directory) + 1;
  if (size < 0 || static_cast<size_t>(size) != wanted || ::memcmp(here, plan.directory, wanted) != 0)
    fail(Step::working_directory, ELOOP);
}

void set_limits(const wire::Plan& plan, uint32_t left_out) {
  for (uint32_t i = 0; i < plan.limits.size(); ++i) {
    const bool set = plan.limits[i].resource == left_out || set_limit(plan.limits[i]);
    if (!set) fail(Step::limits, errno, i);
  }
}

void drop_bounding_set() {
  for (unsigned long capability = 0;; ++capability) {
    if (::prctl(PR_CAPBSET_DROP, capability) == 0) continue;
    if (errno == EINVAL) break;  // past the last one this kernel has
    fail(Step::capabilities, errno, static_cast<uint32_t>(capability));
  }
}

namespace {

// After them no exec, whatever the id, gives a capability back.
int lock_bits() {
  const unsigned long bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                             SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
                             SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
  return ::prctl(PR_SET_SECUREBITS, bits);
}

void clear_sets() {
  const bool cleared = ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == 0;
  if (!cleared && errno != EINVAL) fail(Step::capabilities, errno);  // EINVAL: a kernel without such a set
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[2] = {};
  must(static_cast<int>(::syscall(SYS_capset, &header, none)), Step::capabilities);
}

}  // namespace

void drop_capabilities() {
  must(lock_bits(), Step::capabilities);
  clear_sets();
}

void give_up_capabilities() {
  // Without the right to it there is nothing to be had by exec either: no_new_privs follows, under which
  // root's own exec keeps no more than it had.
  for (unsigned long capability = 0; ::prctl(PR_CAPBSET_DROP, capability) == 0; ++capability) {
  }
  if (lock_bits() < 0 && errno != EPERM && errno != EINVAL) fail(Step::capabilities, errno);
  clear_sets();
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct left[2] = {};
  must(static_cast<int>(::syscall(SYS_capget, &header, left)), Step::capabilities);
  for (const auto& half : left) {
    if ((half.effective | half.permitted | half.inheritable) != 0) fail(Step::capabilities, EPERM);
  }
}

void forbid_new_privileges() { must(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), Step::no_new_privileges); }

namespace {

// False with errno.
bool allow(int ruleset, int fd, uint64_t rights) {
  landlock_path_beneath_attr rule{};
  rule.allowed_access = rights;
  rule.parent_fd = fd;
  if (kernel::landlock_add_path(ruleset, &rule) == 0) return true;
  if (errno != EINVAL) return false;
  rule.allowed_access &= file_only;  // those were rights of directories, and this is a file
  return kernel::landlock_add_path(ruleset, &rule) == 0;
}

}  // namespace

void restrict_files(const wire::Plan& plan, int terminal, KeepTree keep) {
  const auto abi = static_cast<int>(plan.landlock_abi);
  if (must(kernel::landlock_abi(), Step::landlock) < abi) fail(Step::landlock, EOPNOTSUPP);
  kernel::RulesetAttributes attributes{};
  attributes.files = handled_by(abi);
  // TCP ports are not handled: the network namespace has loopback alone, and a local server may use any port
  // of it.
  if (abi >= 6) attributes.scope = kernel::landlock::scope_abstract_sockets | kernel::landlock::scope_signals;
  const int ruleset =
      must(kernel::landlock_create_ruleset(&attributes, attributes_size(abi)), Step::landlock);
  for (uint32_t i = 0; i < plan.rules.size(); ++i) {
    const int place = must(::open(plan.rules[i].path, O_PATH | O_NOFOLLOW | O_CLOEXEC), Step::landlock, i);
    must_be(plan.rules[i].judged, place, Step::check_source, i);
    if (!allow(ruleset, place, rights_of(plan.rules[i].access) & attributes.files))
      fail(Step::landlock, errno, i);
    if (keep != nullptr) {
      keep(place, plan.rules[i].access);
    } else {
      ::close(place);
    }
  }
  if (terminal >= 0 && !allow(ruleset, terminal, device_rights & attributes.files))
    fail(Step::terminal, errno);
  must(kernel::landlock_restrict_self(ruleset), Step::landlock);
  ::close(ruleset);
}

int install_filter(std::span<const sock_filter> code, unsigned flags) {
  const sock_fprog program{static_cast<unsigned short>(code.size()), const_cast<sock_filter*>(code.data())};
  return static_cast<int>(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program));
}

void filter_calls(const wire::Plan& plan) {
  const bool watched = plan.has(wire::watched_memory);
  // Landlock gives no command the right to one.
  if (plan.landlock_abi == 0)
    must(install_filter({device_nodes_filter.code.data(), device_nodes_filter.size}, 0), Step::seccomp);
  const Filter& filter = plan.has(wire::debugging) ? (watched ? watched_debugging_filter : debugging_filter)
                                                   : (watched ? watched_command_filter : command_filter);
  must(install_filter({filter.code.data(), filter.size}, 0), Step::seccomp);
  // Of two the kernel takes the stricter answer.
  const Filter ids = with_ids(ids_filter, ::geteuid(), ::getegid());
  must(install_filter({ids.code.data(), ids.size}, 0), Step::seccomp);
}

}  // namespace cloche::jail
