// Hooks that lie in the tree as ordinary files, and are git's all the same because a link or a configuration
// says so. On each rung that keeps them in its own way: whatever a command does, the host's next commit runs
// nothing of it.
#include <thread>

#include "ladder/rungs.hpp"
#include "run/json.hpp"

namespace cloche::test {
namespace {

constexpr const char* prelude =
    "export GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=A "
    "GIT_CONFIG_KEY_1=user.email GIT_CONFIG_VALUE_1=a@example.org; "
    "hook() { mkdir -p \"${1%/*}\"; printf '#!/bin/sh\\necho %s\\n' \"$2\" > \"$1\"; chmod +x \"$1\"; }; ";

class ExecutedElsewhere : public Rungs {
 protected:
  // The operator's own configuration, beside the workspace.
  Command with_own_git() const {
    return {.env = {{"GIT_CONFIG_GLOBAL", workspace().parent_path() / "gitconfig"}}};
  }
  std::string outside(const std::string& script) const {
    Command command = on_rung({}, {}, with_own_git());
    command.argv = {"bash", "-c", prelude + script};
    const Ran ran = run(command);
    EXPECT_TRUE(exited(ran, 0)) << script << ran.out << ran.err;
    return ran.out + ran.err;
  }
  Json inside(const std::string& script, std::vector<std::string> flags = {}) const {
    flags.push_back("--json");
    const Ran ran = run(on_rung(flags, {"bash", "-c", prelude + script}, with_own_git()));
    const Json json = parse_json(ran.out).value_or(Json{});
    EXPECT_TRUE(json["look_gap"].is(Json::Kind::null)) << ran.out;
    return json;
  }
  // The hook says GOOD before, and never what the command has it say.
  void expect_never_evil(const std::string& stage, const std::string& command,
                         const std::string& commit = "git commit --allow-empty -qm two") const {
    outside("set -e; " + stage);
    inside(command);
    EXPECT_EQ(outside(commit).find("EVIL"), std::string::npos) << command;
  }
};
INSTANTIATE_TEST_SUITE_P(Rung, ExecutedElsewhere, ::testing::ValuesIn(seats_of_three()),
                         [](const auto& param) { return name_of(param); });

constexpr const char* by_link =
    "git init -q .; hook scripts/pre-commit GOOD; ln -s ../../scripts/pre-commit .git/hooks/pre-commit; ";

TEST_P(ExecutedElsewhere, AHookByALink) {
  expect_never_evil(std::string(by_link) + "git commit --allow-empty -qm one 2>&1 | grep GOOD",
                    "hook scripts/pre-commit EVIL");
  // It was read-only, or was put back.
  EXPECT_NE(outside("git commit --allow-empty -qm three").find("GOOD"), std::string::npos);
}

TEST_P(ExecutedElsewhere, AHookByALinkWhoseDirectoryIsAnother) {
  expect_never_evil(by_link, "mv scripts old; hook scripts/pre-commit EVIL");
}

TEST_P(ExecutedElsewhere, AHookByAChainOfLinks) {
  expect_never_evil(
      std::string(by_link) +
          "ln -sf ../../on .git/hooks/pre-commit; ln -s scripts/pre-commit on; hook x/spare EVIL",
      "ln -sf x/spare on");
}

TEST_P(ExecutedElsewhere, AHookByALinkThatLedNowhere) {
  expect_never_evil("git init -q .; ln -s ../../scripts/pre-commit .git/hooks/pre-commit",
                    "hook scripts/pre-commit EVIL");
}

TEST_P(ExecutedElsewhere, HooksByALinkToTheirDirectory) {
  expect_never_evil(
      "git init -q .; rm -r .git/hooks; hook scripts/pre-commit GOOD; ln -s ../scripts .git/hooks",
      "hook scripts/post-commit EVIL; hook scripts/pre-commit EVIL");
}

TEST_P(ExecutedElsewhere, HooksOfAWorktreesRepository) {
  expect_never_evil(
      "cd ..; git init -q -b main whole; cd whole; git commit -qm one --allow-empty; git config "
      "core.hooksPath "
      "tools/hk; git worktree add -q -b side ../workspace; cd ../workspace; hook tools/hk/pre-commit GOOD",
      "hook tools/hk/pre-commit EVIL; hook tools/hk/post-commit EVIL");
}

TEST_P(ExecutedElsewhere, HooksOfTheRepositoryAround) {
  expect_never_evil(
      "cd ..; git init -q .; git config core.hooksPath workspace/hk; hook workspace/hk/pre-commit GOOD",
      "hook hk/pre-commit EVIL; hook hk/post-commit EVIL");
}

TEST_P(ExecutedElsewhere, HooksOfASubmodule) {
  expect_never_evil(
      "git init -q ../lib; git -C ../lib commit -qm one --allow-empty; git init -q .; "
      "git -c protocol.file.allow=always submodule --quiet add ../lib lib; "
      "git -C lib config core.hooksPath hk; hook lib/hk/pre-commit GOOD",
      "hook lib/hk/pre-commit EVIL; hook lib/hk/post-commit EVIL", "git -C lib commit --allow-empty -qm two");
}

// Of which the command may write the git directory, though it lies outside the workspace.
constexpr const char* workspace_as_submodule =
    "git init -q -b main ../lib; git -C ../lib commit -qm one --allow-empty; cd ..; rmdir workspace; git "
    "init -q .; git -c protocol.file.allow=always submodule --quiet add ./lib workspace; cd workspace; ";

TEST_P(ExecutedElsewhere, HooksOfTheSubmoduleThatTheWorkspaceIs) {
  expect_never_evil(
      std::string(workspace_as_submodule) + "hook ../.git/modules/workspace/hooks/pre-commit GOOD",
      "cd ../.git/modules/workspace; hook hooks/pre-commit EVIL; hook hooks/post-commit EVIL; "
      "mv hooks old; hook hooks/pre-commit EVIL; hook modules/x/hooks/post-checkout EVIL");
  EXPECT_NE(outside("git commit --allow-empty -qm three").find("GOOD"), std::string::npos);
  EXPECT_EQ(outside("find ../.git/modules/workspace/modules -type f"), "");
}

TEST_P(ExecutedElsewhere, TheConfigurationOfTheSubmoduleThatTheWorkspaceIs) {
  const std::string module = "../.git/modules/workspace";
  outside("set -e; " + std::string(workspace_as_submodule) + "cp " + module + "/config ../config-before");
  inside(
      "git config core.hooksPath hk; git config core.fsmonitor ./hk/pre-commit; hook hk/pre-commit EVIL; "
      "cd " +
      module + "; echo '[core] hooksPath = hk' >> config; printf '[core]\n hooksPath = hk\n' > c; mv c " +
      "config; mkdir -p info; echo '* filter=x' > info/attributes; echo /x > commondir; rm -f config");
  EXPECT_EQ(outside("cmp " + module + "/config ../config-before; cat " + module +
                    "/info/attributes 2> /dev/null; cat " + module + "/commondir 2> /dev/null || true"),
            "");
  EXPECT_EQ(outside("git commit --allow-empty -qm two").find("EVIL"), std::string::npos);
}

TEST_P(ExecutedElsewhere, HooksByAConfigurationAsPeopleWriteIt) {
  expect_never_evil(
      "git init -q .; hook h/pre-commit GOOD; echo '[core] hooksPath = \"h\" # ours' >> .git/config",
      "hook h/pre-commit EVIL; hook h/post-commit EVIL");
}

TEST_P(ExecutedElsewhere, HooksByAnIncludedConfiguration) {
  expect_never_evil(
      "git init -q .; hook h/pre-commit GOOD; printf '[include]\n path = ../one\n' >> .git/config; "
      "printf '[include]\n path = two\n' > one; printf '[core]\n hooksPath = h\n' > two",
      "hook h/pre-commit EVIL; hook h/post-commit EVIL; printf '[core]\n hooksPath = i\n' >> two; "
      "hook i/pre-commit EVIL");
}

TEST_P(ExecutedElsewhere, HooksByTheOperatorsOwnConfiguration) {
  if (backend() == "subprocess") GTEST_SKIP() << "skipped: without a layer only fixed places are looked at";
  expect_never_evil("git init -q .; hook h/pre-commit GOOD; printf '[core]\n hooksPath = h\n' > ../gitconfig",
                    "hook h/pre-commit EVIL; git init -q new; hook new/h/pre-commit EVIL",
                    "git commit --allow-empty -qm two; git -C new commit --allow-empty -qm two");
}

TEST_P(ExecutedElsewhere, AProgramOfTheOperatorsOwnConfiguration) {
  expect_never_evil(
      "git init -q .; hook t/diff GOOD; printf '[diff]\n external = ./t/diff\n' > ../gitconfig; "
      "echo a > f; git add f; echo b > f; git diff | grep GOOD",
      "hook t/diff EVIL", "git diff || true");
}

TEST_P(ExecutedElsewhere, AHookOfASubmoduleToBe) {
  outside("git init -q .");
  inside("hook .git/modules/new/hooks/pre-commit EVIL");
  EXPECT_EQ(outside("find .git/modules -type f"), "");
}

TEST_P(ExecutedElsewhere, AnEditorsFileByALink) {
  outside("mkdir .vscode scripts; echo good > scripts/t.json; ln -s ../scripts/t.json .vscode/tasks.json");
  inside("echo evil > scripts/t.json");
  EXPECT_EQ(outside("cat .vscode/tasks.json"), "good\n");
}

// Without the right to search it a directory can be read, and nothing in it be looked at.
TEST_P(ExecutedElsewhere, AHookThatOneCallClosesInAndAnotherOpens) {
  if (backend() == "subprocess") GTEST_SKIP() << "skipped: without a layer only fixed places are looked at";
  const std::string closes = "git init -q a/r; hook a/r/.git/hooks/pre-commit EVIL; chmod 444 a/r/.git a/r; ";
  const std::string opens = "chmod -R u+rwx a; ";
  const std::string commits = "git -C a/r commit --allow-empty -qm one";
  EXPECT_NE(outside(closes + opens + commits).find("EVIL"), std::string::npos);
  outside("rm -rf a");
  inside(closes);
  inside(opens);
  EXPECT_EQ(outside(opens + commits).find("EVIL"), std::string::npos);
}

// The kernel takes a mount away when another file comes in its place, and git writes every configuration
// anew.
TEST_P(ExecutedElsewhere, AConfigurationThatTheHostReplacesMeanwhile) {
  outside("git init -q .; git config core.hooksPath .husky");
  const std::string evil = "printf '[core]\n fsmonitor = \"echo EVIL >&2; false\"\n' >> .git/config; ";
  const auto meanwhile = [&](const std::string& then, const std::string& name) {
    std::thread command([&] {
      inside("touch started; until test -e go; do sleep 0.02; done; " + then + "true", {"--live"});
    });
    outside("until test -e started; do sleep 0.02; done; git config user.signingkey " + name + "; touch go");
    command.join();
    return outside(
        "rm -f go started; git status 2>&1; git config user.signingkey; git config core.hooksPath; true");
  };
  const std::string after = meanwhile("", "me");
  EXPECT_TRUE(contains(after, "me\n")) << after;
  EXPECT_TRUE(contains(after, ".husky\n")) << after;
  EXPECT_FALSE(contains(meanwhile(evil, "you"), "EVIL"));
  EXPECT_TRUE(contains(outside(evil + "git status 2>&1"), "EVIL"));
}

}  // namespace
}  // namespace cloche::test
