// The judge over real trees: what git and other tools do every day passes, all of it.
#include <gtest/gtest.h>

#include "store/changes/change_facts_fixture.hpp"

namespace cloche {
namespace {

void expect_all_committed(const char* what, const std::string& before, const std::string& call) {
  SCOPED_TRACE(what);
  Project project;
  project.run(before);
  project.begin();
  project.run(call);
  project.end();
  EXPECT_FALSE(project.set().changes.empty());
  const JudgedChanges judged = project.judge();
  EXPECT_EQ(reasons_of(project.set(), judged), "");
}

TEST(ChangeFactsOfEveryDay, GitOfEveryDayPasses) {
  const std::string one = repository;
  const std::string modules = std::string(library) + repository;
  const std::string add = "git -c protocol.file.allow=always submodule --quiet add \"$OUT/lib\" lib";
  expect_all_committed("init", "true", "git init -q .");
  expect_all_committed("init below", one, "git init -q src/new");
  expect_all_committed("init bare", one, "git init -q --bare b.git");
  expect_all_committed("commit", one, "echo c > c; git add c; git commit -qm two");
  expect_all_committed("config", one, "git config user.email a@b; git config user.name a");
  expect_all_committed("a watch that is turned off, and patterns of a file", one,
                       "git config core.fsmonitor false; git config core.excludesFile src/ignored");
  expect_all_committed("remote", one, "git remote add origin https://example.org/x.git");
  expect_all_committed("remote beside", one, "git remote add a ../other.git; git remote add b host:x/../y");
  expect_all_committed("branch", one, "git branch topic; git branch -m topic other; git branch -m trunk");
  expect_all_committed("worktree", one, "git worktree add -q wt -b wt");
  expect_all_committed("worktree beside the repository", "mkdir r; cp -a \"$MADE/repository/.\" r",
                       "git -C r worktree add -q ../wt -b wt");
  expect_all_committed("worktree of a bare repository", "git clone -q --bare \"$MADE/repository\" b.git",
                       "git -C b.git worktree add -q ../wt -b wt");
  expect_all_committed("clone with submodules",
                       std::string(library) +
                           "cp -a \"$MADE/repository\" \"$OUT/top\"; git -C \"$OUT/top\" -c "
                           "protocol.file.allow=always submodule --quiet add \"$OUT/lib\" third/lib; "
                           "git -C \"$OUT/top\" commit -qm lib",
                       "git -c protocol.file.allow=always clone -q --recurse-submodules \"$OUT/top\" copy");
  expect_all_committed("worktree removed", one + "; git worktree add -q wt -b wt",
                       "git worktree remove wt; git branch -q -D wt");
  expect_all_committed("submodule add", modules, add);
  expect_all_committed("submodule add and commit", modules, add + "; git commit -qm lib");
  expect_all_committed("submodule update",
                       modules + "; " + add +
                           "; git commit -qm lib; git submodule --quiet deinit -f lib; "
                           "rm -rf .git/modules",
                       "git -c protocol.file.allow=always submodule --quiet update --init");
  expect_all_committed("submodule update of one that is there",
                       modules + "; " + add +
                           "; git commit -qm lib; git submodule --quiet deinit -f lib; "
                           "echo x > .git/modules/lib/hooks/post-checkout",
                       "git -c protocol.file.allow=always submodule --quiet update --init");
  expect_all_committed("stash", one, "echo c >> a; git stash -q; git stash pop -q");
  expect_all_committed("rebase",
                       one +
                           "; git checkout -q -b t; echo t > t; git add t; git commit -qm t; "
                           "git checkout -q main; echo m > m; git add m; git commit -qm m",
                       "git checkout -q t; git rebase -q main");
  expect_all_committed("a rebase that stops",
                       one +
                           "; git checkout -q -b t; echo t > a; git commit -qam t; echo u > u; git add u; "
                           "git commit -qm u; git checkout -q main; echo m > a; git commit -qam m",
                       "git checkout -q t; git rebase -q main || true");
  const std::string conflict = one +
                               "; git config rerere.enabled true; git checkout -q -b t; echo t > a; echo t > "
                               "src/b; git commit -qam t; "
                               "git checkout -q main; echo m > a; echo mm > src/b; git commit -qam m";
  expect_all_committed("a conflict that is noted", conflict,
                       "git merge -q t && exit 1; test -s .git/MERGE_RR");
  expect_all_committed("one of two that is resolved", conflict + "; git merge -q t || true",
                       "echo x > a; git add a; git rerere; test -s .git/MERGE_RR");
  expect_all_committed("a merge that is given up", conflict + "; git merge -q t || true",
                       "git merge --abort; test ! -s .git/MERGE_RR");
  expect_all_committed("gc", one + "; for i in 1 2 3; do echo $i > a; git commit -qam $i; done",
                       "git gc -q --prune=now");
  expect_all_committed("clone", std::string(library) + one, "git clone -q \"$OUT/lib\" copy");
  expect_all_committed("merge", one + "; git branch t; echo c > c; git add c; git commit -qm c",
                       "git checkout -q t; git merge -q main");
  expect_all_committed("in a repository with hooks of the user's",
                       one +
                           "; printf '#!/bin/sh\\n' > .git/hooks/pre-commit; chmod +x "
                           ".git/hooks/pre-commit; git config core.hooksPath .husky; mkdir .husky",
                       "echo c > c; git add c; git commit -qm c; git config user.email x@y; git worktree "
                       "add -q wt -b wt");
}

TEST(ChangeFactsOfEveryDay, OtherToolsOfEveryDayPass) {
  expect_all_committed("a venv", "true",
                       "mkdir -p v/bin; ln -s /usr/bin/python3 v/bin/python3; "
                       "ln -s python3 v/bin/python; ln -s lib v/lib64");
  expect_all_committed("npm link", "mkdir -p packages/a node_modules; echo 1 > packages/a/index.js",
                       "ln -s ../packages/a node_modules/a; mkdir node_modules/.bin; "
                       "ln -s ../a/index.js node_modules/.bin/a");
  expect_all_committed("an absolute link inside", "echo a > a", "ln -s \"$PWD/a\" b; ln -s nothing c");
  expect_all_committed("a renamed project",
                       "mkdir sub; echo x > sub/.envrc; mkdir sub/.vscode; echo y > sub/.vscode/tasks.json",
                       "mv sub sub2");
  expect_all_committed("a renamed repository",
                       "mkdir sub; cd sub; git init -q .; echo a > a; git add .; git commit -qm a; "
                       "echo x > .git/hooks/pre-commit; git config core.pager less; cd ..",
                       "mv sub other");
  expect_all_committed("a directory for a group", "mkdir d; chmod g+s d", "mkdir d/e; chmod g+s d/e");
  expect_all_committed("a touched member", "echo x > .envrc; touch -d 2020-01-01 .envrc", "touch .envrc");
  expect_all_committed("an old danger stays", std::string(repository) + "; git config core.pager less",
                       "git config user.name b");
  expect_all_committed("sources with names of git's",
                       "mkdir -p src/hooks src/refs; echo a > src/hooks/use-a.ts; mkdir src/config",
                       "mkdir src/objects; echo c > src/objects/c.ts");
  expect_all_committed("a danger is taken away", std::string(repository) + "; git config core.pager less",
                       "git config --unset core.pager");
}

}  // namespace
}  // namespace cloche
