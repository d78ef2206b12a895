// The protected set around `cloche run`: what a command changes of what the host executes later is withheld
// from the project, in any depth and by whatever trick; and everyday git works.
#include <sys/stat.h>

#include <algorithm>
#include <thread>

#include "run/fixture.hpp"

namespace cloche::test {
namespace {

using Paths = std::vector<std::string>;

class Protected : public Run {
 protected:
  // The withheld paths; of a directory that is withheld not what lies in it.
  static Paths withheld(const Json& json) {
    Paths paths;
    for (const auto& change : json["changes"]["paths"].array)
      if (change["verdict"].string == "withheld") paths.push_back(change["path"].string);
    std::sort(paths.begin(), paths.end());
    std::string above;
    std::erase_if(paths, [&](const std::string& path) {
      if (!above.empty() && path.starts_with(above + "/")) return true;
      above = path;
      return false;
    });
    return paths;
  }
  Answer after(const std::string& script, const std::vector<std::string>& flags = {}) const {
    return answer(flags, {"bash", "-c", script});
  }
  // What of the set is kept from the project when a command does this, and nothing else is in its way.
  Paths withheld_after(const std::string& script, const std::vector<std::string>& flags = {}) const {
    const Answer ran = after(script, flags);
    EXPECT_TRUE(ran.json["look_gap"].is(Json::Kind::null)) << ran.json["look_gap"].string;
    EXPECT_EQ(ran.json["changes"]["staged"].string, "");
    return withheld(ran.json);
  }
  Paths tree() const {
    Paths names;
    for (const auto& entry : fs::recursive_directory_iterator(workspace()))
      names.push_back(entry.path().lexically_relative(workspace()));
    std::sort(names.begin(), names.end());
    return names;
  }
  void repository() {
    ASSERT_TRUE(exited(
        outside(R"(set -e; git init -q -b main .; git config user.name A; git config user.email a@example.org
echo one > f; git add f; git commit -qm first)"),
        0));
  }
};
FOR_EVERYONE(Protected);

TEST_P(Protected, WhatIsThereStaysAsItWas) {
  NEEDS("git");
  repository();
  const Paths members = {".envrc", ".vscode/settings.json", ".mcp.json", ".config/fish/config.fish",
                         ".git/hooks/pre-commit"};
  for (const auto& name : members) file(name, "the user's\n", 0755);
  const std::string config = read_file(workspace() / ".git/config");
  const std::string all =
      "for f in .envrc .vscode/settings.json .mcp.json .config/fish/config.fish .git/hooks/pre-commit "
      ".git/config; do ";
  for (const char* attack :
       {"echo evil > $f", "rm -f $f", "mv $f moved$RANDOM", "echo evil > new; mv -f new $f", "chmod 777 $f",
        "rm -r ${f%/*}/ || rm $f", "touch ${f%/*}/new.code-workspace"}) {
    after(all + attack + "; done 2>/dev/null; true");
    for (const auto& name : members)
      EXPECT_EQ(read_file(workspace() / name), "the user's\n") << name << ": " << attack;
    EXPECT_EQ(read_file(workspace() / ".git/config"), config) << attack;
  }
}

TEST_P(Protected, WhatACommandMakesIsWithheld) {
  const Answer ran = after(R"(echo evil > .envrc; mkdir -p a/b .vscode; echo evil > a/b/.mcp.json
echo evil > .vscode/tasks.json; ln -s /etc .claude; echo evil > .BASHRC; echo fine > fine)");
  EXPECT_EQ(withheld(ran.json), (Paths{".BASHRC", ".claude", ".envrc", ".vscode", "a/b/.mcp.json"}));
  EXPECT_EQ(tree(), (Paths{"a", "a/b", "fine"}));
  EXPECT_EQ(static_cast<int>(ran.json["exit_code"].number), 0);
}

TEST_P(Protected, APersonIsTold) {
  const Ran ran = cloche_shell({}, "echo evil > .envrc; exit 3");
  EXPECT_TRUE(exited(ran, 3));
  EXPECT_TRUE(contains(ran.err, "1 withheld (.envrc: direnv runs it")) << ran.err;
}

TEST_P(Protected, TricksWithNamesAndTimes) {
  file("prepared/tasks.json", "evil\n");
  file("prepared2/config", "[core]\n\tfsmonitor = ./x\n");
  file("script", "evil\n");
  EXPECT_EQ(withheld_after("mv prepared .vscode"), (Paths{".vscode", "prepared"}));
  EXPECT_EQ(withheld_after("mv prepared2 .git"), (Paths{".git/config", "prepared2"}));
  EXPECT_EQ(withheld_after("ln script .envrc"), Paths{".envrc"});
  EXPECT_EQ(withheld_after("echo x > .envrc; touch -d 2001-01-01 .envrc ."), Paths{".envrc"});
  EXPECT_EQ(withheld_after("mkdir -p shut; echo x > shut/.envrc; chmod 0 shut"), Paths{"shut/.envrc"});
  EXPECT_EQ(withheld_after("mkdir -p ro; echo x > ro/.envrc; chmod 555 ro"), Paths{"ro/.envrc"});
  EXPECT_EQ(withheld_after("mkdir -p c/fish; ln -s c .config"), Paths{".config"});
}

// What it lies in can: it takes everything with it, and a new one in its place is new.
TEST_P(Protected, ARepositoryMovedAwayDoesNotMakeRoomForAnother) {
  NEEDS("git");
  EXPECT_TRUE(exited(outside("mkdir sub; git init -q sub; echo x > sub/.git/hooks/pre-push"), 0));
  EXPECT_EQ(withheld_after("mv sub kept; git init -q sub; cd sub; git config core.fsmonitor ./x; echo x > "
                           ".git/hooks/pre-commit"),
            (Paths{"kept/.git/hooks/pre-push", "sub/.git/config", "sub/.git/hooks/pre-commit",
                   "sub/.git/hooks/pre-push"}));
}

// What is in it is older than the call, and was nobody's business by its other name.
TEST_P(Protected, ADirectoryThatComesToANameIsNewByIt) {
  file(".config/tasks.json", "{}\n");
  file("z/objects/x", "");
  file("z/refs/x", "");
  file("z/pre-commit", "#!/bin/sh\n", 0755);
  EXPECT_EQ(withheld_after("mv .config .vscode; mv z .husky"), (Paths{".config", ".husky", ".vscode", "z"}));
}

TEST_P(Protected, APlaceThatBecomesARepositoryIsOne) {
  NEEDS("git");
  repository();
  const std::string danger = "printf '[core]\\n\\tfsmonitor = evil\\n'";
  EXPECT_EQ(withheld_after("mkdir -p lib/hooks; touch lib/HEAD; " + danger +
                           " > lib/config; touch lib/hooks/pre-commit"),
            Paths{});
  EXPECT_EQ(withheld_after("mkdir lib/objects lib/refs; mkdir sub; echo 'gitdir: ../lib' > sub/.git"),
            (Paths{"lib/objects", "lib/refs", "sub/.git"}));
  // Where git itself would make one of it, that is not waited for.
  after("mkdir -p .git/modules/lib/hooks; touch .git/modules/lib/HEAD; " + danger +
        " > .git/modules/lib/config; touch .git/modules/lib/hooks/pre-commit");
  EXPECT_FALSE(is_there(".git/modules/lib/config"));
  EXPECT_FALSE(is_there(".git/modules/lib/hooks/pre-commit"));
  EXPECT_EQ(
      withheld_after("mkdir .config; cp -r .git/objects .git/HEAD .config/; cp -r .git/refs .config/r; " +
                     danger + " > .config/config"),
      Paths{});
  after("mv .config/r .config/refs; mv .config sub2; mkdir new; mv sub2 new/.git");
  EXPECT_FALSE(is_there("new/.git/config"));
}

TEST_P(Protected, WhatTheConfigurationSendsGitToIsKeptToo) {
  NEEDS("git");
  repository();
  ASSERT_TRUE(
      exited(outside("git config core.hooksPath .a-hooks; git config include.path ../.gitshared; mkdir old; "
                     "echo x > old/f"),
             0));
  file(".a-hooks/pre-push", "#!/bin/sh\n", 0755);
  EXPECT_EQ(
      withheld_after("echo evil > .a-hooks/pre-commit; echo evil >> .a-hooks/pre-push; echo x > .gitshared; "
                     "echo y > old/g"),
      (Paths{".a-hooks/pre-commit", ".a-hooks/pre-push", ".gitshared"}));
}

TEST_P(Protected, AGitFileLeadsNowhereElse) {
  NEEDS("git");
  EXPECT_EQ(
      withheld_after("echo 'gitdir: /tmp/elsewhere' > .git; mkdir sub; echo 'gitdir: ../../out' > sub/.git; "
                     "mkdir a b; mkdir a/objects a/refs; echo 'gitdir: ../a' > b/.git"),
      (Paths{".git", "b/.git", "sub/.git"}))
      << "but for what git keeps for a worktree or a submodule";
}

// Git on the host would append to the log of a branch, or write its index, wherever they lead.
TEST_P(Protected, NoLinkStaysWhereGitWrites) {
  NEEDS("git");
  repository();
  scene().write("rc", "the user's\n");
  const std::string rc = scene().root() / "rc";
  EXPECT_EQ(withheld_after("for f in logs/refs/heads/x index COMMIT_EDITMSG objects/x refs/heads/y; do "
                           "mkdir -p .git/${f%/*}; rm -f .git/$f; ln -s " +
                           rc + " .git/$f; done; mv .git/logs/HEAD head; ln -s " + rc + " .git/logs/HEAD"),
            (Paths{".git/COMMIT_EDITMSG", ".git/index", ".git/logs/HEAD", ".git/logs/refs/heads/x",
                   ".git/objects/x", ".git/refs/heads/y"}));
  EXPECT_TRUE(exited(outside("git checkout -q -b x; echo two > f; git commit -qam second; git fsck"), 0));
  EXPECT_EQ(read_file(rc), "the user's\n");
}

// A second name would do the same as a link, but what lies outside can have none inside.
TEST_P(Protected, NoHardLinkLeadsOut) {
  NEEDS("git");
  repository();
  scene().write("granted/rc", "the user's\n");
  const std::string granted = scene().root() / "granted";
  const Answer ran = after("ln " + granted +
                               "/rc .git/logs/x 2>/dev/null || echo refused; "
                               "cp -l " +
                               granted + "/rc .git/logs/x 2>/dev/null || echo refused",
                           {"--ro", granted});
  EXPECT_EQ(ran.json["stdout"].string, "refused\nrefused\n");
  EXPECT_FALSE(is_there(".git/logs/x"));
}

TEST_P(Protected, AHardLinkIsNoWayAround) {
  file(".envrc", "the user's\n");
  ASSERT_TRUE(exited(outside("ln .envrc second"), 0));
  EXPECT_EQ(withheld_after("echo evil > second"), Paths{});
  EXPECT_EQ(read_file(workspace() / ".envrc"), "the user's\n");
}

TEST_P(Protected, EverydayGit) {
  NEEDS("git");
  repository();
  const Answer ran = after(R"(set -e
echo two > g; git add g; git commit -qm second
git checkout -q -b side; echo three > h; git add h; git commit -qm third
echo four >> h; git stash -q; git stash pop -q; git commit -qam fourth
git checkout -q main; git merge -q side; git tag v1
git worktree add -q wt side 2>&1; cd wt; echo five > i; git add i; git commit -qm fifth; cd ..
git rebase -q side; git branch -D side 2>/dev/null || true; git gc -q; git status --short; git log --format=%s | head -1)");
  EXPECT_EQ(ran.json["exit_code"].number, 0) << ran.json["stderr"].string;
  EXPECT_EQ(ran.json["stdout"].string, "?? wt/\nfifth\n");
  EXPECT_EQ(withheld(ran.json), Paths{});
}

TEST_P(Protected, AHookOfTheUsersRunsInside) {
  NEEDS("git");
  repository();
  file(".git/hooks/pre-commit", "#!/bin/sh\necho hook ran > hook-ran\n", 0755);
  EXPECT_EQ(withheld_after("echo two > g; git add g; git commit -qm second"), Paths{});
  EXPECT_EQ(read_file(workspace() / "hook-ran"), "hook ran\n");
}

TEST_P(Protected, ANewRepositoryStays) {
  NEEDS("git");
  EXPECT_EQ(withheld_after(
                R"(set -e; git init -q a; cd a; git config user.name A; git config user.email a@example.org
echo x > f; git add f; git commit -qm first; cd ..; git clone -q a b; git init -q --bare c.git
cd b; git remote add other ../c.git; git push -q other HEAD)"),
            Paths{});
  EXPECT_EQ(outside("git -C b log --format=%s; git -C c.git log --all --format=%s").out, "first\nfirst\n");
}

TEST_P(Protected, WhatRunsInANewRepositoryDoesNot) {
  NEEDS("git");
  after(R"(git init -q a; git -C a config core.hooksPath ../x; echo x > a/.git/hooks/pre-push
git init -q --bare c.git; git -C c.git config alias.st '!x'; echo x > c.git/hooks/update
git init -q m; git init -q l; mkdir -p m/.git/modules; mv l/.git m/.git/modules/l; echo x > m/.git/modules/l/hooks/x
mkdir -p g/w k/objects k/refs; echo ref: refs/heads/x > g/w/HEAD; echo ../../k > g/w/commondir
printf '[core]\n\tfsmonitor = x\n' > k/config; echo "gitdir: g/w" > .git)");
  for (const char* path : {"a/.git/config", "a/.git/hooks/pre-push", "c.git/config", "c.git/hooks/update",
                           "g/w/commondir", "k/config", "m/.git/modules/l/hooks/x"})
    EXPECT_FALSE(is_there(path)) << path;
}

// A merge strategy with a slash in its name is a program of the tree, and a remote can be a command.
TEST_P(Protected, WhatGitWouldRunWhenItGoesOn) {
  NEEDS("git");
  repository();
  after(R"(mkdir -p .git/sequencer .git/rebase-merge .git/remotes
printf '[options]\n\tstrategy = x/y\n' > .git/sequencer/opts; echo x/y > .git/rebase-merge/strategy
echo 'URL: ext::sh -c x' > .git/remotes/origin
git init -q b; printf '[branch "main"]\n\tremote = ext::sh -c x\n' >> b/.git/config)");
  for (const char* path :
       {".git/rebase-merge/strategy", ".git/remotes/origin", ".git/sequencer/opts", "b/.git/config"})
    EXPECT_FALSE(is_there(path)) << path;
}

TEST_P(Protected, ASubmodulesOwnAreJudged) {
  NEEDS("git");
  ASSERT_TRUE(exited(
      outside(R"(set -e; cd ..; export GIT_CONFIG_COUNT=3 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=A
export GIT_CONFIG_KEY_1=user.email GIT_CONFIG_VALUE_1=a@example.org GIT_CONFIG_KEY_2=protocol.file.allow GIT_CONFIG_VALUE_2=always
git init -q lib; cd lib; echo x > f; git add f; git commit -qm lib; cd ../workspace
git init -q .; git submodule --quiet add ../lib lib; git commit -qm sub)"),
      0));
  const Answer ran =
      after(R"(cd lib; echo y > f; git -c user.name=A -c user.email=a@example.org commit -qam inside
git config core.fsmonitor x; echo x > ../.git/modules/lib/hooks/pre-commit)");
  EXPECT_EQ(withheld(ran.json), (Paths{".git/modules/lib/config", ".git/modules/lib/hooks/pre-commit"}));
  EXPECT_EQ(outside("git -C lib log --format=%s | head -1").out, "inside\n") << ran.json["stderr"].string;
}

TEST_P(Protected, ABareRepositoryAsTheWorkspace) {
  NEEDS("git");
  ASSERT_TRUE(exited(outside("git init -q --bare ."), 0));
  EXPECT_EQ(withheld_after("echo x > hooks/update; git config core.fsmonitor x"),
            (Paths{"config", "hooks/update"}));
}

TEST_P(Protected, PackagesWithMembersInThemCanBeReplaced) {
  file("node_modules/a/.npmrc", "x\n");
  file("node_modules/a/index.js", "x\n");
  EXPECT_TRUE(exited(cloche_shell({}, "rm -r node_modules && mkdir node_modules"), 0));
}

TEST_P(Protected, TheOperatorMayLetItGo) {
  NEEDS("git");
  repository();
  file(".envrc", "the user's\n");
  EXPECT_EQ(withheld_after("git config core.pager cat; echo new > .envrc; mkdir .vscode; echo x > .vscode/a; "
                           "echo x > .mcp.json",
                           {"--allow-protected", ".git/config", "--allow-protected", workspace() / ".envrc",
                            "--allow-protected", ".vscode"}),
            Paths{".mcp.json"});
  EXPECT_EQ(read_file(workspace() / ".envrc"), "new\n");
  EXPECT_TRUE(is_there(".vscode/a"));
  EXPECT_TRUE(refused(cloche_shell({"--allow-protected", "/etc"}, "true"), {125}, {"--allow-protected"}));
  EXPECT_TRUE(refused(cloche_shell({"--allow-protected", "../x"}, "true"), {125}, {"--allow-protected"}));
}

TEST_P(Protected, AGrantedTreeIsJudgedToo) {
  const auto other = scene().write("other/.envrc", "the user's\n").parent_path();
  const std::string script =
      "cd " + other.string() + "; echo x > .envrc; echo x > .mcp.json; cd -; echo x > .mcp.json";
  const std::string whole = fs::canonical(other);
  EXPECT_EQ(withheld_after(script, {"--rw", other}),
            (Paths{".mcp.json", whole + "/.envrc", whole + "/.mcp.json"}));
  EXPECT_EQ(read_file(other / ".envrc"), "the user's\n");
}

TEST_P(Protected, AWiderGrantTakesNothingFromTheWorkspace) {
  file("inner/.envrc", "the user's\n");
  EXPECT_EQ(withheld_after(
                "cd '" + (workspace() / "inner").string() + "'; echo evil > .envrc; echo evil > .mcp.json",
                {"--workspace", workspace() / "inner", "--rw", workspace()}),
            (Paths{".envrc", ".mcp.json"}));
  EXPECT_EQ(read_file(workspace() / "inner/.envrc"), "the user's\n");
  EXPECT_FALSE(is_there("inner/.mcp.json"));
}

// What names the hooks is changed in the same call.
TEST_P(Protected, HooksAreThoseOfBeforeTheCommandToo) {
  NEEDS("git");
  for (const char* hides : {"git config --unset core.hooksPath", "rm -rf .git", "true"}) {
    ASSERT_TRUE(exited(outside("rm -rf .git hk; git init -q .; git config core.hooksPath hk; mkdir hk; "
                               "echo exit > hk/pre-commit"),
                       0));
    after(std::string("echo evil > hk/pre-commit; ") + hides);
    EXPECT_EQ(read_file(workspace() / "hk/pre-commit"), "exit\n") << hides;
  }
}

TEST_P(Protected, InAWorkspaceThatGitExecutesEverythingIsWithheld) {
  NEEDS("git");
  ASSERT_TRUE(
      exited(outside("git init -q .; git config core.hooksPath hk; mkdir hk; git init -q --bare bare"), 0));
  for (const char* name : {"hk", "bare/hooks"}) {
    EXPECT_EQ(withheld_after("echo x > '" + (workspace() / name).string() + "/pre-push'",
                             {"--workspace", workspace() / name}),
              Paths{"pre-push"})
        << name;
    EXPECT_FALSE(is_there(std::string(name) + "/pre-push"));
  }
}

// Whoever stays behind in the sandbox dies with it, and the look comes after.
TEST_P(Protected, NobodyWritesAfterTheLook) {
  for (const char* wait : {"0", "0.002", "0.01"}) {
    const std::string delay(wait);
    after(
        "for i in $(seq 20); do (setsid sh -c 'while :; do echo evil > .envrc; mkdir -p a/.vscode; done' "
        "> /dev/null 2>&1 &); done; sleep " +
        delay);
    EXPECT_FALSE(is_there(".envrc")) << wait;
    EXPECT_FALSE(is_there("a/.vscode")) << wait;
  }
}

TEST_P(Protected, AReadOnlyWorkspaceIsNotLookedAt) {
  file(".envrc", "the user's\n");
  const Answer ran = after("cat .envrc", {"--profile", "readonly"});
  EXPECT_EQ(ran.json["stdout"].string, "the user's\n");
  EXPECT_EQ(withheld(ran.json), Paths{});
}

TEST_P(Protected, ThereIsNoDepthToHideIn) {
  std::string path;
  for (int i = 0; i < 400; ++i) path += "d/";
  EXPECT_EQ(withheld_after("mkdir -p " + path + "; echo x > " + path + ".envrc"), Paths{path + ".envrc"});
  EXPECT_EQ(withheld_after("true"), Paths{});
  ASSERT_TRUE(exited(outside("rm -r d"), 0));
}

}  // namespace
}  // namespace cloche::test
