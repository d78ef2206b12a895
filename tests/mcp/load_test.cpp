// Many calls at once, clients that do not read, and floods: every request has its answer, the order is fair,
// and memory stays within bounds.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <thread>

#include "mcp/driver.hpp"

namespace cloche::test {
namespace {

constexpr uint64_t mebibyte = 1 << 20;

std::string call_line(int id, const std::string& name, const std::string& arguments,
                      const std::string& more = "") {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"tools/call","params":)" +
         call_params(name, arguments, more) + "}";
}

class McpLoad : public testing::Test {
 protected:
  McpScene scene;
};

// Fair: in the order in which they came calls begin, but for those that begin at once, and none is answered
// long after those that came after it.
TEST_F(McpLoad, TwoHundredCallsAtOnceInFairOrder) {
  constexpr int calls = 200;
  constexpr int at_once = 32;
  scene.configure(R"({"calls": {"at_once": 32}})");
  McpClient client(scene);
  client.shake_hands();
  client.warm_up();  // call c-0001
  for (int i = 0; i < calls; ++i)
    client.send(call_line(i, "run_shell", R"({"cmd":"echo n)" + std::to_string(i) + R"("})"));
  for (int place = 0; place < calls; ++place) {
    const auto answer = client.receive(std::chrono::seconds(60));
    ASSERT_TRUE(answer) << "answer " << place;
    const int id = static_cast<int>((*answer)["id"].number);
    EXPECT_EQ(text_of(*answer), "exit_code: 0\nstdout: n" + std::to_string(id) + "\n\nstderr: ")
        << client.last_line();
    const int begun = std::stoi((*answer)["result"]["_meta"]["cloche/call_id"].string.substr(2)) - 2;
    EXPECT_LE(std::abs(begun - id), at_once) << "call " << id << " began as number " << begun;
    EXPECT_LE(std::abs(place - id), 3 * at_once) << "call " << id << " was answered as number " << place;
  }
}

// It sends without reading, so the server must neither wait for it nor keep all that it would say.
TEST_F(McpLoad, AFloodOfTenThousandRequests) {
  constexpr int requests = 10'000;
  McpClient client(scene);
  client.shake_hands();
  std::thread sender([&] {
    for (int i = 0; i < requests; ++i)
      client.send(i % 2 == 0
                      ? call_line(i, "read_artifact", R"({"path":"none"})")
                      : R"({"jsonrpc":"2.0","id":)" + std::to_string(i) + R"(,"method":"tools/list"})");
  });
  std::this_thread::sleep_for(Millis(1500));
  std::map<int, int> answers;
  for (int i = 0; i < requests; ++i) {
    const auto answer = client.receive(std::chrono::seconds(30));
    if (!answer) break;
    ++answers[static_cast<int>((*answer)["id"].number)];
    EXPECT_FALSE(answer->has("error")) << client.last_line();
    if (static_cast<int>((*answer)["id"].number) % 2 != 0) continue;
    const std::string text = text_of(*answer);
    EXPECT_TRUE(text.starts_with("busy: too many calls") || text.find("none") != std::string::npos) << text;
  }
  sender.join();
  EXPECT_EQ(answers.size(), static_cast<size_t>(requests));
  EXPECT_TRUE(
      std::all_of(answers.begin(), answers.end(), [](const auto& entry) { return entry.second == 1; }));
  EXPECT_LT(client.most_memory_bytes(), 128 * mebibyte);
}

TEST_F(McpLoad, AClientThatStopsReadingStallsNobody) {
  McpClient client(scene);
  client.shake_hands();
  // Talks all the time, and nobody listens.
  client.send(call_line(1, "run_script", R"({"interpreter":"bash","code":"yes | head -c 12000000"})",
                        R"("_meta":{"progressToken":1})"));
  // Fills the pipe with answers, too.
  for (int i = 100; i < 200; ++i)
    client.send(R"({"jsonrpc":"2.0","id":)" + std::to_string(i) + R"(,"method":"tools/list"})");
  client.send(call_line(2, "write_artifact", R"({"path":"done","content":"x"})"));
  EXPECT_TRUE(wait_for_file(scene.workspace() / "done")) << "another call was stalled";
  std::this_thread::sleep_for(Millis(500));
  EXPECT_LT(client.most_memory_bytes(), 128 * mebibyte);
  EXPECT_TRUE(client.answer("2").has("result"));
  EXPECT_TRUE(client.answer("1").has("result") ||
              std::any_of(client.messages().begin(), client.messages().end(),
                          [](const Json& message) { return message["id"].number == 1; }));
}

// One runs and two wait: the next one is refused, and one that is cancelled in the queue leaves no trace.
TEST_F(McpLoad, ACallForWhichThereIsNoRoomIsRefusedAsBusy) {
  scene.configure(R"({"calls": {"at_once": 1, "waiting": 2}})");
  McpClient client(scene);
  client.shake_hands();
  client.warm_up();
  client.send(
      call_line(1, "run_shell", R"({"cmd":"echo begun; sleep 60"})", R"("_meta":{"progressToken":1})"));
  const auto begun = client.receive();
  ASSERT_TRUE(begun && (*begun)["method"].string == "notifications/progress") << client.last_line();
  const auto write = [](int id) {
    return call_line(id, "write_artifact", R"({"path":"by-)" + std::to_string(id) + R"(","content":"x"})");
  };
  client.send(write(2));
  client.send(write(3));
  client.send(write(4));
  const Json busy = client.answer("4");
  EXPECT_TRUE(busy["result"]["isError"].boolean) << client.last_line();
  EXPECT_EQ(text_of(busy),
            "busy: too many calls run and wait here, so this one was not begun; try again when some of them "
            "have ended");
  const std::string call_id = busy["result"]["_meta"]["cloche/call_id"].string;
  EXPECT_TRUE(call_id.starts_with("c-")) << "it is in the record";
  client.send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}})");
  client.send(write(5));  // which has the place of the cancelled one
  client.send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  EXPECT_TRUE(client.answer("5").has("result"));
  EXPECT_TRUE(client.answer("3").has("result"));
  EXPECT_FALSE(fs::exists(scene.workspace() / "by-2")) << "cancelled while it waited";
  EXPECT_TRUE(fs::exists(scene.workspace() / "by-3"));
  EXPECT_FALSE(fs::exists(scene.workspace() / "by-4"));
  EXPECT_TRUE(fs::exists(scene.workspace() / "by-5"));
}

size_t descriptors_of(pid_t process) {
  const fs::directory_iterator all("/proc/" + std::to_string(process) + "/fd");
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

TEST_F(McpLoad, OfManyAtOnceEachIsAnsweredOrBusyAndNothingLeaks) {
  constexpr int calls = 128;
  scene.configure(R"({"calls": {"at_once": 4, "waiting": 60}})");
  McpClient client(scene);
  client.shake_hands();
  client.warm_up();
  // Sandboxes that wait for calls, and files for their output, have some too.
  constexpr size_t few = 16;
  const size_t before = descriptors_of(client.process().pid());
  for (int i = 0; i < calls; ++i)
    client.send(call_line(i, "run_shell", R"({"cmd":"echo n)" + std::to_string(i) + R"("})"));
  int done = 0;
  int busy = 0;
  for (int i = 0; i < calls; ++i) {
    const auto answer = client.receive(std::chrono::seconds(30));
    ASSERT_TRUE(answer) << i;
    const std::string text = text_of(*answer);
    const std::string number = std::to_string(static_cast<int>((*answer)["id"].number));
    done += text == "exit_code: 0\nstdout: n" + number + "\n\nstderr: " ? 1 : 0;
    busy += text.starts_with("busy: ") ? 1 : 0;
  }
  EXPECT_EQ(done + busy, calls);
  EXPECT_GE(done, 64);
  for (int i = 0; i < 100 && descriptors_of(client.process().pid()) > before + few; ++i)
    std::this_thread::sleep_for(Millis(20));
  EXPECT_LE(descriptors_of(client.process().pid()), before + few);
}

// What is not shown of a long output is in the record, not in the server.
TEST_F(McpLoad, OutputOfManyCallsIsNotKeptInMemory) {
  constexpr int calls = 32;
  McpClient client(scene);
  client.shake_hands();
  for (int i = 0; i < calls; ++i)
    client.send(call_line(
        i, "run_script", R"({"interpreter":"bash","code":"head -c 12000000 /dev/zero | tr '\\0' '\\001'"})"));
  std::string call_id;
  for (int i = 0; i < calls; ++i) {
    const auto answer = client.receive(std::chrono::seconds(60));
    ASSERT_TRUE(answer) << i;
    EXPECT_NE(text_of(*answer).find(" of 36000000 bytes cut; read_tool_result"), std::string::npos);
    call_id = (*answer)["result"]["_meta"]["cloche/call_id"].string;
  }
  EXPECT_LT(client.most_memory_bytes(), 192 * mebibyte);
  const Json last = client.ask(
      "\"r\"", "tools/call",
      call_params("read_tool_result", R"({"call_id":")" + call_id + R"(","offset":12000010,"limit":100})"));
  EXPECT_NE(text_of(last).find("\nstderr: "), std::string::npos) << client.last_line();
}

// Results are kept, and so there is a point from which no more calls begin until some are read.
TEST_F(McpLoad, WhatIsNotReadIsBoundedAndNothingOfItIsLost) {
  constexpr int requests = 500;
  scene.write("workspace/big", std::string(30'000, 'x'));
  McpClient client(scene);
  client.shake_hands();
  std::thread sender([&] {
    for (int i = 0; i < requests; ++i) client.send(call_line(i, "read_artifact", R"({"path":"big"})"));
  });
  std::this_thread::sleep_for(std::chrono::seconds(2));
  EXPECT_LT(client.most_memory_bytes(), 128 * mebibyte);
  size_t results = 0;
  for (int i = 0; i < requests; ++i) {
    const auto answer = client.receive(std::chrono::seconds(30));
    if (!answer) break;
    results += answer->has("result") ? 1 : 0;
  }
  sender.join();
  EXPECT_EQ(results, static_cast<size_t>(requests)) << "whoever is made to wait is not refused";
  EXPECT_LT(client.most_memory_bytes(), 192 * mebibyte);
}

}  // namespace
}  // namespace cloche::test
