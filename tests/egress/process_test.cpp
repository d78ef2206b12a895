// The egress process itself, looked at from outside while a call runs; and a thousand connections through it.
#include <sstream>

#include "egress/fixture.hpp"
#include "egress/processes.hpp"

namespace cloche::test {
namespace {

class EgressProcess : public Egress {
 protected:
  // A call that holds `count` echoes until its input ends, and the gate that serves it.
  struct Held {
    std::unique_ptr<Started> call;
    int gate = 0;
  };
  Held hold(int count) {
    Held held;
    const size_t before = stage().echo.accepted();
    held.call = std::make_unique<Started>(
        command_of({"tool.cloche.test:7000"},
                   {"bash", "-c",
                    client_program() + " hold tool.cloche.test 7000 " + std::to_string(count) +
                        " < <(while [ ! -e done ]; do sleep 0.05; done)"},
                   {"--live"}));
    EXPECT_TRUE(soon([&] { return stage().echo.accepted() >= before + static_cast<size_t>(count); }));
    EXPECT_TRUE(soon([&] { return (held.gate = gate_of(held.call->pid())) > 0; }));
    return held;
  }
  Called let_go(Held& held) {
    file("done", "");
    return read(held.call->finish());
  }
};

TEST_P(EgressProcess, HasNoPowersAndNoFiles) {
  Held held = hold(1);
  const auto status = status_of(held.gate);
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapAmb"})
    EXPECT_EQ(status.at(set), "0000000000000000") << set;
  EXPECT_EQ(status.at("NoNewPrivs"), "1");
  EXPECT_EQ(status.at("Seccomp"), "2");
  EXPECT_EQ(status.at("Threads"), "1");
  std::istringstream ids(status.at("Uid"));
  for (int id = 0; ids >> id;) EXPECT_NE(id, 0);
  EXPECT_EQ(status.at("Groups"), "");
  for (const auto& file : files_of(held.gate)) {
    const bool plain = file.starts_with("socket:") || file.starts_with("pipe:") ||
                       file == "anon_inode:[eventpoll]" || file == "/dev/null";
    EXPECT_TRUE(plain) << file;
  }
  EXPECT_EQ(status_of(held.call->pid()).at("Pid"), status.at("PPid")) << "the gateway alone is its parent";
  const Called called = let_go(held);
  EXPECT_EQ(called.use_of("tool.cloche.test:7000").connections, 1) << called;
  EXPECT_TRUE(soon([&] { return !exists(held.gate); }));
}

TEST_P(EgressProcess, IsNotStartedForACallThatUsesNoNetwork) {
  Started call(command_of({"tool.cloche.test:7000"},
                          {"bash", "-c", "touch here; while [ ! -e done ]; do sleep 0.05; done"},
                          {"--live"}));
  ASSERT_TRUE(soon([&] { return fs::exists(workspace() / "here"); }));
  EXPECT_EQ(gate_of(call.pid()), 0);
  file("done", "");
  EXPECT_TRUE(exited(call.finish(), 0));
}

TEST_P(EgressProcess, HoldsAThousandConnectionsInLittleMemory) {
  Held held = hold(1000);
  EXPECT_LT(resident_bytes(held.gate), size_t{64} << 20);
  RecordProperty("resident_bytes", std::to_string(resident_bytes(held.gate)));
  const Called called = let_go(held);
  EXPECT_EQ(called.out, "held 1000\n") << called;
  EXPECT_EQ(called.use_of("tool.cloche.test:7000").connections, 1000) << called;
}

// The same when each of them has said all it can, and waits for a server that never answers.
TEST_P(EgressProcess, HoldsAThousandThatHaveSaidMuchInLittleMemory) {
  stage().dns.tell("dead.cloche.test", dead_address);
  file("wait.py", R"(import os, resource, socket, time
resource.setrlimit(resource.RLIMIT_NOFILE, (2048, 2048))
request = b'POST / HTTP/1.1\r\nHost: dead.cloche.test\r\nContent-Length: 999999\r\n\r\n' + bytes(100000)
held = []
for i in range(1000):
  s = socket.create_connection(('dead.cloche.test', 80)); s.setblocking(False)
  s.send(request)
  held.append(s)
open('said', 'w').close()
while not os.path.exists('done'): time.sleep(0.05)
)");
  Started call(command_of({"dead.cloche.test"}, {"/usr/bin/python3", "wait.py"}, {"--live"}));
  ASSERT_TRUE(soon([&] { return fs::exists(workspace() / "said"); }));
  const int gate = gate_of(call.pid());
  ASSERT_GT(gate, 0);
  EXPECT_LT(peak_bytes(gate), size_t{64} << 20);
  file("done", "");
  EXPECT_EQ(read(call.finish()).exit_code, 0);
}

FOR_EVERYONE(EgressProcess);

}  // namespace
}  // namespace cloche::test
