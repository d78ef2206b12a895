// A closed stdin, a signal or a client that is gone ends everything within a second.
#include <gtest/gtest.h>
#include <signal.h>

#include <thread>

#include "mcp/driver.hpp"

namespace cloche::test {
namespace {

constexpr Millis one_second{1000};

class McpEnding : public testing::Test {
 protected:
  McpEnding() { scene.configure(R"({"writes": "live"})"); }  // marks of a call are seen while it runs
  // With calls under way that would take long and leave a mark.
  void begin(McpClient& client, int calls = 1) {
    client.shake_hands();
    client.warm_up();
    for (int i = 0; i < calls; ++i) {
      const std::string n = std::to_string(i);
      client.send(R"({"jsonrpc":"2.0","id":)" + n + R"(,"method":"tools/call","params":)" +
                  call_params("run_script",
                              R"({"interpreter":"bash","code":"touch begun)" + n +
                                  R"(; sleep 3; touch late)" + n + R"("})",
                              R"("_meta":{"progressToken":)" + n + "}") +
                  "}");
    }
    for (int i = 0; i < calls; ++i)
      ASSERT_TRUE(wait_for_file(scene.workspace() / ("begun" + std::to_string(i))));
  }
  void expect_nothing_late() {
    std::this_thread::sleep_for(Millis(3300));
    for (const auto& entry : fs::directory_iterator(scene.workspace()))
      EXPECT_FALSE(entry.path().filename().string().starts_with("late")) << entry.path();
  }
  McpScene scene;
};

TEST_F(McpEnding, AClosedInputEndsWhatRunsAndIsAnswered) {
  McpClient client(scene);
  begin(client, 3);
  client.process().close_input();
  for (int i = 0; i < 3; ++i) {
    const Json answer = client.answer(std::to_string(i), one_second);
    EXPECT_TRUE(answer["result"]["isError"].boolean);
    EXPECT_NE(text_of(answer).find("cancelled"), std::string::npos) << text_of(answer);
  }
  EXPECT_LT(client.time_to_end(), one_second);
  expect_nothing_late();
}

TEST_F(McpEnding, WhatEndsSoonIsStillAnswered) {
  McpClient client(scene);
  client.shake_hands();
  client.warm_up();
  client.send(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":)" +
              call_params("run_shell", R"({"cmd":"sleep 0.2"})") + "}");
  client.process().close_input();
  EXPECT_TRUE(text_of(client.answer("1")).starts_with("exit_code: 0"));
  EXPECT_LT(client.time_to_end(), one_second);
  EXPECT_EQ(client.process().finish().exit_code, 0);
}

TEST_F(McpEnding, AClientThatIsGone) {
  McpClient client(scene);
  begin(client);
  client.process().close_output();
  client.process().close_input();
  EXPECT_LT(client.time_to_end(), one_second);
  expect_nothing_late();
}

// It says nothing more, and neither do we: that nobody can hear us is seen all the same.
TEST_F(McpEnding, AClientThatOnlyCannotHearUs) {
  McpClient client(scene);
  begin(client);
  client.process().close_output();
  EXPECT_LT(client.time_to_end(), one_second);
  expect_nothing_late();
}

TEST_F(McpEnding, AClosedInputWhileNobodyReads) {
  McpClient client(scene);
  begin(client);
  for (int i = 0; i < 100; ++i)  // more answers than a pipe takes
    client.send(R"({"jsonrpc":"2.0","id":"l)" + std::to_string(i) + R"(","method":"tools/list"})");
  std::this_thread::sleep_for(Millis(200));
  client.process().close_input();
  EXPECT_LT(client.time_to_end(), one_second);
  expect_nothing_late();
}

TEST_F(McpEnding, ASignal) {
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    McpClient client(scene);
    begin(client);
    ::kill(client.process().pid(), number);
    EXPECT_LT(client.time_to_end(), one_second) << number;
    for (const auto& entry : fs::directory_iterator(scene.workspace())) fs::remove(entry);
  }
}

// However much there would be to write down; and what is written is a record that holds.
TEST_F(McpEnding, CallsThatHavePrintedMuch) {
  constexpr int calls = 32;
  McpClient client(scene, {"--task", "t"});
  client.shake_hands();
  client.warm_up();
  for (int i = 0; i < calls; ++i) {
    const std::string n = std::to_string(i);
    client.send(
        R"({"jsonrpc":"2.0","id":)" + n + R"(,"method":"tools/call","params":)" +
        call_params("run_script", R"({"interpreter":"bash","code":"head -c 3000000 /dev/zero | tr '\\0' a; )"
                                  R"(touch begun)" +
                                      n + R"(; sleep 30"})") +
        "}");
  }
  for (int i = 0; i < calls; ++i)
    ASSERT_TRUE(wait_for_file(scene.workspace() / ("begun" + std::to_string(i)), std::chrono::seconds(60)));
  client.process().close_input();
  EXPECT_LT(client.time_to_end(), one_second);
  const Ran verified = run(scene.command({"log", "verify", "last"}));
  EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
}

// What was read and had not begun is told so.
TEST_F(McpEnding, WhatWaitsIsAnsweredWithAnError) {
  scene.configure(R"({"calls": {"at_once": 16}})");
  McpClient client(scene);
  client.shake_hands();
  client.warm_up();
  for (int i = 0; i < 60; ++i)
    client.send(R"({"jsonrpc":"2.0","id":)" + std::to_string(i) + R"(,"method":"tools/call","params":)" +
                call_params("run_shell", R"({"cmd":"sleep 5"})") + "}");
  std::this_thread::sleep_for(Millis(300));
  client.process().close_input();
  const Json last = client.answer("59", one_second);
  EXPECT_EQ(code_of(last), -32603) << client.last_line();
  EXPECT_LT(client.time_to_end(), one_second);
}

}  // namespace
}  // namespace cloche::test
