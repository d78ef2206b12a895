// `cloche test` from the outside.
#include <gtest/gtest.h>

#include "harness/harness.hpp"

namespace cloche::test {
namespace {

class TestCommand : public testing::Test {
 protected:
  Ran check(std::vector<std::string> files, std::map<std::string, std::string> env = {}) {
    files.insert(files.begin(), {cloche(), "test"});
    return run({.argv = files, .cwd = scene.root(), .env = std::move(env)});
  }
  Scene scene{As::self};
};

constexpr const char* failing =
    "{\"profile\": \"full\", \"shapes\": [\n"
    "  {\"id\": \"make\", \"usage\": \"make\", \"argv\": [\"make\"],\n"
    "   \"accepts\": [\"make\",\n"
    "               \"make all\"],\n"
    "   \"refuses\": [\"make x\"]}]}\n";

TEST_F(TestCommand, EveryShippedExampleHolds) {
  const Ran ran = check({});
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("ok      share/commands/passive.json: 21 shapes, "), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find(" examples in 2 files: all hold\n"), std::string::npos) << ran.out;
}

TEST_F(TestCommand, AFailingExampleIsNamedByItsLine) {
  scene.write("mine.json", failing);
  const Ran ran = check({"mine.json"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_EQ(ran.out,
            "FAILED  mine.json:4: make: should be accepted and is refused: make all\n"
            "        mine.json: 1 shapes, 3 examples\n"
            "3 examples in 1 files: 1 failed\n");
}

TEST_F(TestCommand, AUsersFileCountsAndAFailingOneStopsEveryCall) {
  scene.write("config/cloche/commands/mine.json", failing);
  const std::map<std::string, std::string> env = {{"XDG_CONFIG_HOME", (scene.root() / "config").string()}};
  EXPECT_EQ(check({}, env).exit_code, 1);
  const Ran ran = run({.argv = {cloche(), "explain", "call", "run_shell", R"({"cmd":"ls"})"},
                       .cwd = scene.workspace(),
                       .env = env});
  EXPECT_EQ(ran.exit_code, 125) << ran.out;
  EXPECT_NE(ran.err.find("mine.json:4"), std::string::npos) << ran.err;
}

TEST_F(TestCommand, AUsersShapeWorksLikeAShippedOne) {
  scene.write("config/cloche/commands/mine.json",
              "{\"profile\": \"full\", \"shapes\": [{\"id\": \"make\", \"usage\": \"make TARGET\", "
              "\"argv\": [\"make\", {\"name\": \"subcommand\"}], \"accepts\": [\"make all\"], \"refuses\": "
              "[\"make -f x\"]}]}");
  const std::map<std::string, std::string> env = {{"XDG_CONFIG_HOME", (scene.root() / "config").string()}};
  const std::vector<std::string> words = {
      cloche(), "explain", "call", "run_shell", R"({"cmd":"make all"})", "--commands", "full"};
  EXPECT_EQ(run({.argv = words, .cwd = scene.workspace(), .env = env}).exit_code, 0);
  EXPECT_EQ(run({.argv = words, .cwd = scene.workspace()}).exit_code, 126);
}

TEST_F(TestCommand, ARuleThatNeverDecidesFailsAndIsNamedByItsLine) {
  scene.write("rules.json",
              "{\"permissions\": {\"rules\": [\n"
              "  {\"tool\": \"run_*\", \"args\": {\"cmd\": \"^git \"}, \"action\": \"allow\"},\n"
              "  {\"tool\": \"run_shell\", \"args\": {\"cmd\": \"^git \"}, \"action\": \"deny\"},\n"
              "  {\"tool\": \"run_shel\", \"action\": \"deny\"},\n"
              "  {\"tool\": \"run_shell\", \"args\": {\"argv\": \"rm\"}, \"action\": \"deny\"},\n"
              "  {\"tool\": \"run_shell\", \"args\": {\"cmd\": \"^git \"}, \"action\": \"ask\"}]}}\n");
  const Ran ran = check({"rules.json"});
  EXPECT_EQ(ran.exit_code, 1) << ran.out;
  for (const char* line :
       {"FAILED  permissions.rules[1] rules.json:3: never decides: permissions.rules[0] on line 2 matches",
        "FAILED  permissions.rules[2] rules.json:4: never decides: no tool of the name run_shel is known; "
        "did "
        "you mean run_shell?",
        "FAILED  permissions.rules[3] rules.json:5: never decides: run_shell has no argument argv",
        "FAILED  permissions.rules[4] rules.json:6: never decides: permissions.rules[0] on line 2 matches",
        "0 examples in 1 files: 4 failed\n"})
    EXPECT_NE(ran.out.find(line), std::string::npos) << ran.out;
}

TEST_F(TestCommand, ARuleAboutAnExecutorIsNoFailure) {
  scene.write("rules.json",
              "{\"permissions\": {\"rules\": [\n"
              "  {\"tool\": \"word_count\", \"args\": {\"text\": \"x\"}, \"action\": \"ask\"},\n"
              "  {\"tool\": \"word_count\", \"args\": {\"txt\": \"x\"}, \"action\": \"ask\"},\n"
              "  {\"tool\": \"*\", \"args\": {\"text\": \"^y\"}, \"action\": \"deny\"}]}}\n");
  scene.write("tools/word_count/tool.py", "#!/usr/bin/python3\n", 0755);
  scene.write("tools/word_count/manifest.json",
              R"({"name": "word_count", "description": "Counts words.", "code": "tool.py",
                  "input_schema": {"type": "object", "additionalProperties": false,
                                   "properties": {"text": {"type": "string"}}}})");
  const Ran unknown = check({"rules.json"});
  EXPECT_EQ(unknown.exit_code, 0) << unknown.out;
  EXPECT_NE(
      unknown.out.find("note    permissions.rules[0] rules.json:2: no shipped tool has the name word_count; "
                       "right for an executor of yours\n"),
      std::string::npos)
      << unknown.out;
  EXPECT_NE(unknown.out.find("note    permissions.rules[2] rules.json:4: "), std::string::npos)
      << unknown.out;
  const auto knows_it = [](const Ran& known) {
    EXPECT_EQ(known.exit_code, 1) << known.out << known.err;
    EXPECT_NE(known.out.find("rules.json:3: never decides: word_count has no argument "
                             "txt; it has text\n"),
              std::string::npos)
        << known.out;
    EXPECT_EQ(known.out.find("note "), std::string::npos) << known.out;
  };
  knows_it(check({"--executors", "tools", "rules.json"}));
  // A session's configuration lies outside of its workspace, and so do its executors.
  const auto configured = [&](const fs::path& here) {
    return run({.argv = {cloche(), "test", (scene.root() / "rules.json").string()},
                .cwd = here,
                .env = {{"XDG_CONFIG_HOME", (scene.root() / "config").string()}}});
  };
  scene.write("config/cloche/config.json",
              "{\"executors_dir\": \"" + (scene.root() / "tools").string() + "\"}");
  knows_it(configured(scene.workspace()));
  const Ran inside = configured(scene.root());
  EXPECT_EQ(inside.exit_code, 0) << inside.out;
  EXPECT_NE(inside.out.find("note    the configuration's executors are not known: "), std::string::npos);
  EXPECT_EQ(check({"--executors", "nowhere", "rules.json"}).exit_code, 125);
  EXPECT_EQ(check({"--executors"}).exit_code, 2);
}

TEST_F(TestCommand, TakesAndRefusesTheConfigurationsThatARunDoes) {
  std::string rules;
  for (int i = 0; i < 9000; ++i)
    rules +=
        (i == 0 ? "" : ",\n") +
        ("{\"tool\": \"run_shell\", \"action\": \"deny\", \"reason\": \"" + std::string(100, 'x') + "\", ") +
        "\"args\": {\"cmd\": \"^c" + std::to_string(i) + " \"}}";
  scene.write("config/cloche/config.json",
              "{\"permissions\": {\"default\": \"allow\", \"rules\": [" + rules + "]}}");
  const std::map<std::string, std::string> env = {{"XDG_CONFIG_HOME", (scene.root() / "config").string()}};
  const auto explained = [&] {
    return run({.argv = {cloche(), "explain", "run", "--", "ls"}, .cwd = scene.workspace(), .env = env})
        .exit_code;
  };
  EXPECT_EQ(check({"config/cloche/config.json"}).exit_code, 0) << "1.5 MB";
  EXPECT_EQ(explained(), 0);
  for (const char* wrong : {R"({"permissions": {}, "more": 1})", "[]", R"({"permissions": []})"}) {
    scene.write("config/cloche/config.json", wrong);
    EXPECT_EQ(check({"config/cloche/config.json"}).exit_code, 1) << wrong;
    EXPECT_EQ(explained(), 125) << wrong;
  }
  scene.write("config/cloche/config.json", "{}");
  EXPECT_EQ(check({"config/cloche/config.json"}).exit_code, 0);
  EXPECT_EQ(explained(), 0);
}

TEST_F(TestCommand, WhatIsNoFileOfShapesFails) {
  scene.write("broken.json", "{\"profile\": \"full\",,}\n");
  EXPECT_EQ(check({"broken.json"}).exit_code, 1);
  EXPECT_EQ(check({"missing.json"}).exit_code, 1);
  EXPECT_EQ(check({"--nope"}).exit_code, 2);
  EXPECT_EQ(check({"--help"}).exit_code, 0);
}

}  // namespace
}  // namespace cloche::test
