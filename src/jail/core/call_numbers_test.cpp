// The numbers of system calls against libseccomp's tables, name by name and number by number, of every
// architecture.
#include "jail/core/call_numbers.hpp"

#include <gtest/gtest.h>
#include <seccomp.h>
#include <sys/syscall.h>

#include <cstdlib>
#include <memory>
#include <set>
#include <string>

namespace cloche::jail {
namespace {

constexpr struct {
  Architecture architecture;
  uint32_t seccomp;
  uint32_t audit;
  const char* name;
} architectures[] = {{Architecture::x86_64, SCMP_ARCH_X86_64, AUDIT_ARCH_X86_64, "x86-64"},
                     {Architecture::aarch64, SCMP_ARCH_AARCH64, AUDIT_ARCH_AARCH64, "aarch64"}};

constexpr int last_of_libseccomp = 450;  // of Debian 12: Linux 5.17

TEST(CallNumbers, AreLibseccompsByName) {
  for (const auto& one : architectures) {
    for (size_t i = 0; i < call_count; ++i) {
      const char* name = detail::call_numbers[i].name;
      const int number = number_of(static_cast<Call>(i), one.architecture);
      if (number > last_of_libseccomp || std::string(name) == "uretprobe") continue;
      const int theirs = seccomp_syscall_resolve_name_arch(one.seccomp, name);
      EXPECT_EQ(number, theirs < 0 ? no_call : theirs) << one.name << " " << name;
    }
  }
}

TEST(CallNumbers, EveryNumberOfLibseccompIsThere) {
  for (const auto& one : architectures) {
    std::set<int> ours;
    for (size_t i = 0; i < call_count; ++i) ours.insert(number_of(static_cast<Call>(i), one.architecture));
    for (int number = 0; number <= 1000; ++number) {
      const std::unique_ptr<char, void (*)(void*)> name(seccomp_syscall_resolve_num_arch(one.seccomp, number),
                                                        std::free);
      const bool is_newer = number > last_of_libseccomp && number <= 469;
      const bool is_uretprobe = one.architecture == Architecture::x86_64 && number == 335;
      EXPECT_EQ(ours.contains(number), name != nullptr || is_newer || is_uretprobe)
          << one.name << " " << number;
    }
  }
}

// libseccomp of Debian 12 knows none of these. The kernel gives a new call one number for every architecture.
TEST(CallNumbers, NewOnesAreTheSameEverywhere) {
  for (const auto& call : detail::call_numbers) {
    if (call.on_x86_64 >= 424) {
      EXPECT_EQ(call.on_x86_64, call.on_aarch64) << call.name;
    }
  }
  EXPECT_EQ(number_of(Call::uretprobe, Architecture::x86_64), 335);
  EXPECT_EQ(number_of(Call::uretprobe, Architecture::aarch64), no_call);
  EXPECT_EQ(number_of(Call::cachestat), 451);
  EXPECT_EQ(number_of(Call::fchmodat2), 452);
  EXPECT_EQ(number_of(Call::statmount), 457);
  EXPECT_EQ(number_of(Call::mseal), 462);
  EXPECT_EQ(number_of(Call::open_tree_attr), 467);
  EXPECT_EQ(number_of(Call::file_setattr), 469);
}

TEST(CallNumbers, TheOnesOfThisArchitectureAreTheCompilers) {
  EXPECT_EQ(number_of(Call::read), SYS_read);
  EXPECT_EQ(number_of(Call::openat), SYS_openat);
  EXPECT_EQ(number_of(Call::socket), SYS_socket);
  EXPECT_EQ(number_of(Call::set_mempolicy_home_node), SYS_set_mempolicy_home_node);
  for (const auto& one : architectures)
    EXPECT_EQ(audit_architecture(one.architecture), one.audit) << one.name;
}

}  // namespace
}  // namespace cloche::jail
