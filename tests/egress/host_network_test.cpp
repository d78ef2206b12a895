// `--net-host`: the operator gives a command the host's whole network. It is said, everything else holds, and
// nobody but the operator can.
#include <sys/socket.h>
#include <sys/un.h>

#include "egress/fixture.hpp"

namespace cloche::test {
namespace {

constexpr const char* all_sharing[] = {"native", "bwrap", "subprocess", "crun", "runc"};

// A socket of the host's with an abstract name.
class AbstractSocket {
 public:
  AbstractSocket(const std::string& name, int type)
      : fd_(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un place{};
    place.sun_family = AF_UNIX;
    std::copy(name.begin(), name.end(), place.sun_path + 1);
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&place), length), 0);
    if (type == SOCK_STREAM) {
      EXPECT_EQ(::listen(fd_, 64), 0);
    }
  }
  ~AbstractSocket() { ::close(fd_); }
  AbstractSocket(const AbstractSocket&) = delete;
  AbstractSocket& operator=(const AbstractSocket&) = delete;

 private:
  int fd_;
};

constexpr const char* abstract_script = R"(import errno, socket, sys
def attempt(what):
  try:
    what()
    return 'REACHED'
  except OSError as e:
    return errno.errorcode[e.errno]
stream, datagram = ('\0' + name for name in sys.argv[1:3])
print(attempt(lambda: socket.socket(socket.AF_UNIX).connect(stream)),
      attempt(lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).connect(datagram)),
      attempt(lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', datagram)),
      attempt(lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b'x', datagram)))
)";

class HostNetwork : public Egress {
 protected:
  // Nothing: this backend cannot be tried here.
  std::optional<Answer> shared(const std::string& backend, const Words& argv) {
    Answer given = answer({"--net-host", "--backend", backend}, argv);
    if (contains(given.ran.out, "is not installed") || contains(given.ran.out, "missing layer")) return {};
    return given;
  }
};

TEST_P(HostNetwork, IsTheHostsAndIsSaid) {
  const Listening listening = listen_on_loopback();
  TcpServer server(listening.fd, Manner::banner);
  const std::string loopback = file("loopback", "localhost " + std::to_string(listening.port) + " 9 0 0\n");
  const std::string named = file("named", "tool.cloche.test 7001 9 0 0\n");
  size_t tried = 0;
  for (const char* backend : all_sharing) {
    const auto given = shared(backend, {client_program(), "talk", loopback, named});
    if (!given) continue;
    ++tried;
    EXPECT_EQ(given->json["stdout"].string,
              "localhost seen 220 ready\r\n\ntool.cloche.test seen 220 ready\r\n\n")
        << backend << given->ran.out << given->ran.err;
    ASSERT_FALSE(given->json["notes"].array.empty()) << backend;
    EXPECT_TRUE(contains(given->json["notes"].array.back().string, "network isolation is off")) << backend;
    for (const auto& layer : given->json["layers"].array)
      EXPECT_NE(layer["name"].string, "net-namespace") << backend;
    EXPECT_TRUE(given->json["network"].array.empty()) << backend;
    const size_t first = given->ran.err.find("network isolation is off");
    ASSERT_NE(first, std::string::npos) << given->ran.err;
    EXPECT_EQ(given->ran.err.find("network isolation is off", first + 1), std::string::npos)
        << given->ran.err;
  }
  EXPECT_GE(tried, 2U) << "native and subprocess are always here";
}

TEST_P(HostNetwork, AbstractSocketsOfTheHostStayOutOfReach) {
  const std::string name = "cloche-test-" + std::to_string(::getpid());
  const AbstractSocket stream(name + "-s", SOCK_STREAM);
  const AbstractSocket datagram(name + "-d", SOCK_DGRAM);
  file("abstract.py", abstract_script);
  const Words argv = {"/usr/bin/python3", "abstract.py", name + "-s", name + "-d"};
  const Ran outside = run({.argv = argv, .cwd = workspace()});
  EXPECT_EQ(outside.out, "REACHED REACHED REACHED REACHED\n");
  for (const char* backend : all_sharing) {
    const auto given = shared(backend, argv);
    if (given) {
      EXPECT_EQ(given->json["stdout"].string, "EPERM EPERM EPERM EPERM\n") << backend << given->ran.out;
    }
  }
}

TEST_P(HostNetwork, RawSocketsAndOtherFamiliesStayRefused) {
  for (const char* backend : all_sharing) {
    const auto given = shared(backend, {client_program(), "sockets"});
    if (!given) continue;
    for (const char* kind : {"raw", "raw6", "icmp", "packet", "vsock"})
      EXPECT_FALSE(contains(given->json["stdout"].string, std::string(kind) + " made"))
          << backend << given->ran.out;
  }
}

TEST_P(HostNetwork, IsRefusedWhereItCannotBe) {
  for (const char* profile : {"readonly", "workspace-write-no-network"}) {
    const Ran ran = cloche_run({"--profile", profile, "--net-host"}, {"true"});
    EXPECT_TRUE(refused(ran, {2, 125}, {profile, "has no network", "--net-host"})) << profile;
    EXPECT_FALSE(contains(ran.err, "network isolation is off")) << ran.err;
  }
  EXPECT_TRUE(refused(cloche_run({"--net-host", "--net", "web.cloche.test"}, {"true"}), {2, 125},
                      {"--net-host is the host's whole network"}));
  EXPECT_TRUE(refused(cloche_run({"--net-host", "--backend", "runsc"}, {"true"}), {2, 125},
                      {"a box of runsc cannot have the host's network"}));
}

// The one way to a network on these is named, and is the operator's.
TEST_P(HostNetwork, IsNamedWhereHostsCannotBe) {
  for (const char* backend : {"subprocess", "bwrap"}) {
    const Ran ran = cloche_run({"--backend", backend, "--net", "web.cloche.test"}, {"true"});
    EXPECT_TRUE(refused(ran, {2, 125}, {"web.cloche.test:80 cannot be reached", "--net-host"})) << backend;
  }
}

FOR_EVERYONE(HostNetwork);

}  // namespace
}  // namespace cloche::test
