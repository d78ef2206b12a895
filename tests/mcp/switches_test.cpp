// The operator's switches at this door, end to end (docs/ladder.md has the table): an agent stands behind it,
// so a variable counts only where a file of the operator's says so. And what the tools say of themselves is
// what holds then.
#include <gtest/gtest.h>

#include "mcp/driver.hpp"

namespace cloche::test {
namespace {

constexpr const char* off_note = "isolation is off by the operator's own switch";

struct Row {
  const char* sandbox;  // CLOCHE_SANDBOX; nullptr: unset
  const char* require;  // CLOCHE_REQUIRE_SANDBOX
  const char* config;
  bool held;
};
const Row rows[] = {
    {nullptr, nullptr, "{}", true},
    {"off", nullptr, "{}", true},
    {"0", nullptr, R"({"allow_sandbox_off":false})", true},
    {"off", nullptr, R"({"allow_sandbox_off":true})", false},
    {"on", nullptr, R"({"allow_sandbox_off":true})", true},
    {nullptr, nullptr, R"({"enabled":false})", false},
    {"on", "0", R"({"enabled":false})", false},
    {"off", "1", R"({"allow_sandbox_off":true})", true},
    {"off", "1", R"({"enabled":false})", true},
    {nullptr, "1", "{}", true},
};

const Json& tool_in(const Json& list, const std::string& name) {
  static const Json none;
  for (const auto& tool : list["result"]["tools"].array) {
    if (tool["name"].string == name) return tool;
  }
  return none;
}

std::string hints_of(const Json& tool) {
  const Json& hints = tool["annotations"];
  std::string text = hints["readOnlyHint"].boolean ? "reads" : "writes";
  if (hints["openWorldHint"].boolean) text += " world";
  return text;
}

class McpSwitches : public testing::TestWithParam<As> {
 protected:
  McpScene scene{GetParam()};
};

TEST_P(McpSwitches, WhatHoldsAndWhatIsSaidOfIt) {
  const fs::path outside = scene.write("outside", "seen");
  const std::string look = call_params(
      "run_script", R"({"interpreter":"bash","code":"cat )" + outside.string() + R"( || echo held"})");
  for (const auto& row : rows) {
    const auto word = [](const char* value) { return value != nullptr ? value : ""; };
    const std::string name =
        word(row.sandbox) + std::string("/") + word(row.require) + "/" + std::string(row.config);
    scene.configure(row.config);
    scene.set("CLOCHE_SANDBOX", word(row.sandbox));
    scene.set("CLOCHE_REQUIRE_SANDBOX", word(row.require));
    McpClient client(scene);
    const Json welcome =
        client.ask("0", "initialize", R"({"protocolVersion":"2025-11-25","capabilities":{}})");
    const Json ran = client.ask("1", "tools/call", look);
    EXPECT_NE(text_of(ran).find(row.held ? "stdout: held" : "stdout: seen"), std::string::npos)
        << name << text_of(ran);
    EXPECT_EQ(text_of(ran).find(off_note) == std::string::npos, row.held) << name << text_of(ran);
    EXPECT_EQ(welcome["result"]["instructions"].string.find("kernel isolation") != std::string::npos,
              row.held);
    const Json list = client.ask("2", "tools/list");
    EXPECT_EQ(hints_of(tool_in(list, "run_python")), row.held ? "reads" : "writes world") << name;
    EXPECT_EQ(hints_of(tool_in(list, "run_script")), row.held ? "writes" : "writes world") << name;
    EXPECT_EQ(hints_of(tool_in(list, "read_artifact")), "reads") << name;
  }
}

// Whoever started the server reads stderr, and not what a model gets.
TEST_P(McpSwitches, ASwitchThatCountsOrDoesNotIsSaidOnceOnStderr) {
  const struct {
    const char* sandbox;
    const char* config;
    const char* note;  // nullptr: nothing is said of it
  } cases[] = {{"", "{}", nullptr},
               {"off", "{}", "CLOCHE_SANDBOX=off is not honoured for an agent"},
               {"off", R"({"allow_sandbox_off":true})", off_note},
               {"", R"({"enabled":false})", off_note}};
  for (const auto& row : cases) {
    scene.configure(row.config);
    scene.set("CLOCHE_SANDBOX", row.sandbox);
    const Ran ran = run(scene.command({"mcp"}));
    const std::string note = row.note != nullptr ? row.note : "CLOCHE_SANDBOX";
    const size_t first = ran.err.find(note);
    EXPECT_EQ(first != std::string::npos, row.note != nullptr) << row.config << ran.err;
    if (row.note == nullptr || first == std::string::npos) continue;
    EXPECT_EQ(ran.err.find(note, first + 1), std::string::npos) << "once: " << ran.err;
  }
}

// Some clients ask the model without a server's tools when it is not ready in time, and the first proof after
// a boot takes a while.
TEST_P(McpSwitches, TheToolsAreThereBeforeTheProofHasEnded) {
  const fs::path built = fs::path(cloche()).parent_path();
  fs::create_directories(scene.root() / "slow");
  for (const char* name : {"cloche", "cloche-jail"})
    fs::copy_file(built / name, scene.root() / "slow" / name);
  // It is ended after 20 seconds, which is longer than receive() waits.
  fs::permissions(scene.write("slow/cloche-probe", "#!/bin/sh\nexec sleep 60\n"), fs::perms(0755));
  scene.use_program(scene.root() / "slow/cloche");
  McpClient client(scene);
  client.send(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
              R"("capabilities":{}}})");
  ASSERT_TRUE(client.receive());
  client.send(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})");
  const auto list = client.receive();
  ASSERT_TRUE(list);
  EXPECT_EQ(tool_in(*list, "run_shell")["name"].string, "run_shell");
  ::kill(client.process().pid(), SIGTERM);  // which it does not let wait for the proof
  EXPECT_LT(client.time_to_end(), std::chrono::seconds(5));
}

TEST_P(McpSwitches, AValueThatMeansNothingRefuses) {
  scene.set("CLOCHE_SANDBOX", "perhaps");
  Command command = scene.command({"mcp"});
  command.input = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
  const Ran ran = run(command);
  EXPECT_EQ(ran.exit_code, 125);
  EXPECT_EQ(ran.out, "");
  EXPECT_NE(ran.err.find("CLOCHE_SANDBOX=perhaps means nothing"), std::string::npos) << ran.err;
}

// Where a session only reads, run_shell has what is passive, whatever the front end would let it have.
TEST_P(McpSwitches, UnderReadonlyTheToolsSayWhatRuns) {
  McpClient client(scene, {"--autonomy", "readonly"});
  client.shake_hands();
  const Json list = client.ask("1", "tools/list");
  const std::string shell = tool_in(list, "run_shell")["description"].string;
  EXPECT_TRUE(shell.starts_with("Runs one command that runs nothing of the workspace")) << shell;
  EXPECT_EQ(shell.find("run_script"), std::string::npos) << shell;
  EXPECT_EQ(shell.find("`profile`"), std::string::npos) << shell;
  EXPECT_NE(tool_in(list, "run_script")["description"].string.find("Scripts are refused"), std::string::npos);
  const std::string refused =
      text_of(client.ask("2", "tools/call", call_params("run_shell", R"({"cmd":"ls | wc"})")));
  EXPECT_TRUE(refused.starts_with("refused by no-shell: ")) << refused;
  EXPECT_EQ(refused.find("run_script"), std::string::npos) << refused;
}

TEST_P(McpSwitches, AToolThatReachesAHostSaysSo) {
  McpClient client(scene, {"--profile", "workspace-write", "--net", "x.invalid"});
  client.shake_hands();
  const Json list = client.ask("1", "tools/list");
  for (const char* name : {"run_shell", "run_script"})
    EXPECT_EQ(hints_of(tool_in(list, name)), "writes world") << name;
  EXPECT_EQ(hints_of(tool_in(list, "run_python")), "reads");
  EXPECT_NE(
      tool_in(list, "run_shell")["description"].string.find("hosts that the skill or the operator declares"),
      std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(As, McpSwitches, testing::ValuesIn(identities()),
                         [](const auto& each) { return name_of(each.param); });

}  // namespace
}  // namespace cloche::test
