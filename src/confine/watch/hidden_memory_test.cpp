// What may be hidden behind the sockets of real processes that have no network of their own: children of the
// test.
#include "confine/watch/memory_watch.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>

namespace cloche {
namespace {

// A process that has done something and waits, for as long as this lives.
class Child {
 public:
  explicit Child(const std::function<void()>& act) {
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      act();
      (void)!::write(ready[1], "r", 1);
      for (;;) ::pause();
    }
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    ::close(ready[0]);
    ::close(ready[1]);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_;
};

uint64_t hidden() {
  const auto proc = sys::open("/proc", O_RDONLY | O_DIRECTORY);
  return hidden_at_most({proc.value().get(), ::getpid()}, LookBudget());
}

uint64_t most_of_a_socket() {
  const auto send = sys::read_file("/proc/sys/net/core/wmem_max", 64);
  const auto receive = sys::read_file("/proc/sys/net/core/rmem_max", 64);
  return 2 * (field_of(send.value(), 0) + field_of(receive.value(), 0));
}

void make_pairs(int count) {
  int pair[2];
  for (int i = 0; i < count; ++i) (void)!::socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
  for (int i = 0; i < count; ++i) ::dup(pair[0]);  // another name for one that is counted
}

// Over `by` one end of a pair, both of which are closed here.
void send_away(int by) {
  int pair[2];
  (void)!::socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
  char byte = 'x';
  iovec data{&byte, 1};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = sizeof room;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &pair[1], sizeof(int));
  (void)!::sendmsg(by, &message, 0);
  ::close(pair[0]);
  ::close(pair[1]);
}

TEST(HiddenMemory, CountsEachSocketOfAPairOnce) {
  const Child none([] {});
  const uint64_t without = hidden();
  const Child with([] { make_pairs(10); });
  const uint64_t more = hidden() - without;
  EXPECT_GE(more, 20 * most_of_a_socket());
  EXPECT_LT(more, 21 * most_of_a_socket() + (8ULL << 20)) << "the rest of a process like the other one";
}

TEST(HiddenMemory, WhatIsOnItsWayMayBeAnything) {
  const Child with([] {
    int carrier[2];
    (void)!::socketpair(AF_UNIX, SOCK_STREAM, 0, carrier);
    send_away(carrier[0]);
  });
  EXPECT_EQ(hidden(), ~0ULL);
}

}  // namespace
}  // namespace cloche
