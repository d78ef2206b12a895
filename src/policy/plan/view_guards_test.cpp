// Cloche's own files in whatever is granted around them: by name, by another name of a directory above them,
// and never where a command could move them.
#include "policy/plan/view_guards.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/sys/path.hpp"
#include "policy/plan/plan_run.hpp"

namespace cloche {
namespace {

using Kind = FileFact::Kind;

FileFact found(Kind kind, std::string path, uint64_t inode) {
  return {.kind = kind, .path = std::move(path), .device = 7, .inode = inode};
}

// A run in /srv/runs/one, whose workspace is given apart.
Facts host() {
  Facts facts;
  facts.caller = {.uid = 1001, .gid = 1002, .home = "/home/user", .path = "/usr/bin:/bin"};
  facts.workspace = found(Kind::directory, "/home/user/project", 10);
  facts.hidden = {found(Kind::file, "/srv/runs/one/audit.jsonl", 20),
                  found(Kind::directory, "/srv/runs/one/tasks", 21)};
  facts.above_own = {found(Kind::directory, "/srv/runs/one", 30), found(Kind::directory, "/srv/runs", 31),
                     found(Kind::directory, "/srv", 32), found(Kind::directory, "/", 33)};
  return facts;
}

Result<ConfinementPlan> granted(const FileFact& source, bool writable, Facts facts = host()) {
  RunRequest request{.argv = {"true"}};
  request.grants = {{.source = "given", .writable = writable}};
  facts.grants = {source};
  return plan_run(request, facts);
}

std::string masks_of(const ConfinementPlan& plan) {
  std::string text;
  for (const auto& entry : plan.view) {
    if (entry.why == "Cloche's own files") text += (text.empty() ? "" : " ") + entry.target;
  }
  return text;
}

TEST(ViewGuards, OwnFilesAreMaskedByWhateverNameTheirTreeHas) {
  const struct {
    FileFact source;
    bool writable;
    std::string answer;  // the masks; empty: refused
  } rows[] = {
      {found(Kind::directory, "/srv/other", 40), true, "none"},
      {found(Kind::directory, "/srv/runs/one", 30), false, "/srv/runs/one/audit.jsonl /srv/runs/one/tasks"},
      {found(Kind::directory, "/srv/runs", 31), false, "/srv/runs/one/audit.jsonl /srv/runs/one/tasks"},
      // Bind mounts of the directories above them.
      {found(Kind::directory, "/mnt/alias", 31), false, "/mnt/alias/one/audit.jsonl /mnt/alias/one/tasks"},
      {found(Kind::directory, "/mnt/alias", 30), false, "/mnt/alias/audit.jsonl /mnt/alias/tasks"},
      // And of one of them itself.
      {found(Kind::directory, "/mnt/tasks", 21), false, ""},
      // The same number on another file system is another file.
      {{.kind = Kind::directory, .path = "/mnt/b", .device = 8, .inode = 31}, true, "none"},
      // To write: right at the root of the tree the mount point itself cannot be moved, deeper down what it
      // lies in can.
      {found(Kind::directory, "/srv/runs/one", 30), true, "/srv/runs/one/audit.jsonl /srv/runs/one/tasks"},
      {found(Kind::directory, "/srv/runs", 31), true, ""},
      {found(Kind::directory, "/srv", 32), true, ""},
      {found(Kind::directory, "/mnt/alias", 31), true, ""},
  };
  for (const auto& row : rows) {
    const auto plan = granted(row.source, row.writable);
    ASSERT_EQ(plan.ok(), !row.answer.empty())
        << row.source.path << (plan.ok() ? "" : plan.error().what.text());
    if (plan.ok()) {
      EXPECT_EQ(masks_of(plan.value()), row.answer == "none" ? "" : row.answer) << row.source.path;
    }
  }
}

TEST(ViewGuards, WhatIsHiddenIsMaskedWhereverItIsShown) {
  Facts facts = host();
  const std::string workspace = facts.workspace.path;
  facts.hide.found = {found(Kind::file, workspace + "/a/.env", 50), found(Kind::directory, "/srv/keys", 51)};
  facts.above_own.push_back(found(Kind::directory, workspace + "/a", 52));
  const auto shown = [](const ConfinementPlan& plan) {
    std::string text;
    for (const auto& entry : plan.view)
      if (entry.why == "hidden by the operator" || entry.why == "on the way to what is kept")
        text += (text.empty() ? "" : " ") + entry.target + (entry.access == Access::none ? "" : "+");
    return text;
  };
  const struct {
    FileFact grant;
    Writes writes;
    std::string answer;  // a pin has a +; "refused"
  } rows[] = {
      {found(Kind::directory, "/srv/other", 60), Writes::commit, workspace + "/a/.env"},
      {found(Kind::directory, "/srv", 61), Writes::commit, "/srv/keys " + workspace + "/a/.env"},
      {found(Kind::directory, "/srv/other", 60), Writes::live, workspace + "/a+ " + workspace + "/a/.env"},
      {found(Kind::directory, "/srv/keys", 51), Writes::commit, "refused"},
      {found(Kind::directory, "/srv/keys/below", 62), Writes::commit, "refused"},
      {found(Kind::directory, "/mnt/alias", 51), Writes::commit, "refused"},
  };
  for (const auto& row : rows) {
    RunRequest request{.argv = {"true"}};
    request.writes = row.writes;
    request.grants = {{.source = "given"}};
    facts.grants = {row.grant};
    const auto plan = plan_run(request, facts);
    EXPECT_EQ(plan.ok() ? shown(plan.value()) : "refused", row.answer) << row.grant.path;
  }
}

TEST(ViewGuards, AHiddenMemberOfTheProtectedSetIsNotShownReadOnly) {
  Facts facts = host();
  const std::string envrc = facts.workspace.path + "/.envrc";
  const std::string git = facts.workspace.path + "/.git";
  facts.guard.kept = {found(Kind::file, envrc, 50), found(Kind::directory, git + "/hooks", 53)};
  facts.hide.found = {found(Kind::file, envrc, 50), found(Kind::directory, git, 54)};
  RunRequest request{.argv = {"true"}};
  const auto plan = plan_run(request, facts);
  ASSERT_TRUE(plan.ok()) << describe(plan.error());
  std::string shown;
  for (const auto& entry : plan.value().view)
    if (is_beneath(envrc, entry.target) || is_beneath(git, entry.target))
      shown += entry.target + (entry.access == Access::none ? " " : "! ");
  EXPECT_EQ(shown, envrc + " " + git + " ");
}

TEST(ViewGuards, WhatIsNotThereYetMayNotBeMovedEither) {
  Facts facts = host();
  for (auto& own : facts.hidden) own.kind = Kind::absent;
  EXPECT_FALSE(granted(found(Kind::directory, "/srv/runs", 31), true, facts).ok());
  EXPECT_TRUE(granted(found(Kind::directory, "/srv/runs", 31), false, facts).ok());
}

TEST(ViewGuards, NothingThatCanBeWrittenMeetsWhatTheOperatorsWordIsTakenFrom) {
  Facts facts = host();
  facts.kept = {found(Kind::directory, "/srv/policy/profiles", 60), {.path = "/opt/later/executors"}};
  facts.above_own.push_back(found(Kind::directory, "/srv/policy", 61));
  facts.hidden.clear();
  const struct {
    const char* path;
    uint64_t inode;
    bool good;
  } rows[] = {{"/srv/policy/profiles", 60, false},
              {"/srv/policy/profiles/deep", 62, false},
              {"/srv/policy", 61, false},
              {"/srv", 32, false},
              {"/mnt/alias", 60, false},
              {"/mnt/alias", 61, false},
              {"/srv/other", 63, true},
              {"/opt/later", 64, false},
              {"/opt/other", 65, true}};
  for (const auto& row : rows) {
    const FileFact source = found(Kind::directory, row.path, row.inode);
    const auto written = granted(source, true, facts);
    EXPECT_EQ(written.ok(), row.good) << row.path;
    if (!written.ok()) {
      EXPECT_NE(written.error().what.text().find("takes the operator's word from"), std::string::npos);
    }
    EXPECT_TRUE(granted(source, false, facts).ok()) << row.path << " to read";
  }
}

TEST(ViewGuards, TheProjectsConfigurationStaysWhereItIs) {
  Facts facts = host();
  facts.project_config = found(Kind::directory, "/home/user/project/.cloche", 50);
  facts.above_own.push_back(found(Kind::directory, "/home/user/project", 10));
  facts.above_own.push_back(found(Kind::directory, "/home/user", 51));
  const struct {
    const char* path;
    uint64_t inode;
    bool good;
  } rows[] = {{"/home/user/project", 10, true},
              {"/home/user", 51, false},
              {"/mnt/home", 51, false},
              {"/mnt/project", 10, true},
              {"/mnt/config", 50, false}};
  for (const auto& row : rows) {
    const auto plan = granted(found(Kind::directory, row.path, row.inode), true, facts);
    ASSERT_EQ(plan.ok(), row.good) << row.path << (plan.ok() ? "" : plan.error().what.text());
    if (!plan.ok()) continue;
    const auto kept =
        std::find_if(plan.value().view.begin(), plan.value().view.end(),
                     [&](const auto& entry) { return entry.target == std::string(row.path) + "/.cloche"; });
    ASSERT_NE(kept, plan.value().view.end()) << row.path;
    EXPECT_EQ(kept->access, Access::read);
  }
}

// Installed in /srv/tools/cloche: what is kept of it in a tree, and what on the way to it is pinned.
std::string parts_of(const ConfinementPlan& plan) {
  std::string text;
  for (const auto& entry : plan.view) {
    const bool kept = entry.why == "the Cloche that is running";
    if (!kept && entry.why != "on the way to what is kept") continue;
    text += (text.empty() ? "" : " ") + entry.target + "=" + std::string(name_of(entry.access));
  }
  return text;
}

Facts installed() {
  Facts facts = host();
  facts.parts = {found(Kind::directory, "/srv/tools/cloche/bin", 60),
                 found(Kind::directory, "/srv/tools/cloche/linked", 61)};
  facts.above_parts = {found(Kind::directory, "/srv/tools/cloche", 62),
                       found(Kind::directory, "/srv/tools", 63), found(Kind::directory, "/srv", 32),
                       found(Kind::directory, "/", 33)};
  return facts;
}

TEST(ViewGuards, TheRunningClocheIsNobodysToChangeOrToMove) {
  const struct {
    FileFact source;
    bool writable;
    std::string answer;  // empty: refused
  } rows[] = {
      {found(Kind::directory, "/srv/other", 40), true, "none"},
      {found(Kind::directory, "/srv/tools", 63), false, "none"},
      {found(Kind::directory, "/srv/tools", 63), true,
       "/srv/tools/cloche=write-run /srv/tools/cloche/bin=run /srv/tools/cloche/linked=run"},
      {found(Kind::directory, "/srv/tools/cloche", 62), true,
       "/srv/tools/cloche/bin=run /srv/tools/cloche/linked=run"},
      {found(Kind::directory, "/mnt/alias", 63), true,
       "/mnt/alias/cloche=write-run /mnt/alias/cloche/bin=run /mnt/alias/cloche/linked=run"},
      {found(Kind::directory, "/srv/tools/cloche/bin", 60), true, ""},
      {found(Kind::directory, "/srv/tools/cloche/linked/more", 64), true, ""},
      {found(Kind::directory, "/mnt/bin", 60), true, ""},
  };
  for (const auto& row : rows) {
    const auto plan = granted(row.source, row.writable, installed());
    ASSERT_EQ(plan.ok(), !row.answer.empty())
        << row.source.path << (plan.ok() ? "" : plan.error().what.text());
    if (plan.ok()) {
      EXPECT_EQ(parts_of(plan.value()), row.answer == "none" ? "" : row.answer) << row.source.path;
    }
  }
}

TEST(ViewGuards, AWorkspaceWithAPartAndWithoutTheProgramsIsRefused) {
  const struct {
    FileFact workspace;
    bool refused;
  } rows[] = {
      {found(Kind::directory, "/srv/tools/cloche", 62), false},
      {found(Kind::directory, "/srv/rules", 70), true},
      {found(Kind::directory, "/srv/other", 40), false},
  };
  for (const auto& row : rows) {
    Facts facts = installed();
    facts.parts[1] = found(Kind::directory, row.refused ? "/srv/rules/linked" : facts.parts[1].path, 61);
    facts.workspace = row.workspace;
    const auto plan = plan_run(RunRequest{.argv = {"true"}}, facts);
    EXPECT_EQ(plan.ok(), !row.refused) << row.workspace.path << (plan.ok() ? "" : plan.error().what.text());
  }
}

TEST(ViewGuards, WithoutMountsATreeWithTheRunningClocheIsRefused) {
  RunRequest request{.argv = {"true"}, .level = IsolationLevel::subprocess};
  Facts facts = installed();
  EXPECT_TRUE(plan_run(request, facts).ok());
  facts.workspace = found(Kind::directory, "/srv/tools", 63);
  const auto plan = plan_run(request, facts);
  ASSERT_FALSE(plan.ok());
  EXPECT_NE(plan.error().what.text().find("/srv/tools/cloche/bin"), std::string::npos) << plan.error().what;
}

TEST(ViewGuards, AFileOfTheRunningClocheWithAnotherNameIsRefusedWhereSomethingCanBeWritten) {
  Facts facts = installed();
  facts.with_other_names = {"/srv/tools/cloche/bin/cloche-jail"};
  const auto plan = plan_run(RunRequest{.argv = {"true"}}, facts);
  ASSERT_FALSE(plan.ok());
  EXPECT_NE(plan.error().what.text().find("cloche-jail has another name"), std::string::npos)
      << plan.error().what;
  EXPECT_TRUE(plan_run(RunRequest{.argv = {"true"}, .profile = Profile::readonly}, facts).ok());
}

TEST(ViewGuards, TheSystemAsAWholeIsNobodysToWrite) {
  const struct {
    const char* source;
    const char* target;
    bool taken;
  } rows[] = {
      {"/usr", "", false},  {"/usr/bin", "", false},       {"/usr/lib64", "", false},
      {"/bin", "", false},  {"/srv/other", "/usr", false}, {"/usr", "/mnt", false},
      {"/", "/mnt", false}, {"/srv/other", "/lib", false}, {"/usr/local", "", true},
      {"/opt", "", true},   {"/usr/libexec/x", "", true},  {"/srv/other", "/usr/local/x", true},
  };
  for (const auto& row : rows) {
    Facts facts = host();
    facts.grants = {found(Kind::directory, row.source, 40)};
    RunRequest request{.argv = {"true"}};
    request.grants = {{.source = row.source, .target = row.target, .writable = true}};
    EXPECT_EQ(plan_run(request, facts).ok(), row.taken) << row.source << ':' << row.target;
  }
}

TEST(ViewGuards, AGitDirectoryWithKeptMembersIsPinned) {
  Facts facts = host();
  facts.guard.pinned = {found(Kind::directory, "/home/user/project/.git", 70)};
  facts.guard.kept = {found(Kind::file, "/home/user/project/.git/config", 71)};
  const auto plan = plan_run(RunRequest{.argv = {"true"}}, facts);
  ASSERT_TRUE(plan.ok()) << plan.error().what;
  EXPECT_EQ(parts_of(plan.value()), "/home/user/project/.git=write-run");
}

TEST(ViewGuards, ARepositoryAmongOwnFilesIsLeftOut) {
  for (const char* path : {"/srv/runs/one/tasks/A/home/repo", "/srv/runs/one/tasks"}) {
    Facts facts = host();
    facts.git_common = found(Kind::directory, path, 60);
    const auto plan = granted(found(Kind::directory, "/srv/other", 40), false, facts);
    ASSERT_TRUE(plan.ok()) << plan.error().what;
    for (const auto& entry : plan.value().view) EXPECT_NE(entry.source, path);
  }
}

TEST(ViewGuards, AnExecutorsFolderIsTheOneThatWasLoadedAndNoneOfCloches) {
  RunRequest request{.argv = {"true"}};
  request.code = Grant{.source = "/srv/tools/a", .judged = found(Kind::directory, "/srv/tools/a", 70)};
  const auto plan = plan_run(request, host());
  ASSERT_TRUE(plan.ok()) << plan.error().what;
  const auto shown = std::find_if(plan.value().view.begin(), plan.value().view.end(),
                                  [](const auto& entry) { return entry.target == "/srv/tools/a"; });
  ASSERT_NE(shown, plan.value().view.end());
  EXPECT_EQ(shown->inode, 70U);
  EXPECT_EQ(shown->access, Access::run);
  request.noexec = true;  // its own code runs even so
  EXPECT_TRUE(plan_run(request, host()).ok());
  request.code->judged = found(Kind::directory, "/srv/runs/one/tasks/A/home/tool", 71);
  EXPECT_FALSE(plan_run(request, host()).ok());
  request.code->judged = found(Kind::directory, "/mnt/elsewhere", 21);
  EXPECT_FALSE(plan_run(request, host()).ok());
  request.code->judged.reset();
  EXPECT_FALSE(plan_run(request, host()).ok());
}

TEST(ViewGuards, AGrantThroughACallsLinkIsRefused) {
  Facts facts = host();
  FileFact keys = found(Kind::directory, "/home/user/.ssh", 80);
  keys.turns = {"/home/user/project/data"};
  EXPECT_FALSE(granted(keys, false, facts).ok());
  keys.turns = {"/home/user/data"};
  EXPECT_TRUE(granted(keys, false, facts).ok());
}

}  // namespace
}  // namespace cloche
