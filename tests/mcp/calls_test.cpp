// What an agent does all day: calls, their progress, their cancellation, lists, and a skill that narrows
// them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "mcp/driver.hpp"

namespace cloche::test {
namespace {

class McpCalls : public testing::TestWithParam<As> {
 protected:
  McpScene scene{GetParam()};
};

TEST_P(McpCalls, ACommandAFileAndARefusal) {
  McpClient client(scene);
  client.shake_hands();
  const Json ran = client.ask("1", "tools/call", call_params("run_shell", R"({"cmd":"echo hi"})"));
  EXPECT_EQ(text_of(ran), "exit_code: 0\nstdout: hi\n\nstderr: ");
  EXPECT_FALSE(ran["result"]["isError"].boolean);
  EXPECT_FALSE(ran["result"].has("structuredContent")) << "some clients would show a model nothing else";
  const Json wrote =
      client.ask("2", "tools/call", call_params("write_artifact", R"({"path":"a/b","content":"x"})"));
  EXPECT_FALSE(wrote["result"]["isError"].boolean) << client.last_line();
  EXPECT_EQ(read_file(scene.workspace() / "a/b"), "x");
  const Json refused =
      client.ask("3", "tools/call", call_params("read_artifact", R"({"path":"/etc/passwd"})"));
  EXPECT_TRUE(refused["result"]["isError"].boolean);
  EXPECT_TRUE(text_of(refused).starts_with("refused by path: ")) << text_of(refused);
  const Json bad = client.ask("4", "tools/call", call_params("read_artifact", R"({"path":7})"));
  EXPECT_TRUE(text_of(bad).starts_with("refused by schema: ")) << text_of(bad);
}

// DESIGN.md: the ceiling at this door is `any`, and a call without a profile has all of it.
TEST_P(McpCalls, WithoutAProfileTheWholeCeilingCounts) {
  const std::string git = call_params("run_shell", R"({"cmd":"git --version"})");
  McpClient open(scene);
  open.shake_hands();
  EXPECT_TRUE(text_of(open.ask("1", "tools/call", git)).starts_with("exit_code: 0"));
  McpClient narrow(scene, {"--commands", "passive"});
  narrow.shake_hands();
  EXPECT_TRUE(text_of(narrow.ask("1", "tools/call", git)).starts_with("refused by shape: "));
}

// DESIGN.md, file tools: an agent may write the dot-files that the host does not execute.
TEST_P(McpCalls, DotfilesAreWrittenAndProtectedOnesAreNot) {
  const auto write = [](McpClient& client, const std::string& path) {
    return text_of(client.ask("1", "tools/call",
                              call_params("write_artifact", R"({"path":")" + path + R"(","content":"x"})")));
  };
  McpClient client(scene);
  client.shake_hands();
  for (const char* path : {".gitignore", ".github/workflows/ci.yml", ".env.example"}) {
    EXPECT_TRUE(write(client, path).starts_with("wrote ")) << path;
    EXPECT_TRUE(fs::exists(scene.workspace() / path)) << path;
  }
  for (const char* path : {".git/hooks/pre-commit", ".gitmodules", ".envrc", ".github/.git/config",
                           ".claude/settings.json", ".mcp.json", ".vscode/tasks.json", ".cloche/config.json"})
    EXPECT_TRUE(write(client, path).starts_with("refused by path: ")) << path;

  const fs::path skill = scene.write(
      "skills/s/SKILL.md", "---\nname: s\ndescription: d\ntool_loadout: [write_artifact]\n---\nText.\n");
  McpClient skilled(scene, {"--skill", skill});
  skilled.shake_hands();
  EXPECT_TRUE(write(skilled, ".gitignore").starts_with("refused by path: ")) << "a skill has to be told";
  scene.configure(R"({"dotfiles": "refuse"})");
  McpClient told(scene);
  told.shake_hands();
  EXPECT_TRUE(write(told, ".gitignore").starts_with("refused by path: ")) << "the operator's word counts";
  scene.configure(R"({"dotfiles": "allow"})");
  McpClient allowed(scene, {"--skill", skill});
  allowed.shake_hands();
  EXPECT_TRUE(write(allowed, ".gitignore").starts_with("wrote "));
}

TEST_P(McpCalls, OutputIsProgressWhileItRuns) {
  McpClient client(scene);
  client.shake_hands();
  client.send(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":)" +
              call_params("run_script", R"({"interpreter":"bash","code":"echo one; sleep 5"})",
                          R"("_meta":{"progressToken":"t"})") +
              "}");
  const auto progress = client.receive(std::chrono::seconds(4));
  ASSERT_TRUE(progress) << "the first line comes long before the end";
  EXPECT_EQ((*progress)["method"].string, "notifications/progress");
  EXPECT_EQ((*progress)["params"]["progressToken"].string, "t");
  EXPECT_EQ((*progress)["params"]["progress"].number, 4);
  EXPECT_EQ((*progress)["params"]["message"].string, "one\n");
}

TEST_P(McpCalls, ACallThatIsCalledOffEndsWithItsTreeAndIsNotAnswered) {
  scene.configure(R"({"writes": "live"})");  // its mark is seen while it runs
  McpClient client(scene);
  client.shake_hands();
  client.send(
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":)" +
      call_params(
          "run_script",
          R"({"interpreter":"bash","code":"touch begun; (sleep 1; touch late) & sleep 1; touch late"})") +
      "}");
  ASSERT_TRUE(wait_for_file(scene.workspace() / "begun"));
  client.send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  std::this_thread::sleep_for(Millis(1300));
  EXPECT_FALSE(fs::exists(scene.workspace() / "late"));
  client.ask("2", "ping");
  EXPECT_TRUE(client.messages().size() == 0) << "it was answered";
  // And the id is free again.
  EXPECT_TRUE(client.ask("1", "tools/call", call_params("run_shell", R"({"cmd":"true"})")).has("result"));
}

TEST_P(McpCalls, AWaitingCallIsCalledOffBeforeItBegins) {
  McpClient client(scene);
  client.shake_hands();
  for (int i = 0; i < 40; ++i)
    client.send(R"({"jsonrpc":"2.0","id":)" + std::to_string(i) + R"(,"method":"tools/call","params":)" +
                call_params("run_shell", R"({"cmd":"sleep 1"})") + "}");
  client.send(R"({"jsonrpc":"2.0","id":"w","method":"tools/call","params":)" +
              call_params("write_artifact", R"({"path":"never","content":""})") + "}");
  client.send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"w"}})");
  for (int i = 0; i < 40; ++i) client.answer(std::to_string(i));
  client.ask("\"p\"", "ping");
  EXPECT_FALSE(fs::exists(scene.workspace() / "never"));
}

TEST_P(McpCalls, ASkillShowsItsLoadoutAndTheGateHoldsItToThat) {
  const fs::path skill =
      scene.write("skills/review/SKILL.md",
                  "---\nname: review\ndescription: reads\ntool_loadout: [read_artifact]\n---\n"
                  "Read, and say what you think.\n");
  McpClient client(scene, {"--skill", skill});
  client.shake_hands();
  const Json tools = client.ask("1", "tools/list");
  ASSERT_EQ(tools["result"]["tools"].array.size(), 1U);
  EXPECT_EQ(tools["result"]["tools"].array[0]["name"].string, "read_artifact");
  const Json refused = client.ask("2", "tools/call", call_params("run_shell", R"({"cmd":"ls"})"));
  EXPECT_TRUE(text_of(refused).starts_with("refused by loadout: ")) << text_of(refused);
  const Json prompt = client.ask("3", "prompts/get", R"({"name":"review"})");
  EXPECT_EQ(prompt["result"]["messages"].array[0]["content"]["text"].string,
            "Read, and say what you think.\n");
}

TEST_P(McpCalls, TheTranscriptGrowsWithTheCalls) {
  McpClient client(scene);
  client.shake_hands();
  const Json list = client.ask("1", "resources/list");
  ASSERT_EQ(list["result"]["resources"].array.size(), 1U);
  const std::string uri = list["result"]["resources"].array[0]["uri"].string;
  const auto read = [&](const std::string& id) {
    return client.ask(id, "resources/read", R"({"uri":")" + uri + "\"}")["result"]["contents"]
        .array[0]["text"]
        .string;
  };
  EXPECT_EQ(read("2"), "");
  client.ask("3", "tools/call", call_params("run_shell", R"({"cmd":"echo marker"})"));
  EXPECT_NE(read("4").find("echo marker"), std::string::npos);
  EXPECT_EQ(code_of(client.ask("5", "resources/read", R"({"uri":"file:///etc/passwd"})")), -32002);
  EXPECT_EQ(code_of(client.ask("6", "resources/read", stateless(R"({"uri":"file:///etc/passwd"})"))), -32602);
}

// Whose name is in a commit: the operator's, whose home no command sees; a repository's own word counts
// first, and what else stands in that file is nobody's business.
TEST_P(McpCalls, ACommitHasTheOperatorsName) {
  scene.write("home/.gitconfig",
              "[user]\n\tname = Ada \\\"A\\\" Lovelace\n\temail = ada@example.org\n"
              "[alias]\n\thidden = !true\n[credential]\n\thelper = operators\n");
  McpClient client(scene);
  client.shake_hands();
  const auto script = [&](const std::string& id, const std::string& code) {
    return text_of(client.ask(
        id, "tools/call", call_params("run_script", R"({"interpreter":"bash","code":")" + code + R"("})")));
  };
  EXPECT_NE(
      script("1", "git init -q r && cd r && git commit --allow-empty -qm x && git log --format=%an,%ae,%cn")
          .find(R"(stdout: Ada "A" Lovelace,ada@example.org,Ada "A" Lovelace)"),
      std::string::npos)
      << client.last_line();
  EXPECT_NE(script("2",
                   "git init -q s && cd s && git config user.email repo@example.org && "
                   "git commit --allow-empty -qm x && git log --format=%an,%ae")
                .find(R"(stdout: Ada "A" Lovelace,repo@example.org)"),
            std::string::npos)
      << client.last_line();
  const std::string rest =
      script("3", "git config --list; git config --global user.name Grace; git config user.name");
  EXPECT_EQ(rest.find("hidden"), std::string::npos) << rest;
  EXPECT_EQ(rest.find("operators"), std::string::npos) << rest;
  EXPECT_NE(rest.find("Grace"), std::string::npos) << rest;
}

// Some clients show a model the structured content and no text, so only what declares one has it.
TEST_P(McpCalls, TextToolsGiveTextAndExecutorsThatDeclareItGiveBoth) {
  const auto executor = [&](const std::string& name, const std::string& schema) {
    scene.write("executors/" + name + "/manifest.json",
                R"({"name": ")" + name + R"(", "description": "d", "input_schema": {"type": "object"}, )" +
                    schema + R"("code": "tool.py", "capabilities": []})");
    scene.write("executors/" + name + "/tool.py", "print('{\"sum\": 3}')\n");
  };
  executor("typed", R"("output_schema": {"type": "object"}, )");
  executor("untyped", "");
  scene.configure(R"({"approved_executors": ["typed", "untyped"]})");
  McpClient client(scene, {"--executors", (scene.root() / "executors").string()});
  client.shake_hands();
  const Json list = client.ask("0", "tools/list");
  for (const auto& tool : list["result"]["tools"].array)
    EXPECT_EQ(tool.has("outputSchema"), tool["name"].string == "typed") << tool["name"].string;
  const Json typed = client.ask("1", "tools/call", call_params("typed", "{}"));
  EXPECT_EQ(typed["result"]["structuredContent"]["sum"].number, 3) << client.last_line();
  const Json untyped = client.ask("2", "tools/call", call_params("untyped", "{}"));
  EXPECT_EQ(text_of(untyped), "{\"sum\": 3}\n");
  EXPECT_FALSE(untyped["result"].has("structuredContent"));
  const Json ran = client.ask(
      "3", "tools/call", call_params("run_script", R"({"interpreter":"bash","code":"echo x > .envrc"})"));
  EXPECT_NE(text_of(ran).find("not in the project: .envrc"), std::string::npos) << text_of(ran);
  EXPECT_FALSE(ran["result"].has("structuredContent"));
}

TEST_P(McpCalls, WhatAScriptLeavesInTheBackgroundIsJudgedToo) {
  McpClient client(scene);
  client.shake_hands();
  const std::string arguments =
      R"({"interpreter": "bash", "code": ")" + std::string(leaves_a_writer) + R"("})";
  const Json ran = client.ask("1", "tools/call", call_params("run_script", arguments));
  EXPECT_NE(text_of(ran).find("not in the project: deep/.envrc: direnv runs it"), std::string::npos)
      << text_of(ran);
  EXPECT_EQ(read_file(scene.workspace() / "deep/er/plain"), "plain\n");
  for (const char* name : {"deep/.envrc", "deep/er/.envrc"})
    EXPECT_FALSE(fs::exists(scene.workspace() / name)) << name;
}

TEST_P(McpCalls, AnImageComesBackAsOne) {
  const std::string png = std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16) + "pixels";
  scene.write("workspace/a.png", png);
  scene.write("workspace/text.png", "only text");
  EXPECT_EQ(::symlink("/etc/passwd", (scene.workspace() / "out.png").c_str()), 0);
  McpClient client(scene);
  client.shake_hands();
  for (const std::string& params : {call_params("read_artifact", R"({"path":"a.png"})"),
                                    stateless(call_params("read_artifact", R"({"path":"a.png"})"))}) {
    const Json read = client.ask("1", "tools/call", params);
    const auto& content = read["result"]["content"].array;
    ASSERT_EQ(content.size(), 2U) << client.last_line();
    EXPECT_EQ(content[0]["text"].string, "[a.png is an image (image/png, 22 bytes)]");
    EXPECT_EQ(content[1]["type"].string, "image");
    EXPECT_EQ(content[1]["mimeType"].string, "image/png");
    EXPECT_EQ(content[1]["data"].string, "iVBORw0KGgoAAAANSUhEUnBpeGVscw==");
  }
  const Json text = client.ask("2", "tools/call", call_params("read_artifact", R"({"path":"text.png"})"));
  EXPECT_EQ(text["result"]["content"].array.size(), 1U);
  EXPECT_EQ(text_of(text), "only text");
  EXPECT_TRUE(
      client
          .ask("3", "tools/call", call_params("read_artifact", R"({"path":"out.png"})"))["result"]["isError"]
          .boolean);
  const Ran called = run(scene.command({"call", "read_artifact", R"({"path":"a.png"})"}));
  EXPECT_EQ(called.out, "[a.png is an image (image/png, 22 bytes)]\n") << "another front end says so";
}

TEST_P(McpCalls, CallsOfOneTaskShareAHome) {
  McpClient client(scene, {"--task", "T-1"});
  client.shake_hands();
  const auto shell = [&](const std::string& id, const std::string& cmd) {
    return text_of(client.ask(
        id, "tools/call", call_params("run_script", R"({"interpreter":"bash","code":")" + cmd + R"("})")));
  };
  shell("1", "echo kept > ~/file");
  EXPECT_NE(shell("2", "cat ~/file").find("stdout: kept"), std::string::npos);
}

// Clients that give up after a minute without a word keep waiting.
TEST(McpSilence, ASilentCallSaysThatItGoesOn) {
  McpScene scene;
  McpClient client(scene);
  client.shake_hands();
  client.send(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":)" +
              call_params("run_shell", R"({"cmd":"sleep 21"})", R"("_meta":{"progressToken":"t"})") + "}");
  client.send(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":)" +
              call_params("run_shell", R"({"cmd":"sleep 21"})") + "}");
  client.answer("1", std::chrono::seconds(40));
  client.answer("2", std::chrono::seconds(40));
  double last = 0;
  int heard = 0;
  for (const auto& message : client.messages()) {
    if (message["method"].string != "notifications/progress") continue;
    ++heard;
    EXPECT_EQ(message["params"]["progressToken"].string, "t") << "only who asked for it hears of it";
    EXPECT_GT(message["params"]["progress"].number, last);
    last = message["params"]["progress"].number;
  }
  EXPECT_EQ(heard, 2);
}

INSTANTIATE_TEST_SUITE_P(As, McpCalls, testing::ValuesIn(identities()),
                         [](const auto& each) { return name_of(each.param); });

}  // namespace
}  // namespace cloche::test
