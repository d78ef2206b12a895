// `cloche run --live`: writes go straight through. What the host executes at the fixed places is read-only,
// and what is new there is taken away before the result is shown; the rest of the tree is not searched.
#include <sys/stat.h>

#include <algorithm>

#include "run/fixture.hpp"

namespace cloche::test {
namespace {

using Paths = std::vector<std::string>;

class Live : public Run {
 protected:
  static Paths quarantined(const Json& json) {
    Paths paths;
    for (const auto& taken : json["quarantined"].array) paths.push_back(taken["path"].string);
    std::sort(paths.begin(), paths.end());
    return paths;
  }
  Answer after(const std::string& script, std::vector<std::string> flags = {"--live"}) const {
    return answer(flags, {"bash", "-c", script});
  }
  Paths taken_after(const std::string& script, std::vector<std::string> flags = {"--live"}) const {
    const Answer ran = after(script, std::move(flags));
    EXPECT_TRUE(ran.json["look_gap"].is(Json::Kind::null)) << ran.json["look_gap"].string;
    return quarantined(ran.json);
  }
  void repository() {
    ASSERT_TRUE(exited(
        outside(R"(set -e; git init -q -b main .; git config user.name A; git config user.email a@example.org
echo one > f; git add f; git commit -qm first)"),
        0));
  }
};
FOR_EVERYONE(Live);

TEST_P(Live, WritesAreThereWhileItRuns) {
  Started running(under({"--live"}, {"bash", "-c", "echo > made; until [ -e end ]; do sleep 0.02; done"}));
  wait_for("made");
  file("end", "");
  EXPECT_TRUE(exited(running.finish(), 0));
}

TEST_P(Live, WhatIsAtFixedPlacesCannotBeChanged) {
  NEEDS("git");
  repository();
  for (const char* name :
       {".envrc", ".vscode/settings.json", ".mcp.json", ".gitmodules", ".config/fish/config.fish"})
    file(name, "the user's\n");
  file(".git/hooks/pre-commit", "#!/bin/sh\nexit 0\n", 0755);
  const std::string config = read_file(workspace() / ".git/config");
  const Answer ran = after(R"(
for f in .envrc .vscode/settings.json .mcp.json .gitmodules .config/fish/config.fish .git/hooks/pre-commit .git/config; do
  (echo evil > $f) 2>/dev/null && echo "wrote $f"
  rm -f $f 2>/dev/null && echo "removed $f"
  mv $f moved 2>/dev/null && echo "moved $f"
  (echo evil > new; mv -f new $f) 2>/dev/null && echo "replaced $f"
  ln $f second 2>/dev/null && echo "linked $f"
  chmod 777 $f 2>/dev/null && echo "opened $f"
  cat $f > /dev/null || echo "cannot read $f"
done
for d in .vscode .git/hooks .config/fish; do
  (touch $d/new) 2>/dev/null && echo "added to $d"
  mv $d moved 2>/dev/null && echo "moved $d"
done
mv .git moved 2>/dev/null && echo "moved .git"
rm -f new; true)");
  EXPECT_EQ(ran.json["stdout"].string, "");
  EXPECT_EQ(quarantined(ran.json), Paths{});
  EXPECT_EQ(read_file(workspace() / ".envrc"), "the user's\n");
  EXPECT_EQ(read_file(workspace() / ".git/config"), config);
}

// The kernel drops a mount when another file is renamed over the one that it stands on.
TEST_P(Live, ACommitOfAnotherCallLeavesWhatIsReadOnlyToIt) {
  NEEDS("git");
  repository();
  const std::string config = read_file(workspace() / ".git/config");
  Started running(under({"--live"}, {"bash", "-c", R"(echo > made; until [ -e end ]; do sleep 0.02; done
(echo evil >> .git/config) 2>/dev/null && echo opened)"}));
  wait_for("made");
  const Answer other = answer({}, {"bash", "-c", "git config user.email other@example.org; echo > beside"});
  EXPECT_EQ(read_file(workspace() / ".git/config"), config);
  EXPECT_NE(other.json["changes"]["staged"].string.find("a live call is running"), std::string::npos)
      << other.json["changes"]["staged"].string;
  EXPECT_FALSE(is_there("beside")) << "all of it or nothing";
  EXPECT_TRUE(exited(cloche_run({}, {"bash", "-c", "echo > other"}), 0));
  EXPECT_TRUE(is_there("other")) << "what replaces nothing of it is committed";
  file("end", "");
  EXPECT_EQ(running.finish().out, "");
  EXPECT_EQ(read_file(workspace() / ".git/config"), config);
  EXPECT_TRUE(exited(cloche_run({}, {"git", "config", "user.email", "after@example.org"}), 0));
  EXPECT_TRUE(contains(read_file(workspace() / ".git/config"), "after@example.org"));
}

// The last one is what a layer would have shown: under --live a deeper place is not looked at.
TEST_P(Live, WhatIsNewThereIsTakenAway) {
  const std::string script = R"(echo evil > .envrc; mkdir -p a/b .vscode; ln -s /etc .claude
echo evil > .vscode/tasks.json; echo evil > .BASHRC; echo fine > fine; echo evil > a/b/.mcp.json)";
  for (const Paths& flags : {Paths{"--live"}, Paths{"--isolation", "subprocess"}}) {
    const Answer ran = after(script, flags);
    EXPECT_EQ(quarantined(ran.json), (Paths{".BASHRC", ".claude", ".envrc", ".vscode"})) << flags.back();
    EXPECT_TRUE(is_there("a/b/.mcp.json"));
    for (const auto& taken : ran.json["quarantined"].array) {
      EXPECT_NE(taken["reason"].string, "");
      const std::string kept = taken["kept_at"].string;
      EXPECT_TRUE(fs::exists(fs::symlink_status(kept))) << kept;
      EXPECT_FALSE(exited(cloche_shell({}, "cat " + kept), 0));
    }
    ASSERT_TRUE(exited(outside("rm -r a fine"), 0));
  }
}

TEST_P(Live, APersonIsTold) {
  const Ran ran = cloche_shell({"--live"}, "echo evil > .envrc; exit 3");
  EXPECT_TRUE(exited(ran, 3));
  EXPECT_TRUE(contains(ran.err, "quarantined: .envrc (direnv runs it")) << ran.err;
  const size_t advice = ran.err.find("to keep it: ");
  ASSERT_NE(advice, std::string::npos) << ran.err;
  const size_t begin = advice + std::string("to keep it: ").size();
  ASSERT_TRUE(exited(outside(ran.err.substr(begin, ran.err.find('\n', begin) - begin)), 0)) << ran.err;
  EXPECT_EQ(read_file(workspace() / ".envrc"), "evil\n");
}

// Advice works when it is followed.
TEST_P(Live, AConfigurationThatIsKeptNamesTheFlag) {
  NEEDS("git");
  repository();
  const std::vector<std::string> rename = {"git", "config", "user.name", "B"};
  const Ran refused = cloche_run({"--live"}, rename);
  EXPECT_NE(refused.exit_code, 0);
  ASSERT_TRUE(contains(refused.err, "--allow-protected .git/config lets the command change it"))
      << refused.err;
  EXPECT_TRUE(exited(cloche_run({"--live", "--allow-protected", ".git/config"}, rename), 0));
  EXPECT_TRUE(printed(outside("git config user.name"), "B\n"));
}

TEST_P(Live, WhatGitIsSentToIsAFixedPlace) {
  NEEDS("git");
  repository();
  ASSERT_TRUE(
      exited(outside("git config core.hooksPath .a-hooks; git config include.path ../.gitshared"), 0));
  file(".a-hooks/pre-push", "#!/bin/sh\n", 0755);
  const Answer ran = after("(echo evil > .a-hooks/pre-push) 2>/dev/null && echo wrote; echo x > .gitshared");
  EXPECT_EQ(ran.json["stdout"].string, "");
  EXPECT_EQ(quarantined(ran.json), Paths{".gitshared"});
}

// Without mounts what changed is moved away and put back, whatever names it by now.
TEST_P(Live, WithoutMountsWhatChangedIsPutBack) {
  NEEDS("git");
  const Paths subprocess = {"--isolation", "subprocess"};
  for (const char* hides : {"git config --unset core.hooksPath", "rm -rf .git", "true"}) {
    ASSERT_TRUE(exited(outside("rm -rf .git hk; git init -q .; git config core.hooksPath hk; mkdir hk; "
                               "echo exit > hk/pre-commit"),
                       0));
    after(std::string("echo evil > hk/pre-commit; ") + hides, subprocess);
    EXPECT_EQ(read_file(workspace() / "hk/pre-commit"), "exit\n") << hides;
  }
  file(".envrc", "the user's\n");
  EXPECT_EQ(taken_after("echo evil > .envrc", subprocess), Paths{".envrc"});
  EXPECT_EQ(read_file(workspace() / ".envrc"), "the user's\n");
}

// What is read-only to every command the host may edit meanwhile.
TEST_P(Live, TheHostMayEditItMeanwhile) {
  file(".envrc", "old\n");
  Started first(under({"--live"}, {"bash", "-c", "touch began; while [ ! -e end ]; do sleep 0.05; done"}));
  wait_for("began");
  file(".envrc", "edited\n");
  file("end", "");
  EXPECT_TRUE(exited(first.finish(), 0));
  EXPECT_EQ(read_file(workspace() / ".envrc"), "edited\n");
}

TEST_P(Live, EverydayGit) {
  NEEDS("git");
  repository();
  const std::string script = R"(set -e
echo two > g; git add g; git commit -qm second
git checkout -q -b side; echo three > h; git add h; git commit -qm third
git checkout -q main; git merge -q side; git worktree add -q wt side 2>&1
git gc -q; git status --short; git log --format=%s | head -1; git init -q other; git init -q --bare c.git)";
  const Answer ran = after(script);
  EXPECT_EQ(ran.json["exit_code"].number, 0) << ran.json["stderr"].string;
  EXPECT_EQ(quarantined(ran.json), Paths{});
}

TEST_P(Live, ANewRepositoryAtTheTopStaysWithoutWhatItWouldRun) {
  NEEDS("git");
  EXPECT_EQ(taken_after("git init -q .; git config user.name A; echo x > f; git add f"), Paths{});
  EXPECT_TRUE(exited(outside("git status; rm -rf .git"), 0));
  EXPECT_EQ(taken_after("git init -q .; git config core.fsmonitor x; echo x > .git/hooks/pre-push"),
            (Paths{".git/config", ".git/hooks/pre-push"}));
}

TEST_P(Live, TheOperatorMayLetItGo) {
  file(".envrc", "the user's\n");
  EXPECT_EQ(taken_after("echo new > .envrc; echo x > .mcp.json", {"--live", "--allow-protected", ".envrc"}),
            Paths{".mcp.json"});
  EXPECT_EQ(read_file(workspace() / ".envrc"), "new\n");
}

TEST_P(Live, AWorkspaceThatGitExecutesIsRefused) {
  NEEDS("git");
  ASSERT_TRUE(
      exited(outside("git init -q .; git config core.hooksPath hk; mkdir hk; git init -q --bare bare"), 0));
  for (const char* name : {"hk", "bare/hooks"}) {
    const Ran ran = cloche_run({"--live", "--workspace", name}, {"true"});
    EXPECT_TRUE(refused(ran, {125}, {"--allow-protected"})) << name;
    EXPECT_TRUE(exited(
        cloche_run({"--live", "--workspace", name, "--allow-protected", workspace() / name}, {"true"}), 0));
  }
}

// A process that stays behind dies with the sandbox, and the look comes after.
TEST_P(Live, NothingIsWrittenAfterTheLook) {
  for (const char* wait : {"0", "0.002", "0.01"}) {
    after(
        "for i in $(seq 20); do (setsid sh -c 'while :; do echo evil > .envrc; mkdir -p .vscode; done' "
        "> /dev/null 2>&1 &); done; sleep " +
        std::string(wait));
    EXPECT_FALSE(is_there(".envrc")) << wait;
    EXPECT_FALSE(is_there(".vscode")) << wait;
  }
}

}  // namespace
}  // namespace cloche::test
