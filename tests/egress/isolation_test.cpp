// What has no way out at all: numbers, datagrams, other kinds of sockets, another call's doors, the gateway.
#include "egress/fixture.hpp"

namespace cloche::test {
namespace {

class Isolation : public Egress {};

TEST_P(Isolation, RawAddressesHaveNoRoute) {
  std::string script;
  for (const char* address :
       {web_address, web_address6, tool_address, own_address, "93.184.217.2", "10.1.2.3", "169.254.169.254"})
    script += client_program() + " connect " + address + " 443; ";
  const Called called = shell({"web.cloche.test"}, script);
  EXPECT_EQ(called.out,
            "ENETUNREACH\nENETUNREACH\nENETUNREACH\nENETUNREACH\nENETUNREACH\nENETUNREACH\nENETUNREACH\n")
      << called;
}

TEST_P(Isolation, AddressesOfTheInsideRangeThatNoNameHasLeadNowhere) {
  const Called called = shell({"web.cloche.test"}, client_program() + " connect 198.18.7.7 443; " +
                                                       client_program() + " connect 198.18.1.0 444; " +
                                                       client_program() + " connect 198.18.0.1 443");
  EXPECT_TRUE(contains(called.out, "connected\nECONNREFUSED\nconnected\n")) << called;
  EXPECT_TRUE(
      called.denied("egress: connect to 198.18.7.7:443 refused: no name was looked up that has this address"))
      << called;
  EXPECT_TRUE(called.used.empty()) << called;
}

// Clients of QUIC must hear at once that nobody is there, so that they go on with TCP.
TEST_P(Isolation, QuicIsRefusedAtOnce) {
  const Called called = shell({"web.cloche.test"}, client_program() + " datagram 198.18.1.0 443; " +
                                                       client_program() + " datagram 198.18.1.0 80");
  EXPECT_EQ(called.out, "ECONNREFUSED\nECONNREFUSED\n") << called;
}

TEST_P(Isolation, DatagramsAndOtherSocketsLeadNowhere) {
  const Called called =
      shell({"net-any"}, client_program() + " datagram 93.184.216.34 443; " + client_program() +
                             " datagram 8.8.4.4 53; " + client_program() +
                             " datagram 2606:2800:220:1::34 443; " + client_program() + " sockets");
  EXPECT_EQ(called.out.substr(0, 36), "ENETUNREACH\nENETUNREACH\nENETUNREACH\n") << called;
  EXPECT_FALSE(contains(called.out, "SENT")) << called;
  for (const char* kind : {"raw", "raw6", "icmp", "packet", "vsock"})
    EXPECT_FALSE(contains(called.out, std::string(kind) + " made")) << called;
}

// Two calls at once: each has addresses of its own, which look the same and are not.
TEST_P(Isolation, OneCallCannotReachTheDoorsOfAnother) {
  const std::string ready = workspace() / "ready";
  Started first(command_of({"tool.cloche.test:7000"},
                           {"bash", "-c", "getent hosts tool.cloche.test >/dev/null; touch ready; read line"},
                           {"--live"}, {.input = std::string()}));
  ASSERT_TRUE(soon([&] { return fs::exists(ready); }));
  const Called second = shell({"web.cloche.test:9000"}, "getent hosts tool.cloche.test; " + client_program() +
                                                            " connect 198.18.1.0 7000");
  EXPECT_EQ(second.out, "ECONNREFUSED\n") << second;
  EXPECT_TRUE(second.denied("look-up of tool.cloche.test refused")) << second;
  const Called none = shell({}, client_program() + " connect 198.18.1.0 7000");
  EXPECT_EQ(none.out, "ENETUNREACH\n") << none;
  EXPECT_TRUE(exited(first.finish(), 1)) << "`read` has nothing to read";
}

// No socket of the gateway or of the gate has a name that could be connected to, in any namespace.
TEST_P(Isolation, NoUnixSocketLeadsToTheGate) {
  const Called called =
      shell({"tool.cloche.test"},
            "getent hosts tool.cloche.test >/dev/null; tail -n +2 /proc/net/unix; "
            "find /tmp /run /var /dev /home . -type s 2>/dev/null; ls -l /proc/self/fd | grep -c socket");
  EXPECT_EQ(called.out, "0\n") << called;
}

// A named host's port is free on the loopback; below a wildcard any address could be asked for, and it is
// not.
TEST_P(Isolation, PortsOfNamedHostsStayTheSandboxsOwn) {
  const Called called = client({"tool.cloche.test:7000"}, {"listen", "7000"});
  EXPECT_EQ(called.out, "own\n") << called;
  const Called below = client({"*.cloche.test:7000"}, {"listen", "7000"});
  EXPECT_EQ(below.out, "EADDRINUSE\n") << below;
}

TEST_P(Isolation, LoopbackServicesThatWereNotNamedStayOutOfReach) {
  const Listening listening = listen_on_loopback();
  TcpServer server(listening.fd, Manner::banner);
  const std::string port = std::to_string(listening.port);
  stage().dns.tell("localhost.cloche.test", "127.0.0.1");
  const std::string script = file("rebound", "localhost.cloche.test " + port + " 9 0 0\n");
  const Called called = client({"localhost.cloche.test:" + port, "net-any"}, {"talk", script});
  EXPECT_TRUE(called.denied("localhost.cloche.test:" + port + " refused: it resolves to 127.0.0.1"))
      << called;
  const Called other = shell({"localhost:" + std::to_string(listening.port == 6000 ? 6001 : 6000)},
                             client_program() + " connect 198.18.0.2 " + port);
  EXPECT_EQ(other.out, "ECONNREFUSED\n") << other;
  EXPECT_EQ(server.accepted(), 0U);
}

TEST_P(Isolation, ProfilesWithoutNetworkRefuse) {
  for (const char* profile : {"readonly", "workspace-write-no-network"}) {
    const Ran ran = cloche_run({"--profile", profile, "--net", "web.cloche.test"}, {"true"});
    EXPECT_TRUE(refused(ran, {2, 125}, {profile, "has no network"})) << profile;
  }
}

TEST_P(Isolation, OtherBackendsRefuseWithASentence) {
  for (const char* backend : {"subprocess", "bwrap", "runc", "crun", "runsc"}) {
    const Ran ran = cloche_run({"--backend", backend, "--net", "web.cloche.test"}, {"true"});
    EXPECT_TRUE(refused(ran, {2, 125}, {})) << backend;
    EXPECT_TRUE(contains(ran.err, "cannot be reached: ") || contains(ran.err, "is not installed") ||
                contains(ran.err, "is not here"))
        << backend << ran.err;
  }
}

FOR_EVERYONE(Isolation);

}  // namespace
}  // namespace cloche::test
