// What a command sends right before it ends: a kernel would deliver it, and so does the gate, for a while.
#include "egress/fixture.hpp"

namespace cloche::test {
namespace {

class LastWords : public Egress {
 protected:
  // How much the listener has heard, ever.
  static size_t heard() {
    size_t bytes = 0;
    for (const auto& text : stage().listener.recorded()) bytes += text.size();
    return bytes;
  }
  static DnsAnswer slowly(const char* address) { return {.addresses = {address}, .after_ms = 300}; }
};

TEST_P(LastWords, Arrive) {
  stage().dns.tell("slow.cloche.test", {slowly(tool_address)});
  const struct {
    const char* what;
    const char* host;
    size_t bytes;
  } rows[] = {
      {"a little", "tool.cloche.test", 10},
      {"a buffer full", "tool.cloche.test", 100'000},
      {"more than the buffers take", "tool.cloche.test", 20'000'000},
      {"before the name was looked up", "slow.cloche.test", 100'000},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    const size_t before = heard();
    const std::string script = "head -c " + std::to_string(row.bytes) + " /dev/zero > /dev/tcp/" + row.host +
                               "/" + std::to_string(listener_port);
    const std::string host = std::string(row.host) + ":7004";
    const Called called = shell({host}, script);
    EXPECT_TRUE(soon([&] { return heard() - before == row.bytes; })) << heard() - before << called;
    EXPECT_EQ(called.use_of(host).bytes_out, static_cast<double>(row.bytes)) << called;
    EXPECT_EQ(called.use_of(host).connections, 1) << called;
    EXPECT_TRUE(called.failures.empty() && called.denials.empty()) << called;
  }
}

// Judged all the same, and delivered to a server that answers nobody any more.
TEST_P(LastWords, OfARequestArrive) {
  stage().dns.tell("slow-web.cloche.test", {slowly(tool_address)});
  const std::string request =
      "POST / HTTP/1.1\r\nHost: slow-web.cloche.test\r\nContent-Length: 5000\r\n\r\n" +
      std::string(5000, 'x');
  file("request", request);
  const size_t before = stage().http.recorded().size();
  const Called called = shell({"slow-web.cloche.test"}, "cat request > /dev/tcp/slow-web.cloche.test/80");
  EXPECT_TRUE(called.failures.empty() && called.denials.empty()) << called;
  ASSERT_TRUE(soon([&] { return stage().http.recorded().size() > before; })) << called;
  EXPECT_EQ(stage().http.recorded().back(), request);
}

// A client that ends with something unread is cut off by its kernel: what it said before is passed on.
TEST_P(LastWords, ToAServerThatSpokeFirstArrive) {
  const size_t before = stage().banner.accepted();
  const Called called =
      shell({"tool.cloche.test:7001"}, "exec 3<>/dev/tcp/tool.cloche.test/7001; sleep 0.2; echo hello >&3");
  EXPECT_EQ(stage().banner.accepted(), before + 1);
  EXPECT_EQ(called.use_of("tool.cloche.test:7001").bytes_out, 6) << called;
  EXPECT_TRUE(called.failures.empty()) << called;
}

// The time for it is bounded, what did not arrive is said, and counted is only what did.
TEST_P(LastWords, ToADeafServerAreGivenUpAndReported) {
  const Called called = shell({"tool.cloche.test:7003"},
                              "head -c 30000000 /dev/zero > /dev/tcp/tool.cloche.test/7003 & sleep 0.5");
  EXPECT_TRUE(called.failed(
      "egress: not everything reached tool.cloche.test:7003: what the command sent last was still on its "
      "way two seconds after its end, and was dropped"))
      << called;
  EXPECT_EQ(called.failures.size(), 1U) << called;
  EXPECT_LT(called.use_of("tool.cloche.test:7003").bytes_out, 30'000'000) << called;
  EXPECT_LT(called.ran.seconds, 6) << called;
}

TEST_P(LastWords, ThatAreNoneHoldUpNobody) {
  file("idle.py", R"(import socket
held = [socket.create_connection(('tool.cloche.test', 7003)) for i in range(20)]
)");
  const Called called = call({"tool.cloche.test:7003"}, {"/usr/bin/python3", "idle.py"});
  EXPECT_LT(called.ran.seconds, 1.8) << called;
  EXPECT_TRUE(called.failures.empty()) << called;
}

FOR_EVERYONE(LastWords);

}  // namespace
}  // namespace cloche::test
