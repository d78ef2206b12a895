// How what an agent's commands write reaches the project: by the operator's word, and by nothing that a model
// sends.
#include <unistd.h>

#include "hook/fixture.hpp"

namespace cloche::test {
namespace {

class HookWrites : public Hook {
 protected:
  void configure(const std::string& json) { scene().write("home/.config/cloche/config.json", json); }
  HookSaid in_background(const std::string& command) const {
    return hook("Bash", R"({"command": )" + quoted(command) + R"(, "run_in_background": true})");
  }
  bool is_there(const std::string& name) const { return fs::exists(workspace() / name); }
  // Whether what it writes is in the project while it runs.
  bool writes_live(const HookSaid& said) const {
    EXPECT_EQ(said.decision, "allow") << said.reason;
    Command shell = words({});
    shell.argv = {"sh", "-c", said.command};
    Started started(shell);
    char told[8] = {};
    EXPECT_GT(::read(started.output(), told, sizeof told), 0);
    const bool live = is_there("made");
    EXPECT_TRUE(exited(started.finish(), 0));
    EXPECT_TRUE(is_there("made"));
    fs::remove(workspace() / "made");
    return live;
  }
};

constexpr const char* lasting = "echo x > made; echo written; sleep 1";

TEST_P(HookWrites, InTheBackgroundTheyAreJudgedToo) {
  EXPECT_TRUE(exited(carry_out(in_background(leaves_a_writer).command), 0));
  EXPECT_EQ(read_file(workspace() / "deep/er/plain"), "plain\n");
  EXPECT_FALSE(is_there("deep/er/.envrc") || is_there("deep/.envrc"));
}

TEST_P(HookWrites, OnlyTheOperatorsKeyMakesThemLiveInTheBackground) {
  EXPECT_FALSE(writes_live(in_background(lasting)));
  configure(R"({"background": "commit"})");
  EXPECT_FALSE(writes_live(in_background(lasting)));
  configure(R"({"background": "live"})");
  EXPECT_TRUE(writes_live(in_background(lasting)));
  EXPECT_TRUE(writes_live(hook("Monitor", R"({"command": )" + quoted(lasting) + R"(, "description": "d"})")));
  EXPECT_FALSE(writes_live(bash(lasting))) << "in the foreground";
  // Of Codex there is no call in the background.
  EXPECT_FALSE(writes_live(
      said_to(call_with(R"("turn_id": "1", )", "Bash", R"({"command": )" + quoted(lasting) + "}"))))
      << "of Codex";
}

// The agent's own file tools write where nothing is judged afterwards.
TEST_P(HookWrites, WhatGitWouldRunIsNotWrittenByTheAgentItself) {
  const auto said_of = [&](const std::string& path) {
    return hook("Write",
                R"({"file_path": )" + quoted((workspace() / path).string()) + R"(, "content": "x"})");
  };
  for (const char* path : {"githooks/pre-commit", "more.cfg", "watch.sh"}) {
    EXPECT_EQ(said_of(path).decision, "") << path << " before a configuration names it";
    file(path, "x");
  }
  file(".git/config",
       "[core]\n\thooksPath = githooks\n\tfsmonitor = ./watch.sh\n[include]\n\tpath = ../more.cfg\n");
  file(".git/HEAD", "ref: refs/heads/main\n");
  fs::create_directories(workspace() / ".git/objects");
  fs::create_directories(workspace() / ".git/refs");
  for (const char* whole : {"bare", "lacks-head"}) {
    fs::create_directories(workspace() / whole / "objects");
    fs::create_directories(workspace() / whole / "refs");
  }
  file("bare/HEAD", "ref: refs/heads/main\n");
  file("lacks-head/config", "[core]\n\tfsmonitor = ./x\n");
  for (const char* path : {"githooks/pre-commit", "githooks/new", "more.cfg", "watch.sh", "bare/config",
                           "bare/hooks/post-checkout", "lacks-head/HEAD"}) {
    const HookSaid said = said_of(path);
    EXPECT_EQ(said.decision, "deny") << path;
    EXPECT_NE(said.reason.find("git"), std::string::npos) << said.reason;
  }
  for (const char* path : {"README.md", "watch.sh.txt", "src/new/main.c", ".gitignore", "config", "HEAD"})
    EXPECT_EQ(said_of(path).decision, "") << path << said_of(path).reason;
}

TEST_P(HookWrites, AProjectCannotSayIt) {
  file(".cloche/config.json", R"({"background": "live"})");
  EXPECT_TRUE(refused(hook_bytes(call_of("Bash", R"({"command": "true"})")), {2},
                      {"background cannot be set by a project"}));
}

TEST_P(HookWrites, StageIsNotForAHook) {
  const std::string filed = bash("echo x > made").command;
  for (const char* config : {R"({"writes": "stage"})", R"({"writes": "stage", "background": "live"})"}) {
    configure(config);
    for (const char* call : {R"({"command": "true"})", R"({"command": "true", "run_in_background": true})"})
      EXPECT_TRUE(refused(hook_bytes(call_of("Bash", call)), {2},
                          {"is not for a hook, because the agent's own file tools would not see",
                           "the user has to set \"writes\": \"commit\""}));
    EXPECT_TRUE(refused(hook_bytes(call_of("Read", R"({"file_path": "x"})")), {2}, {"is not for a hook"}));
  }
  EXPECT_TRUE(refused(carry_out(filed), {125}, {"is not for a hook"})) << "filed before";
  EXPECT_FALSE(is_there("made"));
  const Ran install = cloche_in_state({"hook", "--install", "claude", "--yes"});
  EXPECT_TRUE(refused(install, {125}, {"config.json:1: \"writes\": \"stage\" is not for a hook"}));
  EXPECT_FALSE(fs::exists(home() / ".claude/settings.json"));
}

FOR_EVERYONE(HookWrites);

}  // namespace
}  // namespace cloche::test
