// What is left when somebody is killed in the middle: nothing hangs, the denial says what happened, and the
// next call works.
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "egress/fixture.hpp"
#include "egress/processes.hpp"

namespace cloche::test {
namespace {

class Faults : public Egress {
 protected:
  const size_t before_ = stage().source.accepted();

  // A call that pulls without end, once it is really pulling.
  std::unique_ptr<Started> pulling(int& gate) {
    auto call = std::make_unique<Started>(
        command_of({"tool.cloche.test:7002"},
                   {"bash", "-c",
                    client_program() + " pull tool.cloche.test 7002 900000000000000; sleep 0.2; " +
                        client_program() + " connect 198.18.1.0 7002"}));
    EXPECT_TRUE(soon([&] { return stage().source.accepted() > before_; }));
    EXPECT_TRUE(soon([&] { return (gate = gate_of(call->pid())) > 0; }));
    return call;
  }
};

TEST_P(Faults, AKilledGateEndsItsConnectionsWithADenial) {
  int gate = 0;
  const auto call = pulling(gate);
  ASSERT_GT(gate, 0);
  usleep(1'300'000);
  kill(gate, SIGKILL);
  const Called called = read(call->finish());
  EXPECT_FALSE(called.ran.timed_out);
  EXPECT_TRUE(contains(called.out, "pulled ")) << called;
  EXPECT_TRUE(contains(called.out, "\nECONNREFUSED\n")) << "who comes later is refused at once\n" << called;
  EXPECT_TRUE(called.denied(
      "egress: the network gate of this call ended by signal 9: its connections were cut, and it has no "
      "network any more; run it again"))
      << called;
  EXPECT_GT(called.use_of("tool.cloche.test:7002").bytes_in, 0) << "it had moved for more than a second\n"
                                                                << called;
  EXPECT_TRUE(soon([&] { return stage().source.open_since(before_) == 0; }));
  const Called next = client({"tool.cloche.test:7002"}, {"pull", "tool.cloche.test", "7002", "1000000"});
  EXPECT_TRUE(contains(next.out, " enough\n")) << next;
  EXPECT_TRUE(next.denials.empty()) << next;
}

// One that was broken into: it is silent on its line and does not end. No process waits for that.
TEST_P(Faults, AGateThatHangsUpAndStaysIsEnded) {
  int gate = 0;
  auto call = pulling(gate);
  ASSERT_GT(gate, 0);
  const int process = static_cast<int>(syscall(SYS_pidfd_open, gate, 0));
  const int line = static_cast<int>(syscall(SYS_pidfd_getfd, process, 3, 0));
  ASSERT_GE(line, 0) << std::strerror(errno);
  kill(gate, SIGSTOP);
  ASSERT_TRUE(soon([&] { return status_of(gate)["State"].starts_with("T"); }));
  shutdown(line, SHUT_RDWR);
  const Called called = read(call->finish());
  EXPECT_FALSE(called.ran.timed_out);
  EXPECT_TRUE(called.denied("egress: the network gate of this call ended by signal 9")) << called;
  EXPECT_FALSE(exists(gate));
  syscall(SYS_pidfd_send_signal, process, SIGKILL, nullptr, 0);  // should it be there against all promises
  close(line);
  close(process);
}

TEST_P(Faults, AKilledGatewayTakesTheGateWithIt) {
  int gate = 0;
  const auto call = pulling(gate);
  ASSERT_GT(gate, 0);
  kill(call->pid(), SIGKILL);
  EXPECT_TRUE(soon([&] { return !exists(gate); }));
  EXPECT_TRUE(soon([&] { return stage().source.open_since(before_) == 0; }));
}

// The command ends while bytes flow: so does everything else.
TEST_P(Faults, AnEndedCommandEndsTheGate) {
  const Called called =
      shell({"tool.cloche.test:7002"},
            client_program() + " pull tool.cloche.test 7002 900000000000000 & sleep 0.3; exit 7");
  EXPECT_EQ(called.exit_code, 7) << called;
  EXPECT_TRUE(called.denials.empty()) << called;
  EXPECT_GT(called.use_of("tool.cloche.test:7002").bytes_in, 0) << called;
  EXPECT_TRUE(soon([&] { return stage().source.open_since(before_) == 0; }));
}

// Of a limit of the call itself nothing is lost either.
TEST_P(Faults, ATimedOutCallSaysWhatItUsed) {
  const Called called = client({"tool.cloche.test:7002"},
                               {"pull", "tool.cloche.test", "7002", "900000000000000"}, {"--timeout", "1s"});
  EXPECT_EQ(called.outcome, "timeout") << called;
  EXPECT_GT(called.use_of("tool.cloche.test:7002").bytes_in, 0) << called;
}

// A server that never reads: what cannot be sent waits, and the other connections do not.
TEST_P(Faults, AServerThatIsDeafHoldsUpNobodyElse) {
  const std::string echo = file("echo", "tool.cloche.test 7000 99 0 0\nping");
  file("flood.py", R"(import socket, subprocess, sys
s = socket.create_connection(('tool.cloche.test', 7003)); s.setblocking(False)
sent = 0
try:
  while sent < 1 << 28: sent += s.send(bytes(1 << 16))
except BlockingIOError: print('waits')
print(subprocess.run(sys.argv[1:], stdout=subprocess.PIPE).stdout.decode(), end='')
)");
  const Called called = call({"tool.cloche.test:7000", "tool.cloche.test:7003"},
                             {"/usr/bin/python3", "flood.py", client_program(), "talk", echo});
  EXPECT_EQ(called.out, "waits\ntool.cloche.test seen ping\n") << called;
}

FOR_EVERYONE(Faults);

}  // namespace
}  // namespace cloche::test
