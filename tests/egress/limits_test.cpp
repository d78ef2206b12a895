// How much a call may have of the network: each limit cuts, says so exactly, and is counted.
#include "egress/fixture.hpp"

namespace cloche::test {
namespace {

class NetLimits : public Egress {
 protected:
  std::string talk_to(const std::string& name, uint16_t port, const std::string& bytes = {}) {
    return file("talk-" + std::to_string(port), name + " " + std::to_string(port) + " 99 0 0\n" + bytes);
  }
};

TEST_P(NetLimits, ConnectionsAtOnce) {
  const Called called = client({"tool.cloche.test:7000"}, {"hold", "tool.cloche.test", "7000", "9"},
                               {"--net-connections", "4"});
  EXPECT_EQ(called.out, "held 4\n") << called;
  EXPECT_TRUE(called.denied(
      "egress: connect to tool.cloche.test:7000 refused: too many connections at once; the operator "
      "can raise --net-connections"))
      << called;
  EXPECT_EQ(called.use_of("tool.cloche.test:7000").connections, 4) << called;
}

// The operator's own limit: nobody waits at a door for ever because there is no descriptor for him.
TEST_P(NetLimits, FilesOfTheGate) {
  Command command =
      command_of({"tool.cloche.test:7000"}, {client_program(), "hold", "tool.cloche.test", "7000", "90"});
  command.argv.insert(command.argv.begin(), {"prlimit", "--nofile=120:120"});
  const Called called = read(run(command));
  EXPECT_TRUE(called.out.starts_with("held ")) << called;
  EXPECT_NE(called.out, "held 90\n") << called;
  EXPECT_TRUE(
      called.denied("egress: connect to tool.cloche.test:7000 refused: no more files can be opened for it") ||
      called.failed("tool.cloche.test:7000 could not be reached: "))
      << called;
}

TEST_P(NetLimits, ConnectionsThatEndedMakeRoom) {
  const std::string script = talk_to("tool.cloche.test", echo_port, "ping");
  const Called called =
      client({"tool.cloche.test:7000"}, {"talk", script, script, script, script, script, script},
             {"--net-connections", "2"});
  EXPECT_TRUE(called.denials.empty()) << called;
  EXPECT_EQ(called.use_of("tool.cloche.test:7000").connections, 6) << called;
}

TEST_P(NetLimits, BytesOfAHost) {
  const Called called = client({"tool.cloche.test:7002"}, {"pull", "tool.cloche.test", "7002", "100000000"},
                               {"--net-bytes", "1M"});
  EXPECT_TRUE(contains(called.out, " reset\n")) << called;
  EXPECT_TRUE(called.denied(
      "egress: the connection to tool.cloche.test:7002 was ended: too many bytes to and from it; the "
      "operator can raise --net-bytes"))
      << called;
  const HostUsed used = called.use_of("tool.cloche.test:7002");
  EXPECT_EQ(used.bytes_in, 1 << 20) << "to the byte\n" << called;
}

// Also of what is held back until it was judged, and of what many connections have on their way.
TEST_P(NetLimits, BytesAreNeverExceeded) {
  file("post.py", R"(import socket
s = socket.create_connection(('tool.cloche.test', 80))
s.sendall(b'GET / HTTP/1.1\r\nHost: tool.cloche.test\r\nX: ' + b'x' * 15000 + b'\r\n\r\n')
try: print('got', s.recv(9))
except OSError: print('reset')
)");
  const Called head = call({"tool.cloche.test"}, {"/usr/bin/python3", "post.py"}, {"--net-bytes", "1000"});
  EXPECT_EQ(head.out, "reset\n") << head;
  EXPECT_EQ(head.use_of("tool.cloche.test:80").bytes_out, 0) << head;
  EXPECT_TRUE(head.denied("the connection to tool.cloche.test:80 was ended: too many bytes")) << head;
  file("many.py", R"(import socket
held = [socket.create_connection(('tool.cloche.test', 7000)) for i in range(50)]
for s in held:
  try: s.sendall(b'x' * 10000); s.recv(1)
  except OSError: pass
)");
  const Called many =
      call({"tool.cloche.test:7000"}, {"/usr/bin/python3", "many.py"}, {"--net-bytes", "100K"});
  const HostUsed used = many.use_of("tool.cloche.test:7000");
  EXPECT_GT(used.bytes_out, 0) << many;
  EXPECT_LE(used.bytes_out + used.bytes_in, 100 << 10) << many;
  EXPECT_TRUE(many.denied("the connection to tool.cloche.test:7000 was ended: too many bytes")) << many;
}

// A transfer that would be over in one turn is cut as well, and later connections have nothing left.
TEST_P(NetLimits, BytesOfAShortTransferAndOfAllConnectionsTogether) {
  if (!stage().web.running()) GTEST_SKIP() << "skipped: nginx or openssl is not installed";
  NEEDS("curl");
  const Called called =
      shell({"web.cloche.test"},
            "curl -s http://web.cloche.test/big | wc -c; curl -s http://web.cloche.test/hello | wc -c",
            {"--net-bytes", "64K"});
  EXPECT_TRUE(called.denied("egress: the connection to web.cloche.test:80 was ended: too many bytes"))
      << called;
  EXPECT_LT(called.use_of("web.cloche.test:80").bytes_in, size_t{256} << 10) << called;
  EXPECT_EQ(last_line(called.out), "0") << called;
}

TEST_P(NetLimits, IdleConnections) {
  const Called called = client({"tool.cloche.test:7003"}, {"talk", talk_to("tool.cloche.test", deaf_port)},
                               {"--net-idle", "400ms"});
  EXPECT_EQ(called.out, "tool.cloche.test reset\n") << called;
  EXPECT_TRUE(called.denied(
      "egress: the connection to tool.cloche.test:7003 was ended: nothing moved on it for too long; the "
      "operator can raise --net-idle"))
      << called;
}

// Clients open connections that they may need. Who has begun to speak is told what is missing.
TEST_P(NetLimits, ConnectionsThatSayNothingEndWithoutADenial) {
  stage().dns.tell("half-said.cloche.test", tool_address);
  file("silent.py", R"(import socket
def dial(name, port, said=b''):
  s = socket.create_connection((name, port), timeout=20); s.sendall(said); return s
silent = [dial('tool.cloche.test', 80), dial('tool.cloche.test', 443)]
half = dial('half-said.cloche.test', 80, b'GE')
print([s.recv(1) for s in silent])
try: half.recv(1)
except ConnectionResetError: print('reset')
)");
  const Called called =
      call({"tool.cloche.test", "half-said.cloche.test"}, {"/usr/bin/python3", "silent.py"});
  EXPECT_EQ(called.out, "[b'', b'']\nreset\n") << called;
  ASSERT_EQ(called.denials.size(), 1U) << called;
  EXPECT_TRUE(
      called.denied("connect to half-said.cloche.test:80 refused: it was not said within ten seconds"))
      << called;
}

TEST_P(NetLimits, TimeOfAConnection) {
  const Called called =
      client({"tool.cloche.test:7002"}, {"pull", "tool.cloche.test", "7002", "100000000000000"},
             {"--net-time", "400ms"});
  EXPECT_TRUE(contains(called.out, " reset\n")) << called;
  EXPECT_TRUE(called.denied(
      "egress: the connection to tool.cloche.test:7002 was ended: it was open for too long; the operator "
      "can raise --net-time"))
      << called;
}

TEST_P(NetLimits, DenialsAreOnStderrForAPerson) {
  const Ran ran = cloche_run({"--net", "tool.cloche.test:7003", "--net-idle", "300ms"},
                             {client_program(), "talk", talk_to("tool.cloche.test", deaf_port)});
  EXPECT_TRUE(contains(
      ran.err, "egress: the connection to tool.cloche.test:7003 was ended: nothing moved on it for too long"))
      << ran.err;
  const Ran look = cloche_run({"--net", "tool.cloche.test"}, {"getent", "hosts", "evil.example"});
  EXPECT_TRUE(
      contains(look.err, "egress: look-up of evil.example refused: not declared (--net: [tool.cloche.test])"))
      << look.err;
}

// Told are the first, counted are all of them, once each.
TEST_P(NetLimits, RefusalsAndFailuresAreCounted) {
  stage().dns.tell("closed.cloche.test", tool_address);
  file("many.py", R"(import socket
for i in range(1000):
  for twice in range(2):
    try: socket.getaddrinfo('n%d.evil.example' % i, 80, family=socket.AF_INET)
    except OSError: pass
for i in range(100):
  s = socket.create_connection(('closed.cloche.test', 9999))
  try: s.recv(1)
  except OSError: pass
)");
  const Called called = call({"closed.cloche.test:9999"}, {"/usr/bin/python3", "many.py"});
  ASSERT_EQ(called.denials.size(), 65U) << called;
  EXPECT_EQ(called.denials.back(), "egress: 936 more refusals of the same call");
  ASSERT_EQ(called.failures.size(), 65U) << called;
  EXPECT_EQ(called.failures.back(), "egress: 36 more connections could not be made");
}

TEST_P(NetLimits, OfManyHostsThoseThatMostWasSentToAreNamed) {
  const std::string zone = ".many.cloche.test";
  for (int i = 0; i < 1030; ++i) stage().dns.tell("n" + std::to_string(i) + zone, tool_address);
  stage().dns.tell("exfil" + zone, tool_address);
  file("many.py", R"(import socket, sys
def ask(name, body):
  s = socket.create_connection((name, 80))
  s.sendall(b'POST / HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n' % (name.encode(), len(body)) + body)
  s.recv(9)
for i in range(1030): ask('n%d' % i + sys.argv[1], b'')
ask('exfil' + sys.argv[1], bytes(50000))
)");
  const Called called = call({"net-any"}, {"/usr/bin/python3", "many.py", zone});
  EXPECT_EQ(called.exit_code, 0) << called.err;
  EXPECT_GT(called.use_of("exfil" + zone + ":80").bytes_out, 50'000);
  EXPECT_TRUE(contains(called.ran.out, R"({"more_hosts":7,"connections":7,)"));
}

// What nobody reads waits in the kernel, which is nobody's memory: of many connections each has little there.
TEST_P(NetLimits, WhatWaitsInTheKernelIsBounded) {
  file("unread.py", R"(import resource, socket, time
resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))
held = [socket.create_connection(('tool.cloche.test', 7002)) for i in range(400)]
time.sleep(1.5)
)");
  const Called called = call({"tool.cloche.test:7002"}, {"/usr/bin/python3", "unread.py"});
  const HostUsed used = called.use_of("tool.cloche.test:7002");
  EXPECT_EQ(used.connections, 400) << called;
  EXPECT_GT(used.bytes_in, 0) << called;
  EXPECT_LT(used.bytes_in / used.connections, 320 << 10) << called;
}

// A client that has said everything, and still listens; and one that says it byte by byte.
TEST_P(NetLimits, HalfClosedAndSlowConnectionsGoOn) {
  const std::string half = file("half", "tool.cloche.test 7000 99 0 1\nping");
  const std::string slow = file("slow", "tool6.cloche.test 7000 1 20 0\nslowly");
  const Called called = client({"tool.cloche.test:7000", "tool6.cloche.test:7000"}, {"talk", half, slow});
  EXPECT_TRUE(contains(called.out, "tool.cloche.test seen ping\n")) << called;
  EXPECT_TRUE(contains(called.out, "tool6.cloche.test seen s")) << called;
  EXPECT_EQ(called.use_of("tool6.cloche.test:7000").bytes_out, 6) << called;
}

FOR_EVERYONE(NetLimits);

}  // namespace
}  // namespace cloche::test
