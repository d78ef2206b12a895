// Rules and schemas in the way of a call: what the operator's files say is what `explain` says.
#include <gtest/gtest.h>

#include "../run/json.hpp"
#include "harness/harness.hpp"

namespace cloche::test {
namespace {

class RulesInExplain : public testing::Test {
 protected:
  RulesInExplain() {
    scene.write("config/cloche/config.json", R"({"permissions": {"rules": [
      {"tool": "run_shell", "args": {"cmd": "rm\\s+-rf|sudo"}, "action": "deny", "reason": "not here", "match": ["rm -rf x"]},
      {"tool": "run_shell", "args": {"cmd": "^(git|ls|cat|grep) "}, "action": "allow", "match": ["git status"]}],
      "default": "ask"}})");
  }
  Json explained(const std::string& arguments, std::vector<std::string> flags = {"--commands", "any"},
                 const std::string& tool = "run_shell") {
    flags.insert(flags.begin(), {cloche(), "explain", "call", tool, arguments, "--json"});
    const Ran ran = run({.argv = flags, .cwd = scene.workspace(), .env = environment()});
    const auto json = parse_json(ran.out);
    EXPECT_TRUE(json) << ran.out << ran.err;
    return json.value_or(Json{});
  }
  std::map<std::string, std::string> environment() {
    return {{"XDG_CONFIG_HOME", (scene.root() / "config").string()}};
  }
  Scene scene{As::self};
};

TEST_F(RulesInExplain, ARuleSetWorksUnderAny) {
  const std::pair<const char*, const char*> rows[] = {
      {R"({"cmd":"git status"})", "allow"},
      {R"({"argv":["git","status"]})", "allow"},
      {R"({"command":"git 'status'"})", "allow"},
      {R"({"cmd":"rm -rf x"})", "deny"},
      {R"({"argv":["rm","-rf","x"]})", "deny"},
      {R"({"cmd":"git status sudo"})", "deny"},
      {R"({"cmd":"make"})", "ask"},
      {R"({"argv":["make"]})", "ask"},
  };
  for (const auto& [arguments, decision] : rows) {
    EXPECT_EQ(explained(arguments)["decision"].string, decision) << arguments;
    EXPECT_EQ(explained(arguments, {"--commands", "any"}, "run_shell_command")["decision"].string, decision)
        << arguments;
  }
}

TEST_F(RulesInExplain, AnAllowOpensNoOtherGate) {
  EXPECT_EQ(explained(R"({"cmd":"cat /etc/passwd"})", {"--commands", "passive"})["decision"].string, "deny");
  EXPECT_EQ(explained(R"({"cmd":"git status"})", {"--commands", "full"})["decision"].string, "deny");
  EXPECT_EQ(explained(R"({"cmd":"ls | cat "})")["decision"].string, "deny");
}

TEST_F(RulesInExplain, AQuestionHasAPlanAndEndsWithZero) {
  const Ran ran =
      run({.argv = {cloche(), "explain", "call", "run_shell", R"({"cmd":"make"})", "--commands", "any"},
           .cwd = scene.workspace(),
           .env = environment()});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_NE(ran.out.find("verdict   ASK by rules\nruns      make\n"), std::string::npos) << ran.out;
}

TEST_F(RulesInExplain, TheSchemaSaysWhatIsWrong) {
  const Json json = explained(R"({"cmd":"git status","timeout_s":0})");
  EXPECT_EQ(json["gates"].array.at(1)["decision"].string, "deny");
  EXPECT_NE(json["gates"].array.at(1)["reason"].string.find("timeout_s"), std::string::npos);
  for (const char* arguments :
       {R"({"cmd":"ls x","argv":["ls"]})", R"({})", R"([])", R"({"cmd":1})", R"({"cmd":"ls x","more":1})"})
    EXPECT_EQ(explained(arguments)["gates"].array.at(1)["decision"].string, "deny") << arguments;
}

TEST_F(RulesInExplain, AProjectOnlyTightens) {
  scene.write("workspace/.cloche/config.json", R"({"permissions": {"default": "allow", "rules": [
    {"tool": "run_shell", "args": {"cmd": "^git "}, "action": "deny"}]}})");
  EXPECT_EQ(explained(R"({"cmd":"git status"})")["decision"].string, "deny");
  EXPECT_EQ(explained(R"({"cmd":"rm -rf x"})")["decision"].string, "deny");
  EXPECT_EQ(explained(R"({"cmd":"make"})")["decision"].string, "ask");
}

TEST_F(RulesInExplain, AFileThatCannotBeReadStopsEveryCall) {
  scene.write("config/cloche/config.json", "{");
  const Ran ran = run({.argv = {cloche(), "explain", "call", "run_shell", R"({"cmd":"ls"})"},
                       .cwd = scene.workspace(),
                       .env = environment()});
  EXPECT_EQ(ran.exit_code, 125) << ran.out;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"explain", "call", "run_shell", "{}", "--json"},
        {"explain", "run", "--json", "--", "ls"},
        {"run", "--dry-run", "--json", "--", "ls"}}) {
    std::vector<std::string> argv = words;
    argv.insert(argv.begin(), cloche());
    const Ran as_json = run({.argv = argv, .cwd = scene.workspace(), .env = environment()});
    EXPECT_EQ(as_json.exit_code, 125) << words[0];
    const auto json = parse_json(as_json.out);
    ASSERT_TRUE(json) << as_json.out;
    EXPECT_EQ((*json)["decision"].string, "deny");
    EXPECT_NE((*json)["reason"].string.find("config.json:1"), std::string::npos) << as_json.out;
  }
}

TEST_F(RulesInExplain, TestChecksTheRulesToo) {
  const Ran good = run({.argv = {cloche(), "test"}, .cwd = scene.workspace(), .env = environment()});
  EXPECT_EQ(good.exit_code, 0) << good.out;
  EXPECT_NE(good.out.find("config.json: 2 rules, 2 examples"), std::string::npos) << good.out;
  scene.write("bad.json",
              "{\"permissions\": {\"rules\": [\n{\"tool\": \"run_shell\", \"args\": {\"cmd\": \"^git \"}, "
              "\"action\": \"deny\",\n"
              "\"match\": [\"make\"]}]}}");
  const Ran bad = run({.argv = {cloche(), "test", "bad.json"}, .cwd = scene.root(), .env = environment()});
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_NE(bad.out.find("bad.json:3"), std::string::npos) << bad.out;
}

TEST_F(RulesInExplain, RulesApplyToAnOperatorsCommand) {
  scene.write(
      "config/cloche/config.json",
      R"({"permissions": {"rules": [{"tool": "run_shell", "args": {"cmd": "^ls"}, "action": "deny"}], "default": "allow"}})");
  const std::vector<std::string> words = {cloche(), "explain", "run", "--", "ls"};
  EXPECT_EQ(run({.argv = words, .cwd = scene.workspace(), .env = environment()}).exit_code, 126);
}

}  // namespace
}  // namespace cloche::test
