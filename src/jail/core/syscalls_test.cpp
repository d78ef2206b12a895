// The table of system calls: complete, without contradictions, each group with a reason.
#include "jail/core/syscalls.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace cloche::jail {
namespace {

const char* name_of(Call call) { return detail::call_numbers[static_cast<size_t>(call)].name; }

TEST(Syscalls, EveryCallOfThisKernelGenerationStandsInExactlyOneGroup) {
  std::map<Call, std::string> reason_of;
  for (const auto& group : groups) {
    for (size_t i = 0; i < group.count; ++i) {
      const auto [at, is_new] = reason_of.emplace(group.calls[i], group.reason);
      EXPECT_TRUE(is_new) << name_of(group.calls[i]) << " stands in: " << at->second
                          << "; and in: " << group.reason;
    }
  }
  for (size_t i = 0; i < call_count; ++i) {
    const auto call = static_cast<Call>(i);
    EXPECT_TRUE(reason_of.contains(call)) << name_of(call);
    EXPECT_LE(number_of(call), last_known_call) << name_of(call);
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

Action action_of(Call call) {
  for (const auto& group : groups) {
    for (size_t i = 0; i < group.count; ++i) {
      if (group.calls[i] == call) return group.action;
    }
  }
  return Action::absent;
}

// Said again by hand, so that a row that slips into another group is noticed.
TEST(Syscalls, WhatMustNotBeReachableIsRefused) {
  for (Call call : {Call::unshare,
                    Call::setns,
                    Call::mount,
                    Call::umount2,
                    Call::pivot_root,
                    Call::chroot,
                    Call::open_tree,
                    Call::move_mount,
                    Call::fsopen,
                    Call::fsconfig,
                    Call::fsmount,
                    Call::fspick,
                    Call::mount_setattr,
                    Call::open_tree_attr,
                    Call::bpf,
                    Call::perf_event_open,
                    Call::userfaultfd,
                    Call::io_uring_setup,
                    Call::io_uring_enter,
                    Call::io_uring_register,
                    Call::keyctl,
                    Call::add_key,
                    Call::request_key,
                    Call::pidfd_getfd,
                    Call::name_to_handle_at,
                    Call::open_by_handle_at,
                    Call::init_module,
                    Call::finit_module,
                    Call::delete_module,
                    Call::kexec_load,
                    Call::kexec_file_load,
                    Call::reboot,
                    Call::swapon,
                    Call::swapoff,
                    Call::sethostname,
                    Call::setdomainname,
                    Call::settimeofday,
                    Call::clock_settime,
                    Call::adjtimex,
                    Call::syslog,
                    Call::acct,
                    Call::iopl,
                    Call::ioperm,
                    Call::modify_ldt,
                    Call::vmsplice,
                    Call::kcmp,
                    Call::memfd_secret,
                    Call::fanotify_init,
                    Call::landlock_create_ruleset,
                    Call::landlock_restrict_self}) {
    EXPECT_EQ(action_of(call), Action::refuse) << name_of(call);
  }
  for (Call call : {Call::ptrace, Call::process_vm_readv, Call::process_vm_writev}) {
    EXPECT_EQ(action_of(call), Action::tracing) << name_of(call);
  }
  for (Call call : {Call::clone3, Call::openat2}) EXPECT_EQ(action_of(call), Action::absent) << name_of(call);
}

// What carries a mode, a flag or a family that matters is looked at, never simply allowed.
TEST(Syscalls, WhatHasDangerousArgumentsIsNotPlainlyAllowed) {
  for (Call call :
       {Call::clone, Call::socket, Call::socketpair, Call::ioctl, Call::prctl, Call::personality,
        Call::seccomp, Call::memfd_create, Call::chmod, Call::fchmod, Call::fchmodat, Call::fchmodat2,
        Call::mkdir, Call::mkdirat, Call::mknod, Call::mknodat, Call::creat, Call::open, Call::openat}) {
    EXPECT_GT(action_of(call), Action::refuse) << name_of(call);
  }
}

}  // namespace
}  // namespace cloche::jail
