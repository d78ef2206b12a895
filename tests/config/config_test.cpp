// What the keys do: each reaches calls and `cloche run`, a project tightens, and what it would loosen is
// refused or, for a limit, noted. After a change that is meant: CLOCHE_UPDATE_GOLDEN=1
// build/release/tests/config_test --gtest_filter='*Golden*'
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "config/fixture.hpp"

namespace cloche::test {
namespace {

class Config : public Configured {};
FOR_EVERYONE(Config);

const char* const writes = R"({"path": "new.txt", "content": "x"})";

TEST_P(Config, LimitsReachARunAndACall) {
  user_file(R"({"limits": {"timeout": "1s"}})");
  EXPECT_EQ(shell("sleep 20").exit_code, 124);
  EXPECT_EQ(cloche_words({"call", "run_python", R"x({"code": "import time; time.sleep(20)"})x"}).exit_code,
            124);
  EXPECT_EQ(shell("sleep 2", {"--timeout", "20s"}).exit_code, 0) << "a flag may go beyond the user's file";
}

TEST_P(Config, AProjectLowersALimitAndRaisesNone) {
  project_file(R"({"limits": {"timeout": "1s", "memory": "64G"}})");
  const Ran ran = shell("sleep 20");
  EXPECT_EQ(ran.exit_code, 124);
  EXPECT_TRUE(
      contains(ran.err, project_path() + ":1: limits: memory stays at 4G: a project can only lower it"))
      << ran.err;
}

TEST_P(Config, AutonomyReachesCalls) {
  project_file(R"({"autonomy": "readonly"})");
  const Ran ran = cloche_words({"call", "write_artifact", writes, "--autonomy", "full"});
  EXPECT_TRUE(exited(ran, 126));
  EXPECT_TRUE(contains(ran.out, "autonomy readonly writes nothing")) << ran.out;
  EXPECT_FALSE(fs::exists(workspace() / "new.txt"));
}

TEST_P(Config, CommandsAreACeiling) {
  const Words full = {"call", "run_shell", R"({"cmd": "python3 -c 1", "profile": "full"})"};
  EXPECT_TRUE(exited(cloche_words(full), 0));
  project_file(R"({"commands": "passive"})");
  EXPECT_TRUE(exited(cloche_words(full), 126));
  fs::remove(project_path());
  const Words any = {"call", "run_shell", R"({"cmd": "touch made", "profile": "any"})"};
  EXPECT_TRUE(exited(cloche_words(any), 126));
  user_file(R"({"commands": "any"})");
  EXPECT_TRUE(exited(cloche_words(any), 0));
  EXPECT_TRUE(fs::exists(workspace() / "made"));
}

TEST_P(Config, TheDefaultProfileReachesARunAndACall) {
  user_file(R"({"default_profile": "readonly"})");
  EXPECT_NE(shell("touch made").exit_code, 0);
  EXPECT_TRUE(exited(cloche_words({"call", "write_artifact", writes}), 126));
  EXPECT_TRUE(exited(shell("touch made", {"--profile", "workspace-write-no-network"}), 0));
}

TEST_P(Config, AProjectsProfileHoldsWhateverTheFlagSays) {
  project_file(R"({"default_profile": "readonly"})");
  EXPECT_NE(shell("touch made", {"--profile", "workspace-write"}).exit_code, 0);
  EXPECT_FALSE(fs::exists(workspace() / "made"));
}

// The level of the whole session, whichever source set it: a command of the operator's own writes and reaches
// nothing.
TEST_P(Config, AutonomyReadonlyCapsRunToo) {
  const std::string extra = (root() / "extra").string();
  scene().write("extra/file", "there\n");
  const auto user = [&](const char* text) { user_file(text), project_file("{}"); };
  const auto project = [&](const char* text) { user_file("{}"), project_file(text); };
  const struct {
    bool by_user;
    std::string says;
  } rows[] = {{true, user_path() + ":1"}, {false, project_path() + ":1"}};
  for (const auto& [by_user, says] : rows) {
    SCOPED_TRACE(says);
    by_user ? user(R"({"autonomy": "readonly"})") : project(R"({"autonomy": "readonly"})");
    EXPECT_NE(shell("touch made").exit_code, 0);
    EXPECT_NE(shell("touch made", {"--profile", "workspace-write"}).exit_code, 0);
    const Ran granted = shell("cat " + extra + "/file; touch " + extra + "/made", {"--rw", extra});
    EXPECT_TRUE(contains(granted.out, "there") && contains(granted.err, "Read-only file system"))
        << granted.out << granted.err;
    EXPECT_TRUE(contains(granted.err, extra + " is read-only: autonomy readonly of " + says)) << granted.err;
    const std::string no = "autonomy readonly has no network: " + says;
    for (const Words& flags : {Words{"--net", "localhost:80"}, Words{"--net-any"}, Words{"--net-host"}}) {
      const Ran ran = shell("true", flags);
      EXPECT_TRUE(refused(ran, {126}, {no})) << flags.front();
      EXPECT_FALSE(contains(ran.err, "note: network isolation is off")) << ran.err;
      Words dry = flags;
      dry.emplace_back("--dry-run");
      EXPECT_TRUE(refused(shell("true", dry), {126}, {no})) << flags.front();
      Words explain = {"explain", "run"};
      explain.insert(explain.end(), flags.begin(), flags.end());
      explain.insert(explain.end(), {"--", "true"});
      const Ran explained = cloche_words(explain);
      EXPECT_TRUE(exited(explained, 126) && contains(explained.out, no)) << explained.out;
    }
  }
  EXPECT_FALSE(fs::exists(workspace() / "made"));
  EXPECT_FALSE(fs::exists(extra + "/made"));
  user(R"({"autonomy": "supervised"})");
  EXPECT_TRUE(exited(shell("touch made " + extra + "/made", {"--rw", extra}), 0));
}

// Its own view is not the workspace's, and --rw is in it all the same.
TEST_P(Config, AutonomyReadonlyCapsWhatACallIsGranted) {
  const std::string extra = (root() / "extra").string();
  scene().write("extra/file", "there\n");
  const std::string python =
      "{\"code\": \"print(open('" + extra + "/file').read()); open('" + extra + "/made', 'w')\"}";
  const Words call = {"call", "run_python", python, "--rw", extra};
  const Ran free = cloche_words(call);
  EXPECT_TRUE(contains(free.out, "exit_code: 0")) << free.out << free.err;
  EXPECT_TRUE(fs::remove(extra + "/made"));
  user_file(R"({"autonomy": "readonly"})");
  const Ran capped = cloche_words(call);
  EXPECT_TRUE(contains(capped.out, "there") && contains(capped.out, "Read-only file system")) << capped.out;
  EXPECT_FALSE(fs::exists(extra + "/made"));
  const Ran shown = cloche_words({"call", "run_shell", R"({"cmd": "ls"})", "--rw", extra});
  EXPECT_TRUE(exited(shown, 0)) << shown.out << shown.err;
  const Ran explained = cloche_words({"explain", "call", "run_shell", R"({"cmd": "ls"})", "--rw", extra});
  EXPECT_TRUE(contains(explained.out, extra + " is read-only: autonomy readonly")) << explained.out;
}

TEST_P(Config, RulesGiveEachToolItsProfile) {
  user_file(R"({"rules": [{"tool": "*_artifact", "profile": "readonly"}]})");
  EXPECT_TRUE(exited(cloche_words({"call", "write_artifact", writes}), 126));
  EXPECT_TRUE(exited(cloche_words({"call", "run_python", R"x({"code": "open('made', 'w')"})x"}), 0));
  user_file(R"({"rules": [{"tool": "run_shell", "profile": "readonly"}]})");
  EXPECT_TRUE(exited(cloche_words({"call", "write_artifact", writes}), 0));
  EXPECT_NE(shell("touch another").exit_code, 0) << "cloche run is judged as run_shell";
}

TEST_P(Config, ToolPathIsOnPathAndReadOnly) {
  scene().write("tools/hello-tool", "#!/bin/sh\necho hello from $0\n", 0755);
  const std::string tools = (root() / "tools").string();
  EXPECT_TRUE(exited(shell("hello-tool"), 127));
  user_file(R"({"tool_path": [")" + tools + R"("]})");
  EXPECT_TRUE(printed(shell("hello-tool"), "hello from " + tools + "/hello-tool\n"));
  EXPECT_NE(shell("touch " + tools + "/planted").exit_code, 0);
  const Ran call = cloche_words({"call", "run_script", R"({"code": "hello-tool", "interpreter": "bash"})"});
  EXPECT_TRUE(contains(call.out, "hello from")) << call.out << call.err;
  fs::create_symlink(root() / "tools", root() / "link");
  user_file(R"({"tool_path": [")" + (root() / "link").string() + R"("]})");
  EXPECT_TRUE(printed(shell("hello-tool"), "hello from " + tools + "/hello-tool\n")) << "by a link";
}

TEST_P(Config, ToolPathHoldsInATask) {
  scene().write("tools/hello-tool", "#!/bin/sh\necho hello from $0\n", 0755);
  const std::string tools = (root() / "tools").string();
  user_file(R"({"tool_path": [")" + tools + R"("]})");
  EXPECT_TRUE(
      printed(shell("hello-tool && touch ~/mine", {"--task", "t"}), "hello from " + tools + "/hello-tool\n"));
  EXPECT_TRUE(
      printed(shell("hello-tool && ls ~", {"--task", "t"}), "hello from " + tools + "/hello-tool\nmine\n"));
}

// A directory of the workspace that is mounted where the operator's words are read, or Cloche's state kept.
TEST_P(Config, AMountOfTheWorkspaceIsTheWorkspace) {
  if (as() != As::self || ::geteuid() != 0) GTEST_SKIP() << "skipped: only root can mount here";
  fs::create_directories(workspace() / "sub/cloche");
  fs::create_directories(root() / "config");
  const auto mounted_on = [&](const std::string& place) {
    fs::create_directories(place);
    const std::string script = "mount --make-rprivate / && mount --bind '" + (workspace() / "sub").string() +
                               "' '" + place + "' && exec \"$@\"";
    Command command{.argv = {"unshare", "-m", "sh", "-c", script, "sh", cloche(), "run", "--", "true"},
                    .as = as(),
                    .cwd = workspace()};
    command.env.emplace("XDG_CONFIG_HOME", (root() / "config").string());
    command.env.emplace("XDG_STATE_HOME", state_home(as()));
    return run(command);
  };
  EXPECT_TRUE(refused(mounted_on((root() / "config").string()), {125}, {"by a mount"}));
  const Ran state = mounted_on(state_home(as()));
  EXPECT_EQ(state.exit_code, 125) << state.err;
  EXPECT_TRUE(contains(state.err, "Cloche's own")) << state.err;
  fs::create_directories(root() / "elsewhere");
  EXPECT_TRUE(exited(mounted_on((root() / "elsewhere").string()), 0));
}

// The other way round: a mount of something in there, by which a command would come to it.
TEST_P(Config, AMountOfClochesOwnFilesIsNotShown) {
  if (as() != As::self || ::geteuid() != 0) GTEST_SKIP() << "skipped: only root can mount here";
  user_file("{}");
  ASSERT_TRUE(exited(shell("true"), 0));  // there is a state now
  const std::string alias = (root() / "alias").string();
  for (const std::string& own : {user_path(), state_home(as()) + "/cloche/proofs"}) {
    fs::remove_all(alias);
    if (fs::is_directory(own)) fs::create_directory(alias);
    if (!fs::is_directory(own)) scene().write("alias", "");
    for (const char* flag : {"--ro", "--rw"}) {
      const std::string script =
          "mount --make-rprivate / && mount --bind '" + own + "' '" + alias + "' && exec \"$@\"";
      Command command{.argv = {"unshare", "-m", "sh", "-c", script, "sh", cloche(), "run", flag, alias, "--",
                               "ls", alias},
                      .as = as(),
                      .cwd = workspace()};
      command.env.emplace("XDG_CONFIG_HOME", (root() / "config").string());
      command.env.emplace("XDG_STATE_HOME", state_home(as()));
      EXPECT_TRUE(refused(run(command), {125}, {"is a mount of Cloche's own"})) << own << flag;
    }
  }
}

TEST_P(Config, AToolPathInTheWorkspaceIsRefused) {
  fs::create_directory(workspace() / "bin");
  user_file(R"({"tool_path": [")" + (workspace() / "bin").string() + R"("]})");
  EXPECT_TRUE(refused(shell("true"), {125}, {user_path() + ":1: tool_path", "lies in the workspace"}));
}

// Whatever the link leads to now: a command turns it, and the next call would have what the command wants.
TEST_P(Config, NothingIsReachedThroughALinkInTheWorkspaceThatLeadsOut) {
  const std::string out = (root() / "out").string();
  for (const char* name : {"tools", "profiles", "executors"}) fs::create_directories(out + "/" + name);
  const std::string link = (workspace() / "link").string();
  const std::string outer = (root() / "outer").string();
  fs::create_symlink(out, link);
  fs::create_symlink(link, outer);
  const Words commands[] = {{"run", "--", "touch", "made"},
                            {"call", "run_shell", R"({"cmd": "ls"})"},
                            {"call", "write_artifact", R"({"path": "made", "content": "x"})"}};
  for (const std::string& way : {link, outer}) {
    const std::string rows[] = {R"("tool_path": [")" + way + R"(/tools"])",
                                R"("profiles_dir": ")" + way + R"(/profiles")",
                                R"("executors_dir": ")" + way + R"(/executors")"};
    for (const auto& row : rows) {
      user_file("{" + row + "}");
      for (const auto& words : commands)
        EXPECT_TRUE(refused(cloche_words(words), {125}, {"is reached through the workspace"})) << row;
    }
    user_file("{}");
    for (const auto& words : commands) {
      const Ran ran = cloche_words(words, {{"XDG_STATE_HOME", way}});
      EXPECT_TRUE(refused(ran, {125}, {"is reached through"})) << way;
    }
    fs::remove_all(root() / "config");
    const Ran front = run({.argv = {cloche(), "run", "--", "touch", "made"},
                           .as = as(),
                           .cwd = workspace(),
                           .env = {{"XDG_STATE_HOME", way}}});
    EXPECT_TRUE(refused(front, {125}, {"is reached through"})) << way;
  }
  EXPECT_FALSE(fs::exists(workspace() / "made"));
  EXPECT_FALSE(fs::exists(out + "/cloche"));
  user_file(R"({"tool_path": [")" + out + R"(/tools"]})");
  EXPECT_TRUE(exited(shell("true"), 0)) << "by its own name";
}

// A tree that was granted is as much a command's as the workspace.
TEST_P(Config, NorThroughOneInAGrantedTree) {
  for (const char* name : {"granted", "out/tools"}) fs::create_directories(root() / name);
  const std::string link = (root() / "granted/link").string();
  fs::create_symlink(root() / "out", link);
  user_file(R"({"tool_path": [")" + link + R"(/tools"]})");
  EXPECT_TRUE(exited(shell("true"), 0));
  EXPECT_TRUE(refused(shell("true", {"--rw", root() / "granted"}), {125}, {"is reached through " + link}));
}

TEST_P(Config, DotfilesAreWrittenWhereTheOperatorSaysSo) {
  const Words dotfile = {"call", "write_artifact", R"({"path": ".note", "content": "x"})"};
  EXPECT_TRUE(exited(cloche_words(dotfile), 126));
  user_file(R"({"dotfiles": "allow"})");
  EXPECT_TRUE(exited(cloche_words(dotfile), 0));
  project_file(R"({"dotfiles": "refuse"})");
  EXPECT_TRUE(exited(cloche_words(dotfile), 126));
}

TEST_P(Config, ARungThatIsNotBuiltRefusesEverything) {
  project_file(R"({"isolation": "microvm"})");
  for (const Words& words : {Words{"run", "--", "touch", "made"}, Words{"call", "write_artifact", writes}})
    EXPECT_TRUE(refused(cloche_words(words), {125}, {project_path() + ":1", "microvm"}));
  EXPECT_FALSE(fs::exists(workspace() / "made"));
}

TEST_P(Config, WhatCannotBeTakenRefusesEverythingWithFileAndLine) {
  const struct {
    const char* text;
    const char* says;
  } rows[] = {{"{\n\"nonsense\": 1}", ":2: unknown key \"nonsense\""},
              {"{\"durable\": true,\n\"durable\": true}", ":2"},
              {"{\n\"autonomy\": \"most\"}", ":2: autonomy is not"},
              {"{\n\"default_profile\": \"nobodys\"}", ":2: no such profile: nobodys"},
              {"{\"rules\": [\n{\"tool\": \"x\", \"profile\": \"nobodys\"}]}", ":2: no such profile"},
              {"{\"limits\": {\n\"memory\": 0}}", ":2: limits"},
              {"{", ":1"}};
  for (const auto& row : rows) {
    user_file(row.text);
    const std::string says = user_path() + row.says;
    EXPECT_TRUE(refused(cloche_words({"run", "--", "touch", "made"}), {125}, {says}));
    EXPECT_TRUE(refused(cloche_words({"call", "write_artifact", writes}), {125}, {says}));
    EXPECT_TRUE(refused(cloche_words({"config"}), {125}, {says}));
    const Ran check = cloche_words({"config", "check", user_path()});
    EXPECT_TRUE(exited(check, 1) && contains(check.out, says)) << check.out;
    const Ran doctor = cloche_words({"doctor"});
    EXPECT_TRUE(exited(doctor, 1) && contains(doctor.out, "MISCONFIGURED")) << doctor.out;
    EXPECT_TRUE(contains(doctor.out, says)) << doctor.out;
  }
  EXPECT_FALSE(fs::exists(workspace() / "made"));
  EXPECT_FALSE(fs::exists(workspace() / "new.txt"));
}

TEST_P(Config, OfCloche_sOwnNothingMayLieInTheWorkspaceAndNothingIsMadeThere) {
  const Words commands[] = {{"run", "--", "true"},
                            {"run", "--task", "T", "--", "true"},
                            {"call", "run_shell", R"({"cmd": "ls"})"},
                            {"explain", "run", "--", "true"}};
  for (const char* variable : {"XDG_STATE_HOME", "XDG_CONFIG_HOME"}) {
    for (const auto& words : commands) {
      const Ran ran = cloche_words(words, {{variable, (workspace() / "own").string()}});
      EXPECT_TRUE(exited(ran, 125)) << variable;
      EXPECT_TRUE(contains(ran.out + ran.err, "workspace")) << ran.out << ran.err;
    }
  }
  EXPECT_TRUE(fs::is_empty(workspace()));
}

// What is refused whatever the call is told by those who run none, and they make nothing either.
TEST_P(Config, WhatRefusesEveryCallIsSaidByConfigAndDoctor) {
  const std::string own = (workspace() / "own").string();
  const struct {
    std::string config;
    std::map<std::string, std::string> variables;
    std::string says;
  } rows[] = {
      {R"({"executors_dir": "/nonexistent"})", {}, "/nonexistent"},
      {R"({"tool_path": [")" + root().string() + R"("]})", {}, "lies in " + root().string()},
      {"{}", {{"XDG_STATE_HOME", own}}, "lies in the workspace"},
  };
  for (const auto& [config, variables, says] : rows) {
    user_file(config);
    const Ran call = cloche_words({"call", "run_shell", R"({"cmd": "ls"})"}, variables);
    EXPECT_TRUE(refused(call, {125}, {says})) << config;
    EXPECT_TRUE(refused(cloche_words({"config"}, variables), {125}, {says})) << config;
    const Ran doctor = cloche_words({"doctor"}, variables);
    EXPECT_TRUE(exited(doctor, 1) && contains(doctor.out, "MISCONFIGURED")) << config << doctor.out;
    EXPECT_TRUE(contains(doctor.out, says)) << doctor.out;
  }
  EXPECT_TRUE(printed(cloche_words({"approve", "list"}, {{"XDG_STATE_HOME", own}}), "No question waits.\n"));
  EXPECT_TRUE(fs::is_empty(workspace()));
}

// As umask 002 makes it.
TEST_P(Config, DoctorSaysThatTheStateDirectoryIsNotTrusted) {
  const fs::path state = root() / "shared-state";
  ASSERT_TRUE(exited(run({.argv = {"mkdir", "-m", "775", state}, .as = as()}), 0));
  const std::map<std::string, std::string> variables = {{"XDG_STATE_HOME", state.string()}};
  const Ran doctor = cloche_words({"doctor"}, variables);
  if (!is_root()) {  // who has another directory
    EXPECT_EQ(doctor.exit_code, 1);
    EXPECT_TRUE(contains(doctor.out, "MISCONFIGURED: every call is refused: there is no state directory") &&
                contains(doctor.out, "(mend it: chmod go-w " + state.string() + ")"))
        << doctor.out;
    EXPECT_EQ(cloche_words({"run", "--", "true"}, variables).exit_code, 125);
  }
  fs::permissions(state, fs::perms(0755));
  EXPECT_EQ(cloche_words({"doctor"}, variables).exit_code, 0);
}

// An operator who names a place for the state believes that it is used.
TEST_P(Config, AStateHomeThatIsNoPathIsRefused) {
  const Words commands[] = {
      {"run", "--", "true"}, {"call", "run_shell", R"({"cmd": "ls"})"}, {"config"}, {"approve", "list"}};
  for (const std::string& place : {std::string("own"), (root() / "a/../b").string(), std::string("/")}) {
    for (const auto& words : commands) {
      const Ran ran = cloche_words(words, {{"XDG_STATE_HOME", place}});
      EXPECT_TRUE(refused(ran, {125}, {"XDG_STATE_HOME=" + place})) << words[0];
    }
  }
  const std::string slashes = state_home(as()) + "//more/";
  EXPECT_TRUE(exited(cloche_words({"run", "--", "true"}, {{"XDG_STATE_HOME", slashes}}), 0));
  EXPECT_TRUE(fs::exists(fs::path(state_home(as())) / "more/cloche/proofs"));
}

TEST_P(Config, ADefaultThatAFlagStandsInPlaceOfIsShownAsOverruled) {
  user_file(R"({"default_profile": "readonly"})");
  const std::string lost = R"(overruled: "readonly" of )" + user_path() + ":1\n";
  const Ran other = cloche_words({"config", "--profile", "workspace-write"});
  EXPECT_TRUE(exited(other, 0) && contains(other.out, lost)) << other.out;
  EXPECT_FALSE(contains(cloche_words({"config", "--profile", "readonly"}).out, "overruled: ")) << "the same";
}

TEST_P(Config, AProjectThatLoosensIsRefused) {
  for (const char* text : {R"({"autonomy": "full"})", R"({"enabled": false})", R"({"commands": "any"})",
                           R"({"missing": "degrade"})", R"({"default_profile": "workspace-write"})",
                           R"({"tool_path": ["/usr/bin"]})", R"({"isolation": "subprocess"})"}) {
    project_file(text);
    EXPECT_TRUE(refused(shell("true"), {125}, {project_path() + ":1"})) << text;
    const Ran check = cloche_words({"config", "check", ".cloche/config.json", "--as", "project"});
    EXPECT_TRUE(exited(check, 1)) << text;
    EXPECT_TRUE(exited(cloche_words({"config", "check", ".cloche/config.json"}), 0))
        << "the user may: " << text;
  }
}

// A user's own word: nothing is held, and every call says so. A variable that requires isolation is stronger.
TEST_P(Config, EnabledIsTheOperatorsOwnSwitch) {
  user_file(R"({"enabled": false})");
  const Words words = {"call", "run_shell", R"({"cmd": "ls"})", "--json"};
  const Ran open = cloche_words(words);
  EXPECT_TRUE(contains(open.out, R"("backend":"none")")) << open.out;
  EXPECT_TRUE(contains(open.out, "isolation is off")) << open.out;
  const Ran required = cloche_words(words, {{"CLOCHE_REQUIRE_SANDBOX", "1"}});
  EXPECT_TRUE(contains(required.out, R"("backend":"native")")) << required.out;
  project_file(R"({"enabled": false})");
  EXPECT_TRUE(refused(cloche_words(words), {125}, {project_path() + ":1"})) << "a project may not";
}

TEST_P(Config, GoldenOfEveryKey) {
  user_file(R"({
  "default_profile": "workspace-write",
  "rules": [{"tool": "http_get", "profile": "readonly"}],
  "autonomy": "full",
  "limits": {"memory": "8G", "timeout": "5m"},
  "permissions": {"rules": [], "default": "allow"}
})");
  project_file(R"({
  "default_profile": "workspace-write-no-network",
  "autonomy": "supervised",
  "limits": {"memory": "16G", "pids": 64}
})");
  const Ran ran = cloche_words({"config", "--json", "--commands", "any", "--timeout", "7m"});
  ASSERT_TRUE(exited(ran, 0));
  std::string text = ran.out;
  const std::string scene = root().string();
  for (size_t at = text.find(scene); at != std::string::npos; at = text.find(scene, at))
    text.replace(at, scene.size(), "@");
  const std::string path = std::string(CLOCHE_GOLDEN_DIR) + "/config.json";
  if (std::getenv("CLOCHE_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
  EXPECT_EQ(text, read_file(path)) << "when that is meant, CLOCHE_UPDATE_GOLDEN=1 writes it anew";
}

TEST_P(Config, BadWordsAreBadUsage) {
  for (const Words& words : {Words{"config", "nonsense"}, Words{"config", "check"},
                             Words{"config", "--nonsense"}, Words{"config", "check", "a", "--as", "nobody"}})
    EXPECT_TRUE(exited(cloche_words(words), 2));
  EXPECT_TRUE(exited(cloche_words({"config", "--help"}), 0));
}

}  // namespace
}  // namespace cloche::test
