// The $HOME and the /tmp that the calls of one server share: who has them, who does not, and where they go.
#include <gtest/gtest.h>
#include <signal.h>

#include "mcp/driver.hpp"

namespace cloche::test {
namespace {

class McpSessionHome : public testing::TestWithParam<As> {
 protected:
  static std::string script(const std::string& code) {
    return call_params("run_script", R"({"interpreter":"bash","code":")" + code + R"("})");
  }
  static std::string shell(const std::string& words) {
    return call_params("run_shell", R"({"argv":[)" + words + "]}");
  }
  std::string said(McpClient& client, const std::string& params) {
    return text_of(client.ask(std::to_string(++id), "tools/call", params));
  }
  bool sees(McpClient& client, const std::string& params) {
    const std::string text = said(client, params);
    EXPECT_NE(text.find("stdout: "), std::string::npos) << text;
    return text.find("left-here") != std::string::npos;
  }
  // What lies in the state for servers that live or were killed.
  std::vector<std::string> homes() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(scene.root() / "home/state/cloche/sessions"))
      if (entry.is_directory()) names.push_back(entry.path().filename());
    return names;
  }

  const std::string leave = script("echo left-here > ~/a; echo left-here > /tmp/b");
  const std::string look = script("cat ~/a /tmp/b");
  McpScene scene{GetParam()};
  int id = 0;
};

TEST_P(McpSessionHome, LastsFromCallToCallOfOneServer) {
  McpClient one(scene);
  one.shake_hands();
  said(one, leave);
  EXPECT_EQ(said(one, look), "exit_code: 0\nstdout: left-here\nleft-here\n\nstderr: ");
  EXPECT_TRUE(sees(one, shell(R"("bash","-c","cat ~/a")")));
  McpClient two(scene);
  two.shake_hands();
  EXPECT_FALSE(sees(two, look)) << "another server has another one";
  EXPECT_TRUE(sees(one, look)) << "whose start has left this one alone";
  EXPECT_EQ(homes().size(), 2U);
}

TEST_P(McpSessionHome, NoCallThatIsNoneOfTheSessionHasIt) {
  McpClient client(scene);
  client.shake_hands();
  said(client, leave);
  EXPECT_FALSE(sees(client, stateless(look))) << "a stateless message belongs to no session";
  EXPECT_FALSE(sees(
      client,
      call_params("run_python", R"-({"code":"import os,glob\nprint(glob.glob(os.path.expanduser('~/*')),)-"
                                R"-( [open(f).read() for f in glob.glob('/tmp/b')])"})-")));
  scene.write("executors/looks/manifest.json",
              R"({"name":"looks","description":"d","input_schema":{"type":"object"},"code":"tool.py",)"
              R"("capabilities":[]})");
  scene.write("executors/looks/tool.py",
              "import glob, json, os\nprint(json.dumps([open(f).read() for f in glob.glob('/tmp/b') + "
              "glob.glob(os.path.expanduser('~/a'))]))\n");
  McpClient other(scene, {"--executors", (scene.root() / "executors").string(), "--autonomy", "full"});
  other.shake_hands();
  said(other, leave);
  EXPECT_EQ(said(other, call_params("looks", "{}")), "[]\n");
}

// What was left there was no part of the question.
TEST_P(McpSessionHome, ACallThatWasAskedAboutHasAFreshOne) {
  scene.configure(R"({"permissions":{"default":"allow","rules":[
    {"tool":"run_shell","args":{"cmd":"asked"},"action":"ask","reason":"it is asked about"}]}})");
  McpClient client(scene);
  client.shake_hands(R"({"elicitation":{}})");
  said(client, leave);
  said(client, script("echo 'echo left-here' > ~/.bashrc"));
  client.send(R"({"jsonrpc":"2.0","id":"q","method":"tools/call","params":)" +
              shell(R"("bash","-c","cat ~/a ~/.bashrc /tmp/b; echo asked > ~/after")") + "}");
  const auto question = client.receive();
  ASSERT_TRUE(question);
  client.send(R"({"jsonrpc":"2.0","id":")" + (*question)["id"].string +
              R"(","result":{"action":"accept","content":{"answer":"once"}}})");
  const std::string text = text_of(client.answer("\"q\""));
  EXPECT_NE(text.find("exit_code: 0"), std::string::npos) << text;
  EXPECT_EQ(text.find("left-here"), std::string::npos) << text;
  EXPECT_EQ(said(client, script("ls ~/after")).find("exit_code: 0"), std::string::npos)
      << "and what it left, no other call has";
}

TEST_P(McpSessionHome, ACallWithHostsThatAnEarlierOneHadNotHasAFreshOne) {
  scene.configure(R"({"rules":[{"tool":"run_script","profile":"workspace-write"}]})");
  const fs::path skill =
      scene.write("skills/net/SKILL.md",
                  "---\nname: net\ndescription: d\ncommands: full\n"
                  "tool_loadout: [run_shell, run_script]\nneeds_network: [example.org]\n---\n");
  McpClient client(scene, {"--skill", skill, "--autonomy", "full"});
  client.shake_hands();
  const Json list = client.ask("\"l\"", "tools/list");
  for (const auto& tool : list["result"]["tools"].array)
    ASSERT_EQ(tool["annotations"]["openWorldHint"].boolean, tool["name"].string == "run_script")
        << "only this one has the host: " << client.last_line();
  const std::string look_by_shell = shell(R"-("python3","-c","print(open('/home/cloche/a').read())")-");
  said(client, shell(R"-("python3","-c","open('/home/cloche/a','w').write('left-here')")-"));
  EXPECT_TRUE(sees(client, look_by_shell));
  EXPECT_FALSE(sees(client, script("cat ~/a")));
  EXPECT_TRUE(sees(client, look_by_shell));
}

TEST_P(McpSessionHome, OneThatIsTooLargeIsEmptied) {
  McpClient client(scene, {"--tmp", "2M"});  // a home may be four times as large
  client.shake_hands();
  const std::string text = said(client, script("head -c 30000000 /dev/zero > ~/large; sleep 5"));
  EXPECT_NE(text.find("had become too large and are emptied"), std::string::npos) << text;
  EXPECT_EQ(said(client, script("ls ~; echo fine")), "exit_code: 0\nstdout: fine\n\nstderr: ");
}

TEST_P(McpSessionHome, EndsWithTheServerAndWhatAKilledOneLeftWithTheNext) {
  {
    McpClient killed(scene);
    killed.shake_hands();
    said(killed, script("mkdir ~/closed; echo left-here > ~/closed/file; chmod 0 ~/closed ~"));
    ::kill(killed.process().pid(), SIGKILL);
  }
  ASSERT_EQ(homes().size(), 1U);
  const std::string left = homes()[0];
  {
    McpClient next(scene);
    next.shake_hands();
    EXPECT_FALSE(sees(next, look));
    ASSERT_EQ(homes().size(), 1U);
    EXPECT_NE(homes()[0], left);
    next.process().close_input();
    EXPECT_LT(next.time_to_end(), Millis(1000));
  }
  EXPECT_EQ(homes().size(), 0U);
}

TEST_P(McpSessionHome, ATaskThatTheOperatorNamedIsSharedAsBefore) {
  McpClient one(scene, {"--task", "T-1"});
  one.shake_hands();
  said(one, leave);
  McpClient two(scene, {"--task", "T-1"});
  two.shake_hands();
  EXPECT_TRUE(sees(two, look));
}

INSTANTIATE_TEST_SUITE_P(As, McpSessionHome, testing::ValuesIn(identities()),
                         [](const auto& each) { return name_of(each.param); });

}  // namespace
}  // namespace cloche::test
