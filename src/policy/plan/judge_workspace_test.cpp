// Which directories can be a workspace, by table.
#include <gtest/gtest.h>

#include "policy/plan/plan_run.hpp"
#include "policy/plan/system_view.hpp"

namespace cloche {
namespace {

using Kind = FileFact::Kind;

FileFact directory(std::string path) { return {.kind = Kind::directory, .path = std::move(path)}; }

constexpr const char* home = "/home/user";

// Where people and tools keep projects, and names that only look like something refused.
TEST(JudgeWorkspace, AcceptsProjectDirectories) {
  for (const char* path : {"/home/user/project",
                           "/home/user2",
                           "/home/use",
                           "/home/user/.cache/build",
                           "/srv/project",
                           "/mnt/disk/project",
                           "/opt/project",
                           "/tmp/project",
                           "/var/tmp/project",
                           "/root/project",
                           "/project",
                           "/project",
                           "/usr/src/project",
                           "/usrlocal",
                           "/etcetera",
                           "/data",
                           "/run/user/1000/project",
                           "/dev/shm/project",
                           "/media/stick/project",
                           "/home/user/with space/ü",
                           "/var/lib/jenkins/workspace/project",
                           "/binary",
                           "/tmpfile",
                           "/homes"}) {
    const auto judged = judge_workspace(directory(path), home);
    EXPECT_TRUE(judged.ok()) << path << ": " << judged.error().what;
  }
}

TEST(JudgeWorkspace, RefusesEveryRowOfTheTable) {
  for (const auto& root : refused_roots) {
    const std::string path(root.path);
    const auto judged = judge_workspace(directory(path), home);
    ASSERT_FALSE(judged.ok()) << path;
    EXPECT_EQ(judged.error().cause, Cause::configuration);
    EXPECT_NE(judged.error().what.text().find(path), std::string::npos) << judged.error().what;
    EXPECT_NE(judged.error().fix.text().find("--workspace"), std::string::npos) << judged.error().fix;
  }
}

TEST(JudgeWorkspace, RefusesWhatIsBelowWhereTheTableSaysSo) {
  for (const auto& root : refused_roots) {
    if (!root.below) continue;
    for (const char* below : {"/x", "/x/y/z", "/.hidden"}) {
      const std::string path = std::string(root.path) + below;
      EXPECT_FALSE(judge_workspace(directory(path), home).ok()) << path;
    }
    const std::string neighbour = std::string(root.path) + "x";
    const bool refused_itself =
        std::any_of(std::begin(refused_roots), std::end(refused_roots),
                    [&](const RefusedRoot& other) { return other.path == neighbour; });
    if (!refused_itself) {
      EXPECT_TRUE(judge_workspace(directory(neighbour), home).ok()) << neighbour;
    }
  }
}

// An independent list: whatever the table becomes, these stay refused.
TEST(JudgeWorkspace, NeverAcceptsASystemDirectory) {
  for (const char* path : {"/",
                           "/usr",
                           "/usr/bin",
                           "/usr/lib",
                           "/usr/lib/x86_64-linux-gnu",
                           "/usr/local",
                           "/usr/local/bin",
                           "/bin",
                           "/sbin",
                           "/lib",
                           "/lib64",
                           "/etc",
                           "/etc/cron.d",
                           "/boot",
                           "/dev",
                           "/proc",
                           "/proc/1",
                           "/sys",
                           "/run",
                           "/var",
                           "/var/lib",
                           "/var/spool/cron",
                           "/tmp",
                           "/var/tmp",
                           "/opt",
                           "/home",
                           "/root",
                           "/srv",
                           "/mnt",
                           "/media"}) {
    EXPECT_FALSE(judge_workspace(directory(path), home).ok()) << path;
  }
}

TEST(JudgeWorkspace, RefusesHomeAndWhatContainsIt) {
  const auto itself = judge_workspace(directory("/home/user"), home);
  ASSERT_FALSE(itself.ok());
  EXPECT_NE(itself.error().what.text().find("is your home directory"), std::string::npos)
      << itself.error().what;
  for (const char* above : {"/data/people", "/data"}) {
    const auto judged = judge_workspace(directory(above), "/data/people/user");
    ASSERT_FALSE(judged.ok()) << above;
    EXPECT_NE(judged.error().what.text().find("contains your home directory"), std::string::npos)
        << judged.error().what;
  }
  EXPECT_TRUE(judge_workspace(directory("/data/people2"), "/data/people/user").ok());
  EXPECT_FALSE(judge_workspace(directory("/root"), "/root").ok());
  EXPECT_TRUE(judge_workspace(directory("/root/project"), "/root").ok());
}

TEST(JudgeWorkspace, WithoutAHomeOnlyTheTableCounts) {
  EXPECT_TRUE(judge_workspace(directory("/home/user"), "").ok());
  EXPECT_FALSE(judge_workspace(directory("/home"), "").ok());
  EXPECT_FALSE(judge_workspace(directory("/"), "").ok());
}

TEST(JudgeWorkspace, RefusesWhatIsNoDirectory) {
  const auto missing = judge_workspace({.path = "/home/user/absent"}, home);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().what.text(), "the workspace /home/user/absent does not exist");
  for (Kind kind : {Kind::file, Kind::link, Kind::other}) {
    const auto judged = judge_workspace({.kind = kind, .path = "/home/user/thing"}, home);
    ASSERT_FALSE(judged.ok());
    EXPECT_EQ(judged.error().what.text(), "the workspace /home/user/thing is not a directory");
  }
}

// A level without a box promises no other id, and one who is not root outside has nothing to lose.
TEST(JudgeOwnId, RootThatCannotBeAnybodyElseHasNoBox) {
  const CallerFact stuck{.stuck_as_root = true};
  for (IsolationLevel level :
       {IsolationLevel::namespaces, IsolationLevel::container, IsolationLevel::gvisor}) {
    const auto judged = judge_own_id(stuck, level);
    ASSERT_FALSE(judged.ok()) << name_of(level);
    EXPECT_EQ(judged.error().cause, Cause::missing_layer);
    EXPECT_EQ(judged.error().layer, LayerId::user_ids);
    EXPECT_TRUE(judge_own_id(CallerFact{.privileged = true}, level).ok()) << name_of(level);
    EXPECT_TRUE(judge_own_id(CallerFact{.uid = 1000}, level).ok()) << name_of(level);
  }
  for (IsolationLevel level : {IsolationLevel::permissive, IsolationLevel::subprocess})
    EXPECT_TRUE(judge_own_id(stuck, level).ok());
}

TEST(JudgeMountAliases, WhatIsCloches) {
  using Of = MountAlias::Of;
  using Way = MountAlias::Way;
  const struct {
    MountAlias alias;
    const char* said;  // empty: it may be so
  } rows[] = {
      {{Of::state, Way::own_is_mount_of_named, "/w", true, "/s"},
       "Cloche's own /s is a mount of a directory in /w, where a command could change it"},
      {{Of::state, Way::own_is_mount_of_named, "/w", false, "/s"},
       "Cloche's own /s is a mount of a directory in /w, where a command could change it"},
      {{Of::state, Way::named_is_mount_of_own, "/w", false, "/s"},
       "/w is a mount of Cloche's own /s, and no command sees that"},
      {{Of::configuration, Way::named_is_mount_of_own, "/w", false, "/c"},
       "/w is a mount of Cloche's own /c, and no command sees that"},
      {{Of::kept, Way::named_is_mount_of_own, "/w", true, "/k"},
       "/w is a mount of /k, which the configuration takes the operator's word from"},
      {{Of::kept, Way::named_is_mount_of_own, "/w", false, "/k"}, ""},
  };
  EXPECT_TRUE(judge_mount_aliases({}).ok());
  for (const auto& row : rows) {
    const auto judged = judge_mount_aliases({row.alias});
    EXPECT_EQ(judged.ok() ? "" : judged.error().what.text(), row.said);
  }
}

TEST(JudgeSessionWorkspace, StaysTheFirst) {
  EXPECT_TRUE(judge_session_workspace("/a", "/a").ok());
  EXPECT_EQ(describe(judge_session_workspace("/a", "/b").error()),
            "this session works in /a, and the call comes from /b; start a new session there");
}

}  // namespace
}  // namespace cloche
