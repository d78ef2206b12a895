// What the library has of the program that loaded it: where it lies, and its signals.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "doors/library/held_signals.hpp"
#include "doors/library/library_folder.hpp"

namespace cloche {
namespace {

TEST(LibraryInAProgram, IsTheFileThatIsMappedWhereItsCodeIs) {
  const char* maps =
      "55d0c0000000-55d0c0001000 r--p 00000000 08:01 1                  /usr/bin/program\n"
      "7f0000001000-7f0000002000 r-xp 00001000 08:01 2                  /opt/a b/lib/libcloche.so.1\n"
      "7f0000002000-7f0000003000 rw-p 00000000 00:00 0 \n"
      "no line\n"
      "7ffc00000000-7ffc00001000 rw-p 00000000 00:00 0                  [stack]\n";
  EXPECT_EQ(file_mapped_at(maps, 0x55d0c0000fff), "/usr/bin/program");
  EXPECT_EQ(file_mapped_at(maps, 0x7f0000001000), "/opt/a b/lib/libcloche.so.1");
  EXPECT_EQ(file_mapped_at(maps, 0x7f0000002000), "");
  EXPECT_EQ(file_mapped_at(maps, 0x7ffc00000000), "");
  EXPECT_EQ(file_mapped_at(maps, 1), "");
  EXPECT_EQ(file_mapped_at("", 1), "");
  EXPECT_EQ(file_mapped_at("-", 0), "");
}

bool is_blocked(int number) {
  sigset_t now;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
  return ::sigismember(&now, number) == 1;
}

bool is_pending(int number) {
  sigset_t pending;
  ::sigpending(&pending);
  return ::sigismember(&pending, number) == 1;
}

// In a process of its own: what ends a program must not end the tests.
template <typename Body>
int exit_code_of_child(const Body& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body() ? 0 : 1);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(LibraryInAProgram, ABrokenPipeDoesNotEndIt) {
  const auto write_to_nobody = [] {
    int ends[2];
    if (::pipe(ends) != 0) return false;
    ::close(ends[0]);
    return ::write(ends[1], "x", 1) < 0 && errno == EPIPE;
  };
  EXPECT_EQ(exit_code_of_child([&] {
              ::signal(SIGPIPE, SIG_DFL);
              {
                const HeldPipeSignals held;
                if (!write_to_nobody()) return false;
              }
              return !is_blocked(SIGPIPE) && !is_pending(SIGPIPE);
            }),
            0);
  EXPECT_EQ(exit_code_of_child([&] {
              ::signal(SIGPIPE, SIG_DFL);
              return write_to_nobody();
            }),
            128 + SIGPIPE)
      << "the control";
}

TEST(LibraryInAProgram, WhatTheProgramHasBlockedStaysBlockedAndPending) {
  EXPECT_EQ(exit_code_of_child([] {
              sigset_t own;
              sigemptyset(&own);
              sigaddset(&own, SIGPIPE);
              ::pthread_sigmask(SIG_BLOCK, &own, nullptr);
              ::raise(SIGPIPE);
              { const HeldPipeSignals held; }
              return is_blocked(SIGPIPE) && is_pending(SIGPIPE);
            }),
            0);
}

TEST(LibraryInAProgram, AProgramThatIgnoresItsChildrenIsRefused) {
  EXPECT_EQ(exit_code_of_child([] {
              ::signal(SIGCHLD, SIG_DFL);
              return judge_child_signal().ok();
            }),
            0);
  EXPECT_EQ(exit_code_of_child([] {
              ::signal(SIGCHLD, SIG_IGN);
              return !judge_child_signal().ok();
            }),
            0);
  EXPECT_EQ(exit_code_of_child([] {
              struct sigaction action {};
              action.sa_handler = [](int) {};
              action.sa_flags = SA_NOCLDWAIT;
              ::sigaction(SIGCHLD, &action, nullptr);
              return !judge_child_signal().ok();
            }),
            0);
}

}  // namespace
}  // namespace cloche
