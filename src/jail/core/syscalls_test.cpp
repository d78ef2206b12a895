// The table of system calls: complete, without contradictions, each group with a reason.
#include "jail/core/syscalls.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace cloche::jail {
namespace {

// x86-64 has no numbers between 335 and 424: the table continues where every architecture has the same.
bool is_a_call(int number) { return (number >= 0 && number <= 335) || (number >= 424 && number <= 469); }

TEST(Syscalls, EveryCallOfThisKernelGenerationStandsInExactlyOneGroup) {
  std::map<int, std::string> reason_of;
  for (const auto& group : groups) {
    for (size_t i = 0; i < group.count; ++i) {
      const int number = group.calls[i];
      EXPECT_TRUE(is_a_call(number)) << number << " in: " << group.reason;
      const auto [at, is_new] = reason_of.emplace(number, group.reason);
      EXPECT_TRUE(is_new) << number << " stands in: " << at->second << "; and in: " << group.reason;
    }
  }
  for (int number = 0; number <= 600; ++number) {
    EXPECT_EQ(reason_of.contains(number), is_a_call(number)) << number;
  }
  EXPECT_EQ(last_known_call, 469);
}

TEST(Syscalls, EveryGroupHasAReasonAndSomethingInIt) {
  for (const auto& group : groups) {
    const std::string reason = group.reason;
    EXPECT_GE(reason.size(), 10U) << reason;
    EXPECT_GT(group.count, 0U) << reason;
    EXPECT_LE(group.count, group.calls.size()) << reason;
  }
}

TEST(Syscalls, NewNumbersAreThoseOfTheKernelsTable) {
  EXPECT_EQ(number::uretprobe, 335);
  EXPECT_EQ(number::cachestat, 451);
  EXPECT_EQ(number::fchmodat2, 452);
  EXPECT_EQ(number::statmount, 457);
  EXPECT_EQ(number::mseal, 462);
  EXPECT_EQ(number::open_tree_attr, 467);
  EXPECT_EQ(number::file_setattr, 469);
  EXPECT_EQ(SYS_set_mempolicy_home_node, 450) << "the last one of Debian 12's headers";
}

Action action_of(int number) {
  for (const auto& group : groups) {
    for (size_t i = 0; i < group.count; ++i) {
      if (group.calls[i] == number) return group.action;
    }
  }
  return Action::absent;
}

// Said again by hand, so that a row that slips into another group is noticed.
TEST(Syscalls, WhatMustNotBeReachableIsRefused) {
  for (int number : {SYS_unshare,
                     SYS_setns,
                     SYS_mount,
                     SYS_umount2,
                     SYS_pivot_root,
                     SYS_chroot,
                     SYS_open_tree,
                     SYS_move_mount,
                     SYS_fsopen,
                     SYS_fsconfig,
                     SYS_fsmount,
                     SYS_fspick,
                     SYS_mount_setattr,
                     number::open_tree_attr,
                     SYS_bpf,
                     SYS_perf_event_open,
                     SYS_userfaultfd,
                     SYS_io_uring_setup,
                     SYS_io_uring_enter,
                     SYS_io_uring_register,
                     SYS_keyctl,
                     SYS_add_key,
                     SYS_request_key,
                     SYS_pidfd_getfd,
                     SYS_name_to_handle_at,
                     SYS_open_by_handle_at,
                     SYS_init_module,
                     SYS_finit_module,
                     SYS_delete_module,
                     SYS_kexec_load,
                     SYS_kexec_file_load,
                     SYS_reboot,
                     SYS_swapon,
                     SYS_swapoff,
                     SYS_sethostname,
                     SYS_setdomainname,
                     SYS_settimeofday,
                     SYS_clock_settime,
                     SYS_adjtimex,
                     SYS_syslog,
                     SYS_acct,
                     SYS_iopl,
                     SYS_ioperm,
                     SYS_modify_ldt,
                     SYS_vmsplice,
                     SYS_kcmp,
                     SYS_memfd_secret,
                     SYS_fanotify_init,
                     SYS_landlock_create_ruleset,
                     SYS_landlock_restrict_self}) {
    EXPECT_EQ(action_of(number), Action::refuse) << number;
  }
  for (int number : {SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev}) {
    EXPECT_EQ(action_of(number), Action::tracing) << number;
  }
  for (int number : {SYS_clone3, SYS_openat2}) EXPECT_EQ(action_of(number), Action::absent) << number;
}

// What carries a mode, a flag or a family that matters is looked at, never simply allowed.
TEST(Syscalls, WhatHasDangerousArgumentsIsNotPlainlyAllowed) {
  for (int number : {SYS_clone, SYS_socket, SYS_socketpair, SYS_ioctl, SYS_prctl, SYS_personality,
                     SYS_seccomp, SYS_memfd_create, SYS_chmod, SYS_fchmod, SYS_fchmodat, number::fchmodat2,
                     SYS_mkdir, SYS_mkdirat, SYS_mknod, SYS_mknodat, SYS_creat, SYS_open, SYS_openat}) {
    EXPECT_GT(action_of(number), Action::refuse) << number;
  }
}

}  // namespace
}  // namespace cloche::jail
