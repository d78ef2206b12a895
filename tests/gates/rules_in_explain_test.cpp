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
      {R"({"cmd":"git status | cat x"})", "allow"},
      {R"({"cmd":"git status | sort"})", "ask"},
      {R"({"cmd":"git status; rm -rf x"})", "deny"},
      {R"({"cmd":"git status $X"})", "ask"},
      {R"({"cmd":"git status; rm -rf $X"})", "deny"},
  };
  for (const auto& [arguments, decision] : rows) {
    EXPECT_EQ(explained(arguments)["decision"].string, decision) << arguments;
    EXPECT_EQ(explained(arguments, {"--commands", "any"}, "run_shell_command")["decision"].string, decision)
        << arguments;
  }
}

// A person writes what they type; what runs has the hardening too. Each spelling of a call has one answer.
TEST_F(RulesInExplain, PatternsSeeWhatWasAskedAndWhatRuns) {
  scene.write("workspace/a.py", "");
  const struct {
    const char* pattern;
    const char* decision;  // of mypy a.py
  } rows[] = {
      {"^mypy a[.]py$", "deny"},                                       // as asked
      {"--config-file=", "deny"},                                      // as it runs
      {"^mypy --.* -- a[.]py$", "deny"},                               // the whole of it
      {"--install-types", "allow"},      {"a[.]py --cache", "allow"},  // in neither
  };
  for (const auto& row : rows) {
    for (const char* name : {"cmd", "command"}) {
      scene.write("config/cloche/config.json", std::string(R"({"permissions": {"default": "allow", "rules": [
            {"tool": "run_shell", "action": "deny", "args": {")") +
                                                   name + R"(": ")" + row.pattern + R"("}}]}})");
      for (const char* arguments : {R"({"cmd":"mypy a.py"})", R"({"cmd":"'mypy'  \"a.py\""})",
                                    R"({"command":"mypy a.py"})", R"({"argv":["mypy","a.py"]})"})
        EXPECT_EQ(explained(arguments, {"--commands", "passive"})["gates"].array.at(7)["decision"].string,
                  row.decision)
            << row.pattern << " " << arguments;
    }
  }
}

// Files come from elsewhere, and so do their names: nothing in them acts on the terminal of whoever reads it.
TEST_F(RulesInExplain, NothingOfAFileReachesATerminalRaw) {
  const std::string hostile = "\xe2\x80\xae\xe2\x80\xa8\xc2\x9b";  // right to left, a line, a C1 control
  const auto is_plain = [&](const std::string& text) {
    for (const char* raw : {"\xe2\x80\xae", "\xe2\x80\xa8", "\xc2\x9b", "\x1b", "\r"})
      if (text.find(raw) != std::string::npos) return false;
    return true;
  };
  const auto reads = [&](const std::vector<std::string>& argv) {
    const Ran ran = run({.argv = argv, .cwd = scene.workspace(), .env = environment()});
    return ran.out + ran.err;
  };
  const std::vector<std::string> explain = {cloche(),     "explain", "call", "run_shell", R"({"cmd":"ls x"})",
                                            "--commands", "any"};
  const std::string configs[] = {
      R"({"permissions": {"rules": [{"tool": "run_shell", "action": "deny", "reason": "a\u001b[2J\r\n@"}]}})",
      R"({"permissions": {"rules": [{"tool": "run_shell", "action": "deny", "args": {"cmd": "x|@"}}]}})",
      R"({"permissions": {"rules": [{"tool": "run_shell", "action": "deny", "args": {"cmd": "x("}, "@": 1}]}})",
      R"({"permissions": {"rules": [{"tool": "run_shell", "action": "deny", "args": {"cmd": "(@"}}]}})",
      R"({"permissions": {"rules": [{"tool": "@", "action": "deny"}]}})",
      R"({"permissions": {"rules": [{"tool": "*", "action": "@"}]}})",
      R"({"permissions": {"rules": [{"tool": "run_shell", "action": "deny", "args": {"cmd": "y"}, "match": ["@"]}]}})",
      R"({"@\u001b": 1})",
  };
  const std::string name = "f\x1b[2J\n" + hostile + ".json";
  for (std::string text : configs) {
    text.replace(text.find('@'), 1, hostile);
    scene.write("config/cloche/config.json", text);
    scene.write("workspace/" + name, text);
    EXPECT_TRUE(is_plain(reads(explain))) << text;
    const std::string tested = reads({cloche(), "test", name});
    EXPECT_TRUE(is_plain(tested)) << tested;
    EXPECT_EQ(tested.find("f\n"), std::string::npos) << "a name is no line of its own";
  }
}

TEST_F(RulesInExplain, AnAllowOpensNoOtherGate) {
  EXPECT_EQ(explained(R"({"cmd":"cat /etc/passwd"})", {"--commands", "passive"})["decision"].string, "deny");
  EXPECT_EQ(explained(R"({"cmd":"git status"})", {"--commands", "full"})["decision"].string, "deny");
  EXPECT_EQ(explained(R"({"cmd":"ls | cat "})", {"--commands", "full"})["decision"].string, "deny");
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
