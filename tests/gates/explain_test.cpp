// `cloche explain` from the outside: what it prints, and with which code it ends.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "../run/json.hpp"
#include "harness/harness.hpp"

namespace cloche::test {
namespace {

class Explain : public testing::TestWithParam<As> {
 protected:
  Ran explain(std::vector<std::string> words, std::optional<std::string> input = {}) {
    words.insert(words.begin(), {cloche(), "explain"});
    return run({.argv = words, .as = GetParam(), .cwd = scene.workspace(), .input = std::move(input)});
  }
  Ran call(const std::string& arguments, std::vector<std::string> flags = {}) {
    flags.insert(flags.begin(), {"call", "run_shell", arguments});
    return explain(flags);
  }
  Scene scene{GetParam()};
};

TEST_P(Explain, EveryGateALineAndTheVerdictLast) {
  const Ran ran = call(R"({"cmd":"cat ../../../etc/passwd"})");
  EXPECT_EQ(ran.exit_code, 126) << ran.err;
  EXPECT_NE(ran.out.find("loadout   allow   run_shell is in the default loadout\nschema    allow\nshape     "
                         "allow   passive: cat FILE..."),
            std::string::npos)
      << ran.out;
  EXPECT_NE(ran.out.find("share/commands/passive.json:"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("path      DENY    ../../../etc/passwd resolves to "), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("          fix     copy the file into the workspace, or grant it: --ro "),
            std::string::npos)
      << ran.out;
  EXPECT_TRUE(ran.out.ends_with("verdict   DENY by path\n")) << ran.out;
}

// Digests are libcrypto's, by functions that read no configuration: to open this one would wait for ever.
TEST_P(Explain, NothingInTheEnvironmentChangesADigest) {
  const std::string never_read = (scene.root() / "openssl.cnf").string();
  ASSERT_EQ(::mkfifo(never_read.c_str(), 0666), 0);
  const auto digest = [&](std::map<std::string, std::string> env) {
    const Ran ran = run({.argv = {cloche(), "explain", "call", "run_shell", R"({"cmd":"ls"})", "--json"},
                         .as = GetParam(),
                         .cwd = scene.workspace(),
                         .env = std::move(env)});
    const auto json = parse_json(ran.out);
    return json ? (*json)["plan_digest"].string : ran.err;
  };
  const std::string plain = digest({});
  EXPECT_TRUE(plain.starts_with("sha256:")) << plain;
  EXPECT_EQ(digest({{"OPENSSL_CONF", never_read}, {"OPENSSL_MODULES", scene.root().string()}}), plain);
  EXPECT_EQ(digest({{"OPENSSL_ia32cap", "0:0"}}), plain) << "without the processor's own instructions";
}

TEST_P(Explain, JsonHasTheDocumentedKeys) {
  for (const std::string arguments : {R"({"cmd":"ls"})", R"({"cmd":"rm x"})", R"({"cmd":"ls |"})", "{"}) {
    const Ran ran = call(arguments, {"--json"});
    const auto json = parse_json(ran.out);
    ASSERT_TRUE(json) << ran.out << ran.err;
    EXPECT_EQ(json->object.size(), 6U);
    const bool allowed = (*json)["decision"].string == "allow";
    EXPECT_EQ(ran.exit_code, allowed ? 0 : 126) << arguments;
    ASSERT_EQ((*json)["gates"].array.size(), 9U);
    for (const auto& gate : (*json)["gates"].array) {
      EXPECT_EQ(gate.object.size(), 6U);
      for (const std::string key : {"gate", "decision", "reason", "rule", "fix", "instead"})
        EXPECT_TRUE(gate[key].is(Json::Kind::string)) << key;
    }
    EXPECT_EQ((*json)["plan"].is(Json::Kind::object), allowed);
    EXPECT_EQ((*json)["plan_digest"].string.starts_with("sha256:"), allowed);
  }
}

TEST_P(Explain, TheHardenedCommandIsShown) {
  scene.write("workspace/a.py", "x = 1\n");
  const auto json = parse_json(call(R"({"cmd":"python3 -m py_compile a.py"})", {"--json"}).out);
  ASSERT_TRUE(json);
  std::vector<std::string> argv;
  for (const auto& word : (*json)["plan"]["argv"].array) argv.push_back(word.string);
  EXPECT_EQ(argv, (std::vector<std::string>{"python3", "-I", "-B", "/run/cloche/py_compile.py", "a.py"}));
}

TEST_P(Explain, ArgumentsFromStdinAndBothNames) {
  EXPECT_EQ(explain({"call", "run_shell", "-"}, R"({"cmd":"ls"})").exit_code, 0);
  EXPECT_EQ(explain({"call", "run_shell_command", R"({"command":"ls"})"}).exit_code, 0);
  EXPECT_EQ(explain({"call", "run_shell", "-"}, "nonsense").exit_code, 126);
  EXPECT_EQ(explain({"call", "unknown", "{}"}).exit_code, 126);
}

TEST_P(Explain, TheProfileIsTheLesserOfCeilingAndWish) {
  scene.write("workspace/a.py", "x = 1\n");
  const std::string plain = R"({"cmd":"python3 a.py"})";
  const std::string wish = R"({"cmd":"python3 a.py","profile":"full"})";
  const std::string more = R"({"cmd":"git log","profile":"any"})";
  EXPECT_EQ(call(plain).exit_code, 126) << "a call has passive when it asks for nothing";
  EXPECT_EQ(call(wish).exit_code, 0);
  EXPECT_EQ(call(wish, {"--commands", "passive"}).exit_code, 126);
  EXPECT_EQ(call(plain, {"--commands", "full"}).exit_code, 0);
  EXPECT_EQ(call(more).exit_code, 126) << "any is the operator's to give";
  EXPECT_EQ(call(more, {"--commands", "full"}).exit_code, 126);
  EXPECT_EQ(call(more, {"--commands", "any"}).exit_code, 0);
}

TEST_P(Explain, WhoMayOnlyReadRunsNoCodeAndWritesNothing) {
  scene.write("workspace/a.py", "x = 1\n");
  EXPECT_EQ(call(R"({"cmd":"python3 a.py"})", {"--commands", "any", "--autonomy", "readonly"}).exit_code,
            126);
  const auto json = parse_json(call(R"({"cmd":"ls"})", {"--autonomy", "readonly", "--json"}).out);
  ASSERT_TRUE(json);
  for (const auto& entry : (*json)["plan"]["view"].array)
    EXPECT_EQ(entry["access"].string.find("write"), std::string::npos) << entry["target"].string;
  EXPECT_GT((*json)["plan"]["view"].array.size(), 5U);
}

TEST_P(Explain, AGrantOpensAPath) {
  scene.write("beside/data", "x\n");
  const std::string path = (scene.root() / "beside/data").string();
  const std::string arguments = R"({"argv":["cat",")" + path + "\"]}";
  EXPECT_EQ(call(arguments).exit_code, 126);
  EXPECT_EQ(call(arguments, {"--ro", path}).exit_code, 0);
}

// What is judged is what the command sees: the target of SRC:DST, and not its source.
TEST_P(Explain, AGrantThatIsShownElsewhereOpensThatPlace) {
  scene.write("beside/secret", "x\n");
  fs::create_symlink("/etc/passwd", scene.root() / "beside/out");
  const std::string source = (scene.root() / "beside").string();
  const std::vector<std::string> grant = {"--ro", source + ":/data"};
  const std::string at_source = R"({"argv":["cat",")" + source + "/secret\"]}";
  EXPECT_EQ(call(R"({"cmd":"cat /data/secret"})").exit_code, 126);
  EXPECT_EQ(call(R"({"cmd":"cat /data/secret"})", grant).exit_code, 0);
  EXPECT_EQ(call(R"({"cmd":"ls /data"})", grant).exit_code, 0);
  EXPECT_EQ(call(at_source, grant).exit_code, 126);
  EXPECT_EQ(call(R"({"cmd":"cat /data/out"})", grant).exit_code, 126);
  EXPECT_EQ(call(R"({"cmd":"cat /data/../etc/passwd"})", grant).exit_code, 126);
  EXPECT_EQ(call(R"({"cmd":"cat /database/secret"})", grant).exit_code, 126);
}

TEST_P(Explain, ATabIsRefusedHoweverTheCommandIsSent) {
  const Ran text = call(R"({"cmd":"cat 'a\tb'"})");
  const Ran words = call(R"({"argv":["cat","a\tb"]})");
  for (const Ran& ran : {text, words}) {
    EXPECT_EQ(ran.exit_code, 126) << ran.out;
    EXPECT_NE(ran.out.find("a tab in a word is for a shell to read"), std::string::npos) << ran.out;
  }
}

TEST_P(Explain, ACallHasTenMinutesAndAPassiveOneTwo) {
  const struct {
    std::string arguments;
    std::vector<std::string> flags;
    std::string wall;
  } rows[] = {
      {R"({"cmd":"ls","profile":"passive"})", {}, "2m"},
      {R"({"cmd":"ls","profile":"full"})", {}, "2m"},  // it runs as passive has it
      {R"({"cmd":"ls","timeout_s":5})", {}, "5s"},
      {R"({"cmd":"ls","timeout_s":600})", {}, "2m"},
      {R"({"cmd":"ls"})", {"--timeout", "30s"}, "30s"},
      {R"({"cmd":"python3 a.py","profile":"full"})", {}, "10m"},
      {R"({"cmd":"python3 a.py","profile":"full"})", {"--timeout", "1h"}, "1h"},
      {R"({"cmd":"true","profile":"any"})", {"--commands", "any"}, "10m"},
  };
  scene.write("workspace/a.py", "");
  for (const auto& row : rows) {
    std::vector<std::string> flags = {"--json"};
    flags.insert(flags.end(), row.flags.begin(), row.flags.end());
    const auto json = parse_json(call(row.arguments, flags).out);
    ASSERT_TRUE(json) << row.arguments;
    EXPECT_EQ((*json)["plan"]["limits"]["timeout"].string, row.wall) << row.arguments;
  }
}

TEST_P(Explain, RunIsNoToolCallAndHasThePlanOfTheRun) {
  const Ran explained = explain({"run", "--json", "--", "/bin/sh", "-c", "ls | cat"});
  EXPECT_EQ(explained.exit_code, 0) << explained.err;
  const auto json = parse_json(explained.out);
  ASSERT_TRUE(json) << explained.out;
  EXPECT_EQ((*json)["gates"].array.at(2)["reason"].string, "not a tool call");
  const Ran ran = run({.argv = under_cloche({"--json"}, {"/bin/sh", "-c", "ls | cat"}),
                       .as = GetParam(),
                       .cwd = scene.workspace()});
  EXPECT_EQ((*json)["plan_digest"].string, (*parse_json(ran.out))["plan_digest"].string);
}

// Whatever a model sends: nine answers, a reason in each refusal, and what to do instead.
TEST_P(Explain, WhatCannotBeReadIsRefusedByEveryGateThatNeedsIt) {
  struct Row {
    std::string arguments;
    const char* reason;
    const char* tool = "run_shell";
  };
  const Row rows[] = {
      {"{}", "there is no tool no_such", "no_such"},
      {R"({"cmd":"ls"})", "there is no tool ", ""},
      {R"({"path":"a"})", "content", "write_artifact"},
      {"{}", "neither cmd nor argv is given"},
      {"{}", "neither cmd nor argv is given", "run_shell_command"},
      {R"({"cmd":"ls","argv":["ls"]})", "give one of them"},
      {R"({"cmd":"ls","command":"ls"})", "give one of them"},
      {R"({"command":"ls","argv":["ls"]})", "give one of them", "run_shell_command"},
      {R"({"cmd":5})", "/cmd must be string"},
      {R"({"cmd":null})", "/cmd must be string"},
      {R"({"cmd":""})", "there is no command in it"},
      {R"({"argv":[]})", "/argv must have at least 1 items"},
      {R"({"argv":[""]})", "the program, is empty"},
      {R"({"argv":["ls",1]})", "/argv/1 must be string"},
      {R"({"argv":"ls"})", "/argv must be array"},
      {R"({"argv":["ls","\u0000"]})", "NUL"},
      {R"({"cmd":"ls","timeout_s":0})", "/timeout_s must be at least 1"},
      {R"({"cmd":"ls","timeout_s":-1})", "/timeout_s must be at least 1"},
      {R"({"cmd":"ls","timeout_s":86401})", "/timeout_s must be at most 86400"},
      {R"({"cmd":"ls","timeout_s":1e400})", "a number out of range"},
      {R"({"cmd":"ls","timeout_s":1.5})", "/timeout_s must be integer"},
      {R"({"cmd":"ls","timeout_s":"5"})", "/timeout_s must be integer"},
      {R"({"cmd":"ls","timeout_s":NaN})", "expected a value"},
      {R"({"cmd":"ls","profile":"root"})", "/profile must be one of"},
      {R"({"cmd":"uname -a","profile":"any"})", "full has no command uname"},
      {R"({"cmd":"ls","stdin":4})", "/stdin must be string"},
      {R"({"cmd":"ls","more":1})", "/more must not be there"},
      {R"({"cmd":"ls","cmd":"rm"})", "twice"},
      {R"({"cmd":"ls","c\u006dd":"rm"})", "twice"},
      {R"({"cmd":"ls"} x)", "after the end"},
      {R"({"cmd":"ls"} // x)", "a comment is not JSON"},
      {R"({"cmd":"\ud800"})", "surrogate"},
      {"[]", "not an object"},
      {"null", "not an object"},
      {"", "expected a value"},
      {"NaN", "expected a value"},
      {std::string(1000, '['), "nested deeper"},
      {"{\"cmd\":\"\xff\"}", "not UTF-8"},
      {"{\"cmd\":\"" + std::string(size_t{2} << 20, 'a') + "\"}", "longer than 1048576 bytes"},
  };
  for (const auto& row : rows) {
    const Ran ran = explain({"call", row.tool, "-", "--json"}, row.arguments);
    const std::string sent = row.arguments.substr(0, 60);
    EXPECT_EQ(ran.exit_code, 126) << sent << ran.err;
    const auto json = parse_json(ran.out);
    ASSERT_TRUE(json) << sent << ran.out << ran.err;
    EXPECT_EQ((*json)["decision"].string, "deny") << sent;
    EXPECT_NE((*json)["reason"].string.find(row.reason), std::string::npos)
        << sent << (*json)["reason"].string;
    ASSERT_EQ((*json)["gates"].array.size(), 9U) << sent;
    for (const auto& gate : (*json)["gates"].array) {
      if (gate["decision"].string != "deny") continue;
      EXPECT_NE(gate["reason"].string, "") << sent << gate["gate"].string;
      EXPECT_NE(gate["fix"].string, "") << sent << gate["gate"].string;
    }
  }
}

TEST_P(Explain, JsonIsOneObjectWhateverGoesWrong) {
  struct Row {
    std::vector<std::string> words;
    int exit_code;
    const char* reason;
  };
  const Row rows[] = {
      {{"call", "run_shell", "{}", "--json", "--nope"}, 2, "unknown flag --nope"},
      {{"call", "run_shell", "{}", "--commands", "bogus", "--json"}, 2, "known are passive, full and any"},
      {{"call", "run_shell", "{}", "--json", "--workspace", "/not/there"}, 125, "/not/there"},
      {{"call", "run_shell", "{}", "--json", "--skill", "x"}, 125, "x: No such file"},
      {{"run", "--json", "--view", "x", "--", "ls"}, 2, "known are curated and host"},
      {{"run", "--json", "--isolation", "microvm", "--", "ls"}, 125, "the isolation level microvm"},
      {{"run", "--json", "--workspace", "/usr", "--", "ls"}, 125, "/usr"},
      {{"--json", "what"}, 2, "explain needs run or call"},
  };
  for (const auto& row : rows) {
    const Ran ran = explain(row.words);
    EXPECT_EQ(ran.exit_code, row.exit_code) << row.reason << ran.err;
    const auto json = parse_json(ran.out);
    ASSERT_TRUE(json) << row.reason << ran.out;
    EXPECT_EQ((*json)["decision"].string, "deny");
    EXPECT_NE((*json)["reason"].string.find(row.reason), std::string::npos) << ran.out;
  }
  EXPECT_EQ(explain({"run", "--view", "x", "--", "ls", "--json"}).out, "") << "the command's own";
}

TEST_P(Explain, AnOperatorsSecretIsLeftOutAndTheGateSaysSo) {
  const Ran ran = explain({"run", "--json", "-e", "GITHUB_TOKEN", "-e", "MY_TOKEN=given", "--", "env"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  const auto json = parse_json(ran.out);
  ASSERT_TRUE(json) << ran.out;
  EXPECT_EQ((*json)["gates"].array.at(5)["reason"].string, "left out: GITHUB_TOKEN (it looks like a secret)");
  EXPECT_EQ(ran.out.find("\"GITHUB_TOKEN\":"), std::string::npos) << "not in the plan";
  EXPECT_NE(ran.out.find("\"MY_TOKEN\":\"given\""), std::string::npos) << ran.out;
}

TEST_P(Explain, BadUsageIsTwoAndBadPlacesAre125) {
  EXPECT_EQ(explain({}).exit_code, 2);
  EXPECT_EQ(explain({"what"}).exit_code, 2);
  EXPECT_EQ(explain({"call", "run_shell"}).exit_code, 2);
  EXPECT_EQ(explain({"call", "run_shell", "{}", "--nope"}).exit_code, 2);
  EXPECT_EQ(call("{}", {"--workspace", "/not/there"}).exit_code, 125);
  EXPECT_EQ(call("{}", {"--workspace", "/usr"}).exit_code, 125);
  EXPECT_EQ(explain({"--help"}).exit_code, 0);
}

TEST_P(Explain, NothingHappens) {
  scene.write("workspace/a.py", "open('made', 'w')\n");
  EXPECT_EQ(call(R"({"cmd":"python3 a.py"})", {"--commands", "full"}).exit_code, 0);
  EXPECT_FALSE(fs::exists(scene.workspace() / "made"));
}

TEST_P(Explain, ControlCharactersDoNotReachTheTerminal) {
  const Ran ran = call(R"({"cmd":"ls","a\u001b]0;x\u0007":1})");
  EXPECT_EQ(ran.exit_code, 126);
  EXPECT_EQ(ran.out.find('\x1b'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(As, Explain, testing::ValuesIn(identities()),
                         [](const auto& who) { return std::string(name_of(who.param)); });

}  // namespace
}  // namespace cloche::test
