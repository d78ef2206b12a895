// `cloche explain` from the outside: what it prints, and with which code it ends.
#include <gtest/gtest.h>

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

TEST_P(Explain, JsonHasTheDocumentedKeys) {
  for (const std::string arguments : {R"({"cmd":"ls"})", R"({"cmd":"rm x"})", R"({"cmd":"ls |"})", "{"}) {
    const Ran ran = call(arguments, {"--json"});
    const auto json = parse_json(ran.out);
    ASSERT_TRUE(json) << ran.out << ran.err;
    EXPECT_EQ(json->object.size(), 4U);
    const bool allowed = (*json)["decision"].string == "allow";
    EXPECT_EQ(ran.exit_code, allowed ? 0 : 126) << arguments;
    ASSERT_EQ((*json)["gates"].array.size(), 9U);
    for (const auto& gate : (*json)["gates"].array) {
      EXPECT_EQ(gate.object.size(), 5U);
      for (const std::string key : {"gate", "decision", "reason", "rule", "fix"})
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
  EXPECT_EQ(argv, (std::vector<std::string>{"python3", "-I", "-X", "pycache_prefix=/tmp/cloche-pycache", "-m",
                                            "py_compile", "a.py"}));
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
