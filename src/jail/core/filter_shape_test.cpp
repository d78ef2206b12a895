// The compiled filters as programs: small, well-formed, without dead code, and taken by this kernel.
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <span>
#include <vector>

#include "jail/core/filter.hpp"

namespace cloche::jail {
namespace {

class FilterShape : public testing::TestWithParam<const Filter*> {
 protected:
  static std::span<const sock_filter> code() { return std::span(GetParam()->code).first(GetParam()->size); }
};
INSTANTIATE_TEST_SUITE_P(Filters, FilterShape,
                         testing::Values(&command_filter, &debugging_filter, &watched_command_filter,
                                         &watched_debugging_filter, &alone_filter, &alone_debugging_filter,
                                         &watched_alone_filter, &watched_alone_debugging_filter,
                                         &networked_filter, &networked_debugging_filter,
                                         &watched_networked_filter, &watched_networked_debugging_filter));

// That every jump fits its eight bits is seen when it is compiled.
TEST_P(FilterShape, IsSmall) {
  EXPECT_GT(code().size(), 50U);
  EXPECT_LT(code().size(), 264U);
}

TEST_P(FilterShape, EveryJumpIsInBoundsAndEveryInstructionIsReached) {
  std::vector<bool> reached(code().size());
  reached[0] = true;
  for (size_t i = 0; i < code().size(); ++i) {
    const sock_filter& at = code()[i];
    EXPECT_TRUE(reached[i]) << "instruction " << i << " is never reached";
    if (BPF_CLASS(at.code) == BPF_RET) continue;
    const bool jumps = BPF_CLASS(at.code) == BPF_JMP;
    const bool always = at.code == (BPF_JMP | BPF_JA);
    const size_t when_true = i + 1 + (always ? at.k : (jumps ? at.jt : 0U));
    const size_t when_false = i + 1 + (always ? at.k : (jumps ? at.jf : 0U));
    for (size_t next : {when_true, when_false}) {
      ASSERT_LT(next, code().size()) << "instruction " << i;
      reached[next] = true;
    }
  }
}

TEST_P(FilterShape, LooksAtTheArchitectureFirst) {
  EXPECT_EQ(code()[0].code, BPF_LD | BPF_W | BPF_ABS);
  EXPECT_EQ(code()[0].k, offsetof(seccomp_data, arch));
  EXPECT_EQ(code()[1].code, BPF_JMP | BPF_JEQ | BPF_K);
  EXPECT_EQ(code()[1].k, audit_architecture(this_architecture));
}

TEST_P(FilterShape, LoadsOnlyWholeWordsOfTheCall) {
  for (const sock_filter& at : code()) {
    if (BPF_CLASS(at.code) != BPF_LD) continue;
    EXPECT_EQ(at.code, BPF_LD | BPF_W | BPF_ABS);
    EXPECT_EQ(at.k % 4, 0U);
    EXPECT_LE(at.k + 4, sizeof(seccomp_data));
  }
}

TEST_P(FilterShape, EveryReplyIsOneThatWeMean) {
  for (const sock_filter& at : code()) {
    if (BPF_CLASS(at.code) != BPF_RET) continue;
    const uint32_t action = at.k & SECCOMP_RET_ACTION_FULL;
    EXPECT_TRUE(action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_ERRNO ||
                action == SECCOMP_RET_KILL_PROCESS || action == SECCOMP_RET_USER_NOTIF)
        << at.k;
  }
}

// Installed in a child, which then asks for its own id and for a namespace.
TEST_P(FilterShape, IsTakenByThisKernel) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const sock_fprog program{static_cast<unsigned short>(code().size()),
                             const_cast<sock_filter*>(code().data())};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) ::_exit(2);
    if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) ::_exit(3);
    if (::syscall(SYS_getppid) <= 0) ::_exit(4);
    if (::syscall(SYS_unshare, 0x10000000) != -1 || errno != EPERM) ::_exit(5);
    if (::syscall(SYS_clone3, nullptr, 0) != -1 || errno != ENOSYS) ::_exit(6);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace cloche::jail
