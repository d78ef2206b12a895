// The hook in an agent's settings: shown, asked about, put in and taken out again.
#include <sys/stat.h>
#include <unistd.h>

#include "everyday/conversation.hpp"
#include "hook/fixture.hpp"

namespace cloche::test {
namespace {

class HookInstall : public Hook {
 protected:
  static constexpr const char* mine = "{\n   \"model\": \"x\",  \"hooks\": {\"Stop\": []}\n}";
  fs::path claude() const { return home() / ".claude/settings.json"; }
  fs::path codex() const { return home() / ".codex/hooks.json"; }
  Ran hook_words(const Words& flags) const {
    Words all = {"hook"};
    all.insert(all.end(), flags.begin(), flags.end());
    return cloche_in_state(all);
  }
};

TEST_P(HookInstall, InAndOutAgain) {
  scene().write("home/.claude/settings.json", mine, 0640);
  const Ran in = hook_words({"--install", "claude", "--yes"});
  EXPECT_TRUE(exited(in, 0));
  const std::string line =
      cloche() + " hook --home " + home().string() + " --state-home " + state_home(as()) + " || exit 2";
  EXPECT_TRUE(contains(in.out, "+ ") && contains(in.out, line)) << in.out;
  const auto json = parse_json(read_file(claude()));
  ASSERT_TRUE(json);
  const Json& groups = (*json)["hooks"]["PreToolUse"];
  ASSERT_EQ(groups.array.size(), 1U);
  EXPECT_EQ(groups.array[0]["matcher"].string, "*");
  EXPECT_EQ(groups.array[0]["hooks"].array.at(0)["command"].string, line);
  EXPECT_EQ((*json)["model"].string, "x");
  EXPECT_EQ(fs::status(claude()).permissions(), fs::perms(0640));
  EXPECT_TRUE(refused(hook_words({"--install", "claude", "--yes"}), {125}, {"already"}));
  EXPECT_TRUE(exited(hook_words({"--uninstall", "claude", "--yes"}), 0));
  EXPECT_EQ(read_file(claude()), mine);
  EXPECT_TRUE(refused(hook_words({"--uninstall", "claude", "--yes"}), {125}, {"not installed"}));
}

TEST_P(HookInstall, OutAgainAfterTheAgentHasSavedItsSettings) {
  scene().write("home/.claude/settings.json", mine);
  EXPECT_TRUE(exited(hook_words({"--install", "claude", "--yes"}), 0));
  EXPECT_TRUE(
      exited(outside("python3 -c \"import json; f = '" + claude().string() +
                     "'; t = json.load(open(f)); t['model'] = 'y'; json.dump(t, open(f, 'w'), indent=2)\""),
             0));
  const Ran out = hook_words({"--uninstall", "claude", "--yes"});
  EXPECT_TRUE(exited(out, 0));
  EXPECT_EQ(read_file(claude()), "{\n  \"model\": \"y\",\n  \"hooks\": {\n    \"Stop\": []\n  }\n}");
}

TEST_P(HookInstall, NothingIsLeftOfAFileThatWasMadeForIt) {
  const bool had_directory = fs::exists(claude().parent_path());
  EXPECT_TRUE(exited(hook_words({"--install", "claude", "--yes"}), 0));
  const Ran out = hook_words({"--uninstall", "claude", "--yes"});
  EXPECT_TRUE(exited(out, 0));
  EXPECT_TRUE(contains(out.out, "is removed") && !contains(out.out, "+ {}")) << out.out;
  EXPECT_FALSE(fs::exists(claude()));
  EXPECT_EQ(fs::exists(claude().parent_path()), had_directory);
}

TEST_P(HookInstall, AFileThatWasThereStaysWithWhatLittleWasInIt) {
  for (const char* before : {"", "\n", " \t\n", "{}", "{}\n", "{ }\n"}) {
    scene().write("home/.claude/settings.json", before, 0640);
    EXPECT_TRUE(exited(hook_words({"--install", "claude", "--yes"}), 0)) << before;
    EXPECT_TRUE(exited(hook_words({"--uninstall", "claude", "--yes"}), 0)) << before;
    ASSERT_TRUE(fs::exists(claude())) << before;
    EXPECT_EQ(read_file(claude()), before);
  }
}

TEST_P(HookInstall, DirectoriesThatWereMadeGoUnlessSomethingIsInThem) {
  const std::string file = (home() / "a/b/c/settings.json").string();
  const auto words = [&](const char* action) {
    return hook_words({action, "claude", "--settings", file, "--yes"});
  };
  EXPECT_TRUE(exited(words("--install"), 0));
  scene().write("home/a/note", "mine");
  EXPECT_TRUE(exited(words("--uninstall"), 0));
  EXPECT_TRUE(fs::exists(home() / "a/note"));
  EXPECT_FALSE(fs::exists(home() / "a/b"));
}

TEST_P(HookInstall, NeverWhereItWouldOnlyLookSetUp) {
  EXPECT_TRUE(exited(hook_words({"--install", "claude", "--yes"}), 0));
  std::string narrow = read_file(claude());
  narrow.replace(narrow.find("\"*\""), 3, "\"Read\"");
  for (const auto& [text, words] :
       {std::pair{narrow, "but changed"},
        std::pair{std::string("{\"disableAllHooks\": true}"), "disableAllHooks"}}) {
    scene().write("home/.claude/settings.json", text);
    EXPECT_TRUE(refused(hook_words({"--install", "claude", "--yes"}), {125}, {words}));
    EXPECT_EQ(read_file(claude()), text);
  }
}

// The agent's shell would take such a path for several words, and then every call is refused.
TEST_P(HookInstall, NotFromAPlaceThatAShellDoesNotTakeAsOneWord) {
  const fs::path programs = scene_root() / "two words";
  const fs::path built = fs::path(cloche()).parent_path();
  scene().write("two words/made", "");
  EXPECT_TRUE(exited(outside("cp " + built.string() + "/cloche* '" + programs.string() + "/'"), 0));
  Command install = words({"hook", "--install", "claude", "--yes"});
  install.argv[0] = (programs / "cloche").string();
  EXPECT_TRUE(refused(run(install), {125}, {"as one word"}));
  EXPECT_FALSE(fs::exists(claude()));
}

TEST_P(HookInstall, OnlyARegularFileIsReplaced) {
  EXPECT_TRUE(
      exited(outside("mkdir -p " + (home() / ".claude").string() + " && mkfifo " + claude().string()), 0));
  EXPECT_TRUE(refused(hook_words({"--install", "claude", "--yes"}), {125}, {"regular"}));
  EXPECT_TRUE(fs::is_fifo(claude()));
}

TEST_P(HookInstall, AFileStaysItsOwners) {
  if (!is_root()) GTEST_SKIP() << "skipped: only root can write what is somebody else's";
  scene().write("home/.claude/settings.json", mine, 0600);
  ASSERT_EQ(::chown(claude().c_str(), 4321, 4322), 0);
  EXPECT_TRUE(exited(hook_words({"--install", "claude", "--yes"}), 0));
  struct stat seen {};
  ASSERT_EQ(::stat(claude().c_str(), &seen), 0);
  EXPECT_EQ(seen.st_uid, 4321U);
  EXPECT_EQ(seen.st_gid, 4322U);
  EXPECT_EQ(seen.st_mode & 07777U, 0600U);
  ASSERT_EQ(::chown(home().c_str(), 4321, 4322), 0);
  EXPECT_TRUE(refused(hook_words({"--install", "codex", "--yes"}), {125}, {"another user"}));
  EXPECT_FALSE(fs::exists(home() / ".codex"));
}

TEST_P(HookInstall, WhatIsInstalledWorks) {
  EXPECT_TRUE(exited(hook_words({"--install", "codex", "--yes"}), 0));
  const auto json = parse_json(read_file(codex()));
  ASSERT_TRUE(json);
  const std::string line = (*json)["hooks"]["PreToolUse"].array.at(0)["hooks"].array.at(0)["command"].string;
  Command agent = words({});
  agent.argv = {"sh", "-c", line};
  agent.input = call_with(R"("turn_id": "1", )", "Bash", R"({"command": "true"})");
  EXPECT_TRUE(exited(run(agent), 0));
  agent.input = "nonsense";
  EXPECT_TRUE(exited(run(agent), 2));
}

TEST_P(HookInstall, ThroughALinkAndNotInItsPlace) {
  scene().write("dotfiles/settings.json", mine);
  EXPECT_TRUE(exited(outside("mkdir -p " + (home() / ".claude").string() + " && ln -s " +
                             (scene_root() / "dotfiles/settings.json").string() + " " + claude().string()),
                     0));
  EXPECT_TRUE(exited(hook_words({"--install", "claude", "--yes"}), 0));
  EXPECT_TRUE(fs::is_symlink(claude()));
  EXPECT_TRUE(contains(read_file(scene_root() / "dotfiles/settings.json"), "PreToolUse"));
}

TEST_P(HookInstall, NeverUnasked) {
  scene().write("home/.claude/settings.json", mine);
  EXPECT_TRUE(refused(hook_words({"--install", "claude"}), {125}, {"no terminal"}));
  EXPECT_EQ(read_file(claude()), mine);
  for (const char* reply : {"\r", "n\r", "yep\r"}) {
    Conversation no(words({"hook", "--install", "claude"}), Over::terminal);
    EXPECT_TRUE(no.hear("else: no > ")) << no.heard();
    no.send(reply);
    EXPECT_TRUE(exited(no.finish(), 1));
    EXPECT_EQ(read_file(claude()), mine);
  }
  Conversation yes(words({"hook", "--install", "claude"}), Over::terminal);
  EXPECT_TRUE(yes.hear("else: no > "));
  yes.send("y\r");
  EXPECT_TRUE(exited(yes.finish(), 0));
  EXPECT_TRUE(contains(read_file(claude()), "PreToolUse"));
}

TEST_P(HookInstall, WhatIsNotUnderstoodStaysAsItIs) {
  for (const char* text : {"[]", "nonsense", R"({"hooks": []})"}) {
    scene().write("home/.claude/settings.json", text);
    EXPECT_EQ(hook_words({"--install", "claude", "--yes"}).exit_code, 125);
    EXPECT_EQ(read_file(claude()), text);
  }
  EXPECT_TRUE(refused(hook_words({"--install", "cursor", "--yes"}), {2}, {"claude or codex"}));
}

// In the user's own settings it would be the workspace of every project.
TEST_P(HookInstall, AWorkspaceOnlyInTheSettingsOfItsProject) {
  const std::string project = workspace().string();
  EXPECT_TRUE(refused(hook_words({"--install", "claude", "--workspace", project, "--yes"}), {125},
                      {"would fix one project for every session", "--settings " + project}));
  EXPECT_FALSE(fs::exists(claude()));
  const std::string other = (scene_root() / "other/.claude/settings.json").string();
  EXPECT_TRUE(
      refused(hook_words({"--install", "claude", "--workspace", project, "--settings", other, "--yes"}),
              {125}, {"would fix one project"}));
  for (const auto& [agent, name] :
       {std::pair{"claude", ".claude/settings.json"}, std::pair{"claude", ".claude/settings.local.json"},
        std::pair{"codex", ".codex/hooks.json"}}) {
    const std::string settings = (workspace() / name).string();
    EXPECT_TRUE(exited(hook_words({"--install", agent, "--workspace", project, "--settings", settings,
                                   "--timeout", "20s", "--yes"}),
                       0));
    const std::string text = read_file(settings);
    EXPECT_TRUE(contains(text, cloche() + " hook --workspace " + project + " --timeout 20s --home ")) << text;
    EXPECT_TRUE(
        refused(hook_words({"--install", agent, "--settings", settings, "--yes"}), {125}, {"already"}))
        << "the same hook with other flags";
    EXPECT_TRUE(exited(hook_words({"--uninstall", agent, "--settings", settings, "--yes"}), 0));
    EXPECT_FALSE(fs::exists(settings)) << name;
  }
}

// Codex passes over a hook that is not trusted, and then everything would run without any sandbox.
TEST_P(HookInstall, TheAgentsOwnSandboxIsOnlyGivenUpAfterACallHasArrived) {
  EXPECT_TRUE(refused(hook_words({"--check", "codex"}), {125}, {"not installed"}));
  const Ran in = hook_words({"--install", "codex", "--yes"});
  EXPECT_LT(in.out.find("mcp_servers.cloche"), in.out.find("PreToolUse")) << "the better way first";
  EXPECT_LT(in.out.find("/hooks"), in.out.find("--check codex")) << in.out;
  EXPECT_FALSE(contains(in.out, "danger-full-access"));
  const Ran unseen = hook_words({"--check", "codex"});
  EXPECT_TRUE(exited(unseen, 1));
  EXPECT_TRUE(contains(unseen.out, "trust") && !contains(unseen.out, "danger-full-access")) << unseen.out;

  EXPECT_EQ(bash("true").decision, "allow") << "Claude Code's";
  EXPECT_TRUE(exited(hook_words({"--check", "codex"}), 1)) << "which is no call of Codex";
  EXPECT_TRUE(exited(outside("sleep 0.1"), 0));
  EXPECT_EQ(said_to(call_with(R"("turn_id": "1", )", "Bash", R"({"command": "true"})")).decision, "allow");
  const Ran seen = hook_words({"--check", "codex"});
  EXPECT_TRUE(exited(seen, 0));
  EXPECT_TRUE(contains(seen.out, "danger-full-access") && contains(seen.out, workspace())) << seen.out;

  EXPECT_TRUE(exited(outside("sleep 0.1; touch " + codex().string()), 0));
  EXPECT_TRUE(exited(hook_words({"--check", "codex"}), 1))
      << "it was changed since, and the operator has not trusted it";
}

// With its time of writing, which says nothing about when it came there.
TEST_P(HookInstall, AnOldFileThatWasPutInTheirPlaceIsAChange) {
  EXPECT_TRUE(exited(hook_words({"--install", "codex", "--yes"}), 0));
  const std::string file = codex().string();
  const std::string old = file + ".old";
  const Words ways = {"mv " + old + " " + file, "cp -p " + old + " " + file,
                      "rm " + file + " && tar -C / -xf " + file + ".tar", "ln -sf " + old + " " + file};
  std::string session = "s-1";
  for (const auto& way : ways) {
    EXPECT_TRUE(
        exited(outside("cp -p " + file + " " + old + " && touch -d 2020-01-01 " + old + " && tar -C / -cf " +
                       file + ".tar " + old.substr(1) + " --transform s/.old$// && sleep 0.1"),
               0));
    std::string call = call_with(R"("turn_id": "1", )", "Bash", R"({"command": "true"})");
    call.replace(call.find("s-1"), 3, session += "1");
    EXPECT_EQ(said_to(call).decision, "allow");
    EXPECT_TRUE(exited(hook_words({"--check", "codex"}), 0)) << way;
    EXPECT_TRUE(exited(outside("sleep 0.1; " + way), 0));
    EXPECT_TRUE(exited(hook_words({"--check", "codex"}), 1)) << way;
  }
}

// Every call would be refused.
TEST_P(HookInstall, NotWithATimeThatTheHookItselfRefuses) {
  for (const char* time : {"2m", "51s", "0", "x"}) {
    EXPECT_TRUE(refused(hook_words({"--install", "claude", "--timeout", time, "--yes"}), {2}, {"time"}))
        << time;
    EXPECT_FALSE(fs::exists(claude())) << time;
  }
  EXPECT_TRUE(exited(hook_words({"--install", "claude", "--timeout", "50s", "--yes"}), 0));
}

TEST_P(HookInstall, WhatUndoesItIsSaidWhole) {
  const std::string file = (home() / "my settings.json").string();
  const Ran in = hook_words({"--install", "codex", "--settings", file, "--yes"});
  EXPECT_TRUE(exited(in, 0));
  EXPECT_TRUE(contains(in.out, "`cloche hook --uninstall codex --settings '" + file + "'`")) << in.out;
  EXPECT_TRUE(contains(in.out, "cloche hook --check codex --settings '" + file + "'\n")) << in.out;
  const Ran unseen = hook_words({"--check", "codex", "--settings", file});
  EXPECT_TRUE(contains(unseen.out, "cloche hook --check codex --settings '" + file + "'\n")) << unseen.out;
}

// The settings of the home are those of the user, and the home is no workspace.
TEST_P(HookInstall, TheAdviceAboutAWorkspaceWorks) {
  for (const char* agent : {"claude", "codex"}) {
    const Ran ran = hook_words({"--install", agent, "--workspace", home().string(), "--yes"});
    EXPECT_TRUE(refused(ran, {125}, {"is your home directory", "name a directory below it"}));
    EXPECT_FALSE(contains(ran.err, "--settings")) << ran.err;
  }
  Command users = words({"hook", "--install", "claude", "--workspace", workspace().string(), "--yes"});
  users.env["CLAUDE_CONFIG_DIR"] = (workspace() / ".claude").string();
  const std::string other = (workspace() / ".claude/settings.local.json").string();
  EXPECT_TRUE(refused(run(users), {125}, {"--settings " + other}));
  users.argv.insert(users.argv.end(), {"--settings", other});
  EXPECT_TRUE(exited(run(users), 0));
}

FOR_EVERYONE(HookInstall);

}  // namespace
}  // namespace cloche::test
