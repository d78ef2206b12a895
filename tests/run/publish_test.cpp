// --publish: a server of the command is reached at the host's loopback, by nobody else's word than the
// operator's.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "run/fixture.hpp"

namespace cloche::test {
namespace {

sockaddr_in loopback(uint16_t port) {
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(port);
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return place;
}

// A listener at a port that was free.
struct Taken {
  Taken() : fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in place = loopback(0);
    socklen_t size = sizeof place;
    const bool good = ::bind(fd, reinterpret_cast<sockaddr*>(&place), size) == 0 && ::listen(fd, 1) == 0 &&
                      ::getsockname(fd, reinterpret_cast<sockaddr*>(&place), &size) == 0;
    port = good ? ntohs(place.sin_port) : 0;
  }
  ~Taken() { ::close(fd); }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;
  int fd;
  uint16_t port = 0;
};
uint16_t free_port() { return Taken().port; }

// What is answered at the port; empty: no answer, and no connection.
std::string asked(uint16_t port, const std::string& said) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in place = loopback(port);
  std::string answer;
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0 &&
      ::send(fd, said.data(), said.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(said.size())) {
    char room[256];
    pollfd event{fd, POLLIN, 0};
    while (::poll(&event, 1, 5000) == 1) {
      const ssize_t got = ::recv(fd, room, sizeof room, 0);
      if (got <= 0) break;
      answer.append(room, static_cast<size_t>(got));
    }
  }
  ::close(fd);
  return answer;
}

// Until its server is there.
std::string asked_until(uint16_t port, const std::string& said) {
  for (int i = 0; i < 300; ++i) {
    if (std::string answer = asked(port, said); !answer.empty()) return answer;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return {};
}

class Publish : public Run {
 protected:
  // Answers at port 8000 of the sandbox with what it hears, until it hears the end.
  static std::vector<std::string> server(const std::string& address) {
    const std::string family = contains(address, ":") ? "AF_INET6" : "AF_INET";
    return {"/usr/bin/python3", "-c",
            "import socket\ns = socket.socket(socket." + family + ")\ns.bind(('" + address + R"(', 8000))
s.listen(64)
while True:
  c, _ = s.accept()
  data = c.recv(100)
  c.sendall(b'got ' + data)
  c.close()
  if data == b'end': break
)"};
  }
};
INSTANTIATE_TEST_SUITE_P(Everyone, Publish, testing::ValuesIn(identities()),
                         [](const auto& given) { return name_of(given.param); });

TEST_P(Publish, AServerOfTheCommandAnswersAtTheHostsLoopback) {
  for (const char* address : {"127.0.0.1", "0.0.0.0", "::1"}) {
    const uint16_t port = free_port();
    Started started(under({"--json", "--publish", std::to_string(port) + ":8000"}, server(address)));
    EXPECT_EQ(asked_until(port, "one"), "got one") << address;
    // More, one after the other, than there are connectors.
    for (int i = 0; i < 100; ++i)
      ASSERT_EQ(asked(port, std::to_string(i)), "got " + std::to_string(i)) << address;
    EXPECT_EQ(asked(port, "end"), "got end") << "also what it says last";
    const Ran ran = started.finish();
    EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
    const auto json = parse_json(ran.out);
    ASSERT_TRUE(json) << ran.out << ran.err;
    ASSERT_EQ((*json)["published"].array.size(), 1U) << ran.out << ran.err;
    EXPECT_EQ((*json)["published"].array[0].string, std::to_string(port) + ":8000");
    EXPECT_EQ(asked(port, "x"), "") << "nothing listens any more";
  }
}

TEST_P(Publish, ManyAtOnce) {
  const uint16_t port = free_port();
  Started started(under({"--publish", std::to_string(port) + ":8000"}, server("127.0.0.1")));
  ASSERT_EQ(asked_until(port, "one"), "got one");
  std::vector<std::thread> clients;
  std::atomic<int> answered = 0;
  for (int i = 0; i < 8; ++i)
    clients.emplace_back([&] {
      for (int j = 0; j < 20; ++j) answered += asked(port, "many") == "got many" ? 1 : 0;
    });
  for (auto& client : clients) client.join();
  EXPECT_EQ(answered, 8 * 20);
  EXPECT_EQ(asked(port, "end"), "got end");
  EXPECT_EQ(started.finish().exit_code, 0);
}

// No flag raises it, so none is named.
TEST_P(Publish, OneConnectionTooManyIsRefusedForWhatItIs) {
  const uint16_t port = free_port();
  const std::vector<std::string> listens = {"python3", "-c",
                                            "import os, socket, time\n"
                                            "s = socket.create_server(('127.0.0.1', 8000), backlog=64)\n"
                                            "open('ready', 'w').close()\n"
                                            "while not os.path.exists('done'): time.sleep(0.02)\n"};
  Started started(under({"--live", "--publish", std::to_string(port) + ":8000"}, listens));
  ASSERT_TRUE(exited(outside("for i in $(seq 500); do [ -e ready ] && exit 0; sleep 0.02; done; exit 1"), 0));
  const sockaddr_in place = loopback(port);
  std::vector<int> clients;
  for (int i = 0; i < 33; ++i) {
    clients.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(clients.back(), reinterpret_cast<const sockaddr*>(&place), sizeof place), 0) << i;
  }
  pollfd last{clients.back(), POLLIN, 0};
  EXPECT_EQ(::poll(&last, 1, 5000), 1) << "the last one is ended";
  pollfd before{clients[31], POLLIN, 0};
  EXPECT_EQ(::poll(&before, 1, 0), 0) << "and no other";
  for (const int fd : clients) ::close(fd);
  ASSERT_TRUE(exited(outside("touch done"), 0));
  const Ran ran = started.finish();
  EXPECT_TRUE(contains(ran.out + ran.err, "more than 32 connections to published ports at once"))
      << ran.out << ran.err;
  EXPECT_FALSE(contains(ran.out + ran.err, "--net-connections")) << ran.out << ran.err;
}

TEST_P(Publish, APortInUseIsRefusedByItsName) {
  const Taken taken;
  ASSERT_NE(taken.port, 0);
  const Ran ran = cloche_run({"--publish", std::to_string(taken.port)}, {"/usr/bin/touch", "began"});
  EXPECT_NE(ran.exit_code, 0);
  EXPECT_TRUE(contains(ran.err, "127.0.0.1:" + std::to_string(taken.port))) << ran.out << ran.err;
  EXPECT_TRUE(contains(ran.err, "is in use by another program")) << ran.out << ran.err;
  EXPECT_FALSE(is_there("began"));
}

// The other way there is none: what the sandbox dials at the published port is its own loopback.
TEST_P(Publish, NothingInsideReachesTheHostByIt) {
  const Taken host;
  ASSERT_NE(host.port, 0);
  const uint16_t port = free_port();
  const std::string dial = "import socket\nfor p in (" + std::to_string(host.port) + ", " +
                           std::to_string(port) +
                           "):\n  try: socket.create_connection(('127.0.0.1', p), 2); print('reached')\n"
                           "  except OSError as e: print(e.errno)";
  const Ran ran = cloche_run({"--publish", std::to_string(port) + ":8000"}, {"/usr/bin/python3", "-c", dial});
  EXPECT_EQ(ran.out, "111\n111\n") << ran.out << ran.err;
}

TEST_P(Publish, IsInThePlanAndOfRunAlone) {
  const Answer plan = answer({"--dry-run", "--publish", "8080:3000"}, {"true"});
  ASSERT_EQ(plan.json["plan"]["published"].array.size(), 1U) << plan.ran.err;
  EXPECT_EQ(plan.json["plan"]["published"].array[0].string, "8080:3000");
  for (const char* command : {"call", "mcp", "wrap"}) {
    const Ran ran = run({.argv = {cloche(), command, "--publish", "8080", "run_shell", "{}"},
                         .as = as(),
                         .cwd = workspace()});
    EXPECT_EQ(ran.exit_code, 2) << command << ran.out << ran.err;
  }
  for (const char* bad : {"0", "65536", "x", "80:", ":80", "1:2:3", "3000:53", "-1"})
    EXPECT_EQ(cloche_run({"--publish", bad}, {"true"}).exit_code, 2) << bad;
  EXPECT_EQ(cloche_run({"--publish", "8080", "--publish", "8080:90"}, {"true"}).exit_code, 2);
}

}  // namespace
}  // namespace cloche::test
