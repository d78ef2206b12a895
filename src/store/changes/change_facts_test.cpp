// The judge over real trees: what would be executed later is withheld. Each row is a project, what a call
// does to it by a shell, and what is withheld.
#include "store/changes/change_facts.hpp"

#include <gtest/gtest.h>

#include "store/changes/change_facts_fixture.hpp"

namespace cloche {
namespace {

using Paths = std::vector<std::string>;

struct Row {
  const char* what;
  const char* before;
  const char* call;
  Paths withheld;
};

void expect_withheld(const Row& row) {
  SCOPED_TRACE(row.what);
  Project project;
  project.run(row.before);
  project.begin();
  project.run(row.call);
  project.end();
  const JudgedChanges judged = project.judge();
  EXPECT_EQ(paths_with(project.set(), judged, Fate::withheld), row.withheld)
      << reasons_of(project.set(), judged);
}

constexpr const char* waiting_conflict =
    "cp -a \"$MADE/repository/.\" .; mkdir .git/rr-cache; printf "
    "'0123456789012345678901234567890123456789\\ta\\0001234567890123456789012345678901234567890\\tsrc/b\\0' "
    "> .git/MERGE_RR";

const Row attacks[] = {
    {"a member", "true", "echo x > .envrc; echo y > a", {".envrc"}},
    {"a member in any depth", "mkdir -p a/b", "mkdir a/b/c; echo x > a/b/c/.envrc", {"a/b/c/.envrc"}},
    {"a directory as a whole",
     "true",
     "mkdir .vscode; echo x > .vscode/tasks.json",
     {".vscode", ".vscode/tasks.json"}},
    {"a member that was there", "echo x > .envrc", "echo y > .envrc", {".envrc"}},
    {"a member that is deleted", "echo x > .envrc; echo a > a", "rm .envrc a", {".envrc"}},
    {"a directory that holds one", "mkdir d; echo x > d/.envrc; echo a > d/a", "rm -r d", {"d", "d/.envrc"}},
    {"moved to its name", "echo x > x", "mv x .envrc", {".envrc", "x"}},
    {"a directory moved to its name",
     "mkdir x; echo t > x/tasks.json",
     "mv x .vscode",
     {".vscode", ".vscode/tasks.json", "x", "x/tasks.json"}},
    {"a member that is moved up",
     "mkdir -p t/.vscode; echo x > t/.vscode/tasks.json",
     "mv t/.vscode .",
     {".vscode", ".vscode/tasks.json", "t/.vscode", "t/.vscode/tasks.json"}},
    {"moved and changed",
     "mkdir sub; echo x > sub/.envrc",
     "mv sub sub2; echo y > sub2/.envrc",
     {"sub", "sub/.envrc", "sub2/.envrc"}},
    {"a hook", repository, "echo x > .git/hooks/pre-commit", {".git/hooks/pre-commit"}},
    {"a hook by its case",
     repository,
     "mkdir -p .GIT/Hooks; echo x > .GIT/Hooks/pre-commit",
     {".GIT/Hooks/pre-commit"}},
    {"a hook that is made executable",
     "git init -q .; echo x > .git/hooks/pre-commit",
     "chmod +x .git/hooks/pre-commit",
     {".git/hooks/pre-commit"}},
    {"a hook that is deleted",
     "git init -q .; echo x > .git/hooks/pre-commit",
     "rm .git/hooks/pre-commit",
     {".git/hooks/pre-commit"}},
    {"a sample that becomes a hook",
     repository,
     "mv .git/hooks/pre-commit.sample .git/hooks/pre-commit",
     {".git/hooks/pre-commit", ".git/hooks/pre-commit.sample"}},
    {"hooks that are a link",
     "git init -q .; rm .git/hooks/*",
     "mkdir h; rmdir .git/hooks; ln -s ../h .git/hooks",
     {".git/hooks"}},
    {"a nested repository's hook",
     repository,
     "git init -q src/n; echo x > src/n/.git/hooks/post-checkout",
     {"src/n/.git/hooks/post-checkout"}},
    {"a key that names a program", repository, "git config core.fsmonitor ./x", {".git/config"}},
    {"an alias", repository, "git config alias.st '!./x'", {".git/config"}},
    {"a filter with attributes",
     repository,
     "git config filter.x.smudge ./x; mkdir -p .git/info; echo '* filter=x' > .git/info/attributes; "
     "echo '* filter=x' > .gitattributes",
     {".git/config", ".git/info/attributes"}},
    {"an included file", repository, "git config include.path ../more; echo x > more", {".git/config"}},
    {"a configuration that is a link",
     repository,
     "mv .git/config c; ln -s ../c .git/config",
     {".git/config"}},
    {"a configuration that is deleted", repository, "rm .git/config", {".git/config"}},
    {"a bare repository",
     "true",
     "git init -q --bare b.git; echo x > b.git/hooks/update; rm -r b.git/info",
     {"b.git/hooks/update"}},
    {"a bare repository's configuration",
     "git init -q --bare b.git",
     "git -C b.git config core.pager ./x",
     {"b.git/config"}},
    {"what becomes a repository",
     "mkdir -p x/hooks; echo x > x/hooks/pre-commit",
     "mkdir x/objects x/refs; echo 'ref: refs/heads/main' > x/HEAD",
     {"x/HEAD", "x/objects", "x/refs"}},
    {"what becomes one by its configuration",
     "mkdir x; printf '[core]\\n\\tfsmonitor = ./x\\n' > x/config",
     "mkdir x/objects x/refs; echo 'ref: refs/heads/main' > x/HEAD",
     {"x/HEAD", "x/objects", "x/refs"}},
    {"a directory becomes .git",
     "mkdir -p x/hooks; echo x > x/hooks/pre-commit",
     "mv x .git",
     {".git/hooks/pre-commit", "x", "x/hooks", "x/hooks/pre-commit"}},
    {"a gitfile to a crafted repository",
     "git init -q --bare f; echo x > f/hooks/pre-commit; mkdir sub",
     "echo 'gitdir: ../f' > sub/.git",
     {"sub/.git"}},
    {"a gitfile to a crafted configuration",
     "git init -q --bare f; git -C f config core.fsmonitor ./x; mkdir sub",
     "echo 'gitdir: ../f' > sub/.git",
     {"sub/.git"}},
    {"a link to a crafted repository",
     "git init -q --bare f; git -C f config core.fsmonitor ./x; mkdir sub",
     "ln -s ../f sub/.git",
     {"sub/.git"}},
    {"a gitfile to another place",
     repository,
     "mkdir sub; echo 'gitdir: /var/tmp/x' > sub/.git",
     {"sub/.git"}},
    {"a gitfile through a link",
     "mkdir sub; ln -s /var/tmp out",
     "echo 'gitdir: ../out/x' > sub/.git",
     {"sub/.git"}},
    {"commondir", repository, "echo ../f > .git/commondir", {".git/commondir"}},
    {"a place of hooks that was said before",
     "git init -q .; git config core.hooksPath tools/hk",
     "mkdir -p tools/hk; echo x > tools/hk/pre-commit",
     {"tools/hk", "tools/hk/pre-commit"}},
    {"a place of hooks that another is put at",
     "git init -q .; git config core.hooksPath hk; mkdir hk new; echo x > new/pre-commit",
     "rmdir hk; mv new hk",
     {"hk/pre-commit", "new", "new/pre-commit"}},
    {"a place of hooks that becomes a link",
     "git init -q .; git config core.hooksPath tools/hk; mkdir -p other/hk; echo x > other/hk/pre-commit",
     "ln -s other tools",
     {"tools"}},
    {"a place of hooks behind a link",
     "git init -q .; git config core.hooksPath hk; mkdir real; ln -s real hk",
     "echo x > real/pre-commit",
     {"real/pre-commit"}},
    {"an included file that was said before",
     "git init -q .; git config include.path ../more; echo > more",
     "printf '[core]\\n\\tpager = ./x\\n' > more",
     {"more"}},
    {"a program that was said before",
     "git init -q .; git config core.fsmonitor ./tools/fs",
     "mkdir tools; echo x > tools/fs; echo y > tools/other",
     {"tools/fs"}},
    {"a hook that is a link of the user's",
     "git init -q .; mkdir s; echo x > s/check; ln -s ../../s/check .git/hooks/pre-commit",
     "echo y > s/check; echo z > s/other",
     {"s/check"}},
    {"a member that is a link of the user's",
     "mkdir t; echo x > t/env; ln -s t/env .envrc",
     "echo y > t/env",
     {"t/env"}},
    {"a link in a member",
     "mkdir -p .claude skills; ln -s ../skills .claude/skills",
     "echo y > skills/run.sh",
     {"skills/run.sh"}},
    {"a gitfile to where nothing is", "mkdir sub", "echo 'gitdir: ../t' > sub/.git", {"sub/.git"}},
    {"a link on the way to a repository of the user's",
     "git init -q --bare g; git init -q --bare f; git -C f config core.pager ./x; mkdir sub; ln -s g l; "
     "echo 'gitdir: ../l' > sub/.git",
     "echo a > sub/a; ln -sfn f l",
     {"l"}},
    {"a link to a crafted repository by any name",
     "git init -q --bare f; git -C f config core.pager ./x; git init -q --bare g",
     "ln -s f l; ln -s g m",
     {"l"}},
    {"a common part, made at last",
     "mkdir -p c/hooks; echo x > c/hooks/pre-commit; printf '[core]\\n\\tpager = x\\n' > c/config",
     "mkdir c/objects c/refs",
     {"c/objects", "c/refs"}},
    {"the operator's place of hooks in a new repository",
     "printf '[core]\\n\\thooksPath = hk\\n' > \"$HOME/.gitconfig\"",
     "git init -q new; mkdir new/hk; echo x > new/hk/pre-commit; mkdir hk; echo y > hk/a",
     {"new/hk", "new/hk/pre-commit"}},
    {"in a checkout of an agent's",
     "mkdir -p .claude/worktrees/a",
     "echo x > .claude/worktrees/a/f; mkdir .claude/worktrees/b; echo x > .claude/worktrees/b/.envrc; "
     "echo y > .claude/x",
     {".claude/worktrees/b/.envrc", ".claude/x"}},
    {"beside the checkouts of an agent's",
     "mkdir -p .claude/worktrees/a",
     "echo x > .claude/worktrees/.mcp.json; mkdir .claude/worktrees/.cargo; "
     "echo x > .claude/worktrees/.cargo/config.toml; echo x > .claude/worktrees/f",
     {".claude/worktrees/.cargo/config.toml", ".claude/worktrees/.mcp.json"}},
    {"worktrees in what is no agent's",
     "mkdir -p .github/extensions .devcontainer",
     "mkdir .github/extensions/worktrees .devcontainer/worktrees; echo x > "
     ".github/extensions/worktrees/extension.mjs; echo {} > .devcontainer/worktrees/devcontainer.json",
     {".devcontainer/worktrees", ".devcontainer/worktrees/devcontainer.json", ".github/extensions/worktrees",
      ".github/extensions/worktrees/extension.mjs"}},
    {"a working tree that leads back, of no submodule",
     repository,
     "mkdir .cargo; echo 'gitdir: ../.git' > .cargo/.git; git config core.worktree ../.cargo",
     {".git/config"}},
    {"a working tree that does not lead back",
     repository,
     "git init -q n; git config core.worktree ../n",
     {".git/config"}},
    {"modules that name a command",
     "true",
     "printf '[submodule \"x\"]\\n\\tpath = x\\n\\turl = ext::sh\\n' > .gitmodules",
     {".gitmodules"}},
    {"a rebase with commands",
     repository,
     "mkdir .git/rebase-merge; echo 'exec ./x' > .git/rebase-merge/git-rebase-todo",
     {".git/rebase-merge/git-rebase-todo"}},
    {"a strategy by its path",
     repository,
     "mkdir .git/sequencer; printf '[options]\\n\\tstrategy = x/y\\n' > .git/sequencer/opts",
     {".git/sequencer/opts"}},
    {"a submodule's working tree where hooks are",
     repository,
     "git init -q --bare .git/modules/m; git -C .git/modules/m config core.worktree ../../hooks",
     {".git/modules/m/config"}},
    {"a link out",
     "true",
     "ln -s /etc/passwd a; ln -s ../../x b; ln -s \"$HOME/.bashrc\" c",
     {"a", "b", "c"}},
    {"a chain out", "mkdir d; ln -s /etc d/e", "ln -s d/e/passwd a; ln -s a b", {"a", "b"}},
    {"a chain of new ones", "true", "mkdir x; ln -s .. x/up; ln -s x/up/../.. a", {"a"}},
    {"out by way of the system", "true", "ln -s /usr/../etc/passwd a", {"a"}},
    {"a link on the way to a member",
     "true",
     "mkdir c; mkdir c/git; echo x > c/git/config; ln -s c .config",
     {".config"}},
    {"special files",
     "true",
     "mkfifo p; echo a > s; chmod u+s s; echo b > g; chmod g+s g; echo c > w; "
     "chmod o+w w; mkdir d; chmod 1777 d",
     {"d", "g", "p", "s", "w"}},
    {"Cloche's own",
     "mkdir .cloche",
     "echo x > .cloche/config.json; mkdir tool_calls; echo x > tool_calls/a",
     {".cloche/config.json", "tool_calls", "tool_calls/a"}},
    {"what is deleted as if it were git's",
     "git init -q .; mkdir p; echo x > p/.envrc; echo x > p/HEAD; echo ../.git > p/commondir",
     "rm -r p",
     {"p", "p/.envrc"}},
    {"a common part with links",
     "mkdir H; echo x > H/pre-commit; echo x > cfg",
     "mkdir -p C/objects C/refs; ln -s ../H C/hooks; ln -s ../cfg C/config",
     {"C/config", "C/hooks"}},
    {"a common part, made at last beside links",
     "mkdir C H; echo x > H/pre-commit; echo x > cfg; ln -s ../H C/hooks; ln -s ../cfg C/config",
     "mkdir C/objects C/refs",
     {"C/objects", "C/refs"}},
    {"a gitfile to a repository by any name, made by the same call",
     "true",
     "git init -q --bare store; rm -r store/config; mkdir sub; echo 'gitdir: ../store' > sub/.git",
     {"sub/.git"}},
    {"a commondir at a place of its own",
     "git init -q .; git config core.hooksPath tools/hooks; git init -q --bare W; rm -r W/config W/hooks; "
     "mkdir -p sub/tools/hooks; echo 'gitdir: ../W' > sub/.git; echo x > sub/tools/hooks/pre-commit",
     "echo ../.git > W/commondir",
     {"W/commondir"}},
    {"a program that a submodule names whose name has slashes",
     "git init -q .; git init -q --bare .git/modules/third/lib; mkdir tools; echo x > tools/fsm; "
     "git -C .git/modules/third/lib config core.fsmonitor \"$PWD/tools/fsm\"",
     "echo y > tools/fsm",
     {"tools/fsm"}},
    {"a program that a submodule of a submodule names",
     "git init -q .; git init -q --bare .git/modules/a; git init -q --bare .git/modules/a/modules/b; mkdir "
     "t; "
     "git -C .git/modules/a/modules/b config core.fsmonitor \"$PWD/t/fsm\"",
     "echo y > t/fsm",
     {"t/fsm"}},
    {"a repository that every user may write to",
     repository,
     "git config core.sharedRepository 0666",
     {".git/config"}},
    {"a remote in a task's home",
     "cp -a \"$MADE/repository/.\" .; mkdir -p \"$OUT/state/tasks/t/home/r.git\"",
     "git remote add origin \"file://$OUT/state/t%61sks/t/home/r.git\"",
     {".git/config"}},
    {"likewise by dots",
     "cp -a \"$MADE/repository/.\" .; mkdir -p \"$OUT/state/tasks\"",
     "git remote add origin x/../../../state/tasks",
     {".git/config"}},
    {"likewise by the home that git puts in",
     "cp -a \"$MADE/repository/.\" .",
     "git remote add origin '~/repositories/r.git'",
     {".git/config"}},
    {"likewise in a run at any place",
     "cp -a \"$MADE/repository/.\" .; mkdir -p \"$OUT/run/tasks/t/home\"; touch \"$OUT/run/audit.jsonl\"",
     "git remote add origin \"$OUT/run/tasks/t/home/r.git\"",
     {".git/config"}},
    {"another way to read what is there",
     repository,
     "git config extensions.objectFormat sha256",
     {".git/config"}},
    {"files that git copies at a commit",
     repository,
     "mkdir -p .git/rr-cache; printf '0123456789012345678901234567890123456789\\t../key\\0' > .git/MERGE_RR",
     {".git/MERGE_RR"}},
    {"a file of another working tree by the same path",
     "cp -a \"$MADE/repository/.\" .; git config core.worktree ..",
     "printf '0123456789012345678901234567890123456789\\tnew\\0' > .git/MERGE_RR; echo x > new",
     {".git/MERGE_RR"}},
    {"likewise of a later one",
     waiting_conflict,
     "mkdir sub; git init -q sub; git config core.worktree ../sub",
     {".git/config"}},
    {"likewise by a .git", waiting_conflict, "mkdir sub; echo 'gitdir: ../.git' > sub/.git", {"sub/.git"}},
    {"a link in a repository that moves with a conflict",
     "mkdir sub; cp -a \"$MADE/repository/.\" sub; printf '0123456789012345678901234567890123456789\\ta\\0' "
     "> "
     "sub/.git/MERGE_RR; echo x > .env",
     "mv sub other; rm other/a; ln -s ../.env other/a",
     {"other/.git/MERGE_RR", "sub", "sub/.git", "sub/.git/MERGE_RR"}},
    {"links where a conflict waits",
     waiting_conflict,
     "rm a; ln -s .env a; mkdir d; echo x > d/x; ln -s .env other; rm -r src; ln -s d src",
     {"a", "src", "src/b"}},
    {"programs for those who trust a repository", repository, "mkdir -p .git/safe", {".git/safe"}},
    {"a link among git's objects", repository, "ln -s ../../src .git/refs/x", {".git/refs/x"}},
};

TEST(ChangeFacts, WhatWouldBeExecutedIsWithheld) {
  for (const auto& row : attacks) expect_withheld(row);
}

TEST(ChangeFacts, WhatOneCallPreparesTheNextDoesNotUse) {
  Project project;
  project.run(repository);
  project.begin();
  project.run("git config core.hooksPath hk; echo y > y");
  project.end();
  const JudgedChanges first = project.judge();
  EXPECT_EQ(paths_with(project.set(), first, Fate::withheld), (Paths{".git/config"}));
  project.commit(first);
  project.begin();
  project.run("mkdir hk; echo x > hk/pre-commit");
  project.end();
  EXPECT_EQ(reasons_of(project.set(), project.judge()), "");
  project.run("git config --get core.hooksPath && false || true");
}

TEST(ChangeFacts, ALinkThatWasPlacedFirstHelpsNoFollower) {
  Project project;
  project.run("mkdir -p a/b");
  project.begin();
  project.run("ln -s missing/x l");  // leads nowhere, and is inside
  project.end();
  const JudgedChanges first = project.judge();
  EXPECT_EQ(reasons_of(project.set(), first), "");
  project.commit(first);
  project.begin();
  project.run("ln -s /etc missing");
  project.end();
  EXPECT_EQ(paths_with(project.set(), project.judge(), Fate::withheld), (Paths{"missing"}));
}

// What is said far from the changes: finding it would take a search of the whole tree, which no call pays
// for. docs: the threat model names these.
TEST(ChangeFacts, WhatOnlyASearchOfTheTreeCouldKnowPasses) {
  const Row rows[] = {
      {"a configuration elsewhere names it",
       "git init -q a; git -C a config core.hooksPath ../shared/hk; mkdir -p shared/hk",
       "echo x > shared/hk/pre-commit",
       {}},
      {"a member elsewhere is a link to it",
       "mkdir a shared; echo x > shared/env; ln -s ../shared/env a/.envrc",
       "echo y > shared/env",
       {}},
      {"a pointer elsewhere goes by a link that is changed",
       "git init -q --bare g; mkdir -p d/f sub; git init -q --bare d/f/g; git -C d/f/g config core.pager "
       "./x; "
       "mkdir e; ln -s ../g e/g; echo 'gitdir: ../e/g' > sub/.git; mkdir links",
       "rm e/g; rmdir e; ln -s d/f e",
       {}},
      {"a link of the user's leads elsewhere by one that is made",
       "mkdir -p a/b; ln -s a/b/s/../../../x l",
       "ln -s ../.. a/b/s",
       {}},
      // But where what says so stands around what changed, it is known.
      {"around", "mkdir a; echo x > a/env; ln -s env a/.envrc", "echo y > a/env", {"a/env"}},
  };
  for (const auto& row : rows) expect_withheld(row);
}

TEST(ChangeFacts, ADeletedRepositoryIsAskedAbout) {
  Project project;
  project.run("mkdir sub; cd sub; git init -q .; echo x > .git/hooks/pre-commit; echo a > a");
  project.begin();
  project.run("rm -rf sub");
  project.end();
  const JudgedChanges judged = project.judge();
  EXPECT_EQ(paths_with(project.set(), judged, Fate::withheld), Paths{}) << reasons_of(project.set(), judged);
  EXPECT_EQ(paths_with(project.set(), judged, Fate::committed), (Paths{"sub/a"}));
}

TEST(ChangeFacts, ADeletedRepositoryIsAskedAboutAlsoWhereItsHeadWasCopied) {
  Project project;
  project.run("cp -a \"$MADE/library\" sub");
  project.begin();
  project.run("mkdir -p n/.git; cp -p sub/.git/HEAD n/.git/HEAD; rm -rf sub");
  project.end();
  const auto asked = paths_with(project.set(), project.judge(), Fate::asked);
  EXPECT_NE(std::find(asked.begin(), asked.end(), "sub/.git"), asked.end());
}

TEST(ChangeFacts, DeletingMoreThanHalfIsAskedAbout) {
  const auto fates = [](const std::string& call) {
    Project project;
    project.run(
        "mkdir src node_modules; for i in $(seq 30); do echo $i > src/$i; echo $i > "
        "node_modules/$i; done");
    project.begin();
    project.run(call);
    project.end();
    return paths_with(project.set(), project.judge(), Fate::asked).size();
  };
  EXPECT_EQ(fates("rm src/1*"), 0U);          // 11 of 30
  EXPECT_EQ(fates("rm src/1* src/2*"), 22U);  // of 30
  EXPECT_EQ(fates("rm -r src"), 31U);
  EXPECT_EQ(fates("rm -r node_modules"), 0U);
  EXPECT_EQ(fates("mv src lib"), 0U);
}

TEST(ChangeFacts, AHalfRepositoryIsStaged) {
  const auto is_staged = [](const std::string& call, const ChangeRules& rules = {}) {
    Project project;
    project.run(repository);
    project.begin();
    project.run(call);
    project.end();
    return project.judge(rules).stage.has_value();
  };
  EXPECT_FALSE(is_staged("echo c > c; git add c; git commit -qm c; echo x > .git/hooks/pre-commit"));
  EXPECT_FALSE(is_staged("git config core.pager ./x; echo c > c; git add c"));
  EXPECT_TRUE(is_staged("git init -q n; git -C n config core.pager ./x"));
  EXPECT_TRUE(is_staged(
      "git config core.pager ./x; git config extensions.objectFormat x; echo x > .git/description"));
  EXPECT_TRUE(is_staged("echo c > c; git add c; git commit -qm c; chmod o+w .git/index"));
  ChangeRules rules;
  rules.rules.push_back({.paths = {std::move(PathGlob::read(".git/refs/**")).value()}});
  EXPECT_TRUE(is_staged("echo c > c; git add c; git commit -qm c", rules));
}

TEST(ChangeFacts, ABoundThatIsMetIsAFact) {
  Project project;
  project.begin();
  project.run("mkdir -p a/b c; echo x > a/b/f; echo y > c/f");
  project.end();
  EXPECT_FALSE(project.facts().too_much.has_value());
  const ChangeFacts facts = project.facts({.directories = 0});
  EXPECT_TRUE(facts.too_much.has_value());
  const JudgedChanges judged = judge_changes(project.set(), facts, {});
  EXPECT_EQ(paths_with(project.set(), judged, Fate::committed), Paths{});
  EXPECT_TRUE(judged.stage.has_value());
}

}  // namespace
}  // namespace cloche
