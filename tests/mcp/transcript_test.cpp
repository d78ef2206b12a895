// A long transcript that is read again and again: each answer is of megabytes, and a client that asks for
// many of them has neither our memory nor our time.
#include <gtest/gtest.h>
#include <signal.h>

#include <thread>

#include "mcp/driver.hpp"

namespace cloche::test {
namespace {

constexpr uint64_t mebibyte = 1 << 20;
constexpr int calls = 40;
constexpr int reads = 400;          // seconds of work
constexpr int answered_reads = 80;  // more than memory may hold, and few enough to be looked at

class McpTranscript : public testing::Test {
 protected:
  // A mebibyte of it, that is nearly two of them as JSON.
  void fill(McpClient& client, const std::string& version = "2025-11-25") {
    client.shake_hands("{}", version);
    std::string content;
    for (int i = 0; i < 15'000; ++i) content += R"(\")";
    for (int i = 0; i < calls; ++i)
      client.ask(std::to_string(i), "tools/call",
                 call_params("write_artifact", R"({"path":"f","content":")" + content + R"("})"));
    uri = client.ask("\"list\"", "resources/list")["result"]["resources"].array.at(0)["uri"].string;
    const Json read = client.ask("\"once\"", "resources/read", params());
    ASSERT_GT(read["result"]["contents"].array.at(0)["text"].string.size(), mebibyte / 2);
  }
  std::string params() const { return R"({"uri":")" + uri + R"("})"; }
  std::string request(int id) const {
    return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"resources/read","params":)" +
           params() + "}";
  }
  std::string requests(const std::string& between, int count = reads) const {
    std::string text;
    for (int i = 0; i < count; ++i) text += (i == 0 ? "" : between) + request(1000 + i);
    return text;
  }
  // Nobody reads for a while; then every answer is there.
  void expect_bounded(McpClient& client) {
    std::this_thread::sleep_for(std::chrono::seconds(2));
    EXPECT_LT(client.most_memory_bytes(), 96 * mebibyte);
    int results = 0;
    while (results < answered_reads) {
      const auto answer = client.receive(std::chrono::seconds(30));
      if (!answer || !answer->has("result")) break;
      ++results;
    }
    EXPECT_EQ(results, answered_reads);
    EXPECT_LT(client.most_memory_bytes(), 96 * mebibyte);
  }

  McpScene scene;
  std::string uri;
};

TEST_F(McpTranscript, ManyReadsAtOnceStayWithinMemory) {
  McpClient client(scene);
  fill(client);
  client.send(requests("\n", answered_reads));
  expect_bounded(client);
}

TEST_F(McpTranscript, SoDoesABatch) {
  McpClient client(scene);
  fill(client, "2025-03-26");
  client.send("[" + requests(",", answered_reads) + "]");
  expect_bounded(client);
}

TEST_F(McpTranscript, NeitherKeepsItFromEnding) {
  for (const bool batch : {false, true}) {
    for (const bool by_signal : {false, true}) {
      McpClient client(scene);
      fill(client, "2025-03-26");
      client.send(batch ? "[" + requests(",") + "]" : requests("\n"));
      std::this_thread::sleep_for(Millis(100));
      by_signal ? void(::kill(client.process().pid(), SIGTERM)) : client.process().close_input();
      EXPECT_LT(client.time_to_end(), Millis(1000)) << batch << by_signal;
    }
  }
}

// A client that reads all the time, and has closed its end.
TEST_F(McpTranscript, NorDoesSomebodyWhoReads) {
  McpClient client(scene);
  fill(client);
  client.send(requests("\n"));
  client.process().close_input();
  const auto begin = std::chrono::steady_clock::now();
  while (client.receive(std::chrono::seconds(5))) {
  }
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(took, std::chrono::milliseconds(1200)) << "with the time to read what it says";
}

TEST_F(McpTranscript, OtherCallsAreAnsweredInBetween) {
  McpClient client(scene);
  fill(client);
  client.send(requests("\n"));
  client.send(R"({"jsonrpc":"2.0","id":1,"method":"ping"})");
  EXPECT_TRUE(client.answer("1").has("result"));
}

}  // namespace
}  // namespace cloche::test
