// Whose file a path leads to, by table: each row changes one fact of a path that is the operator's own.
#include "policy/authority/path_trust.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace cloche {
namespace {

using Kind = FileFact::Kind;

constexpr Writers user{1000, true};
constexpr Writers administrator{0, false};

OwnerFact directory(std::string path, unsigned uid = 0) {
  return {.kind = Kind::directory, .path = std::move(path), .uid = uid};
}

std::string said(const Result<void>& judged) { return judged.ok() ? "" : describe(judged.error()); }

TEST(TrustedFile, IsWrittenByItsOwnerAndRootAlone) {
  const struct {
    OwnerFact fact;
    Writers writers;
    const char* said;  // empty: it is the operator's
  } rows[] = {
      {{.uid = 1000}, user, ""},
      {{.uid = 0}, user, ""},
      {{.uid = 1001}, user, "/f belongs to another user, id 1001; chown it to root or to you"},
      {{.uid = 1000}, administrator, "/f belongs to another user, id 1000; chown it to root"},
      {{.uid = 1000, .others_write = true}, user, "/f can be written by every user; chmod o-w /f"},
      {{.uid = 1000, .others_write = true, .sticky = true},
       user,
       "/f can be written by every user; chmod o-w /f"},
      {{.uid = 1000, .gid = 1000, .group_writes = true}, user, ""},
      {{.gid = 4, .group_writes = true}, administrator, "/f can be written by the group 4; chmod g-w /f"},
      {{.gid = 0, .group_writes = true}, administrator, ""},
  };
  for (const auto& row : rows) {
    OwnerFact fact = row.fact;
    fact.path = "/f";
    fact.kind = Kind::file;
    EXPECT_EQ(said(judge_operators_file(fact, row.writers)), row.said);
    fact.kind = Kind::directory;
    EXPECT_EQ(said(judge_operators_folder(fact, row.writers)), row.said);
  }
}

TEST(TrustedFile, ItsNameIsOneWordOfTheAdvice) {
  OwnerFact fact{.kind = Kind::file, .path = "/x; touch HACKED #", .uid = 1000, .others_write = true};
  EXPECT_TRUE(said(judge_operators_file(fact, user)).ends_with("; chmod o-w '/x; touch HACKED #'"));
  fact = {.kind = Kind::file, .path = "/x; touch HACKED #", .gid = 4, .group_writes = true};
  EXPECT_TRUE(said(judge_operators_file(fact, administrator)).ends_with("; chmod g-w '/x; touch HACKED #'"));
}

TEST(TrustedFile, IsWhatItIsTakenFor) {
  for (Kind kind : {Kind::absent, Kind::directory, Kind::file, Kind::link, Kind::other}) {
    const OwnerFact fact{.kind = kind, .path = "/f"};
    EXPECT_EQ(said(judge_operators_file(fact, user)), kind == Kind::file ? "" : "/f is not a regular file");
    EXPECT_EQ(said(judge_operators_folder(fact, user)),
              kind == Kind::directory ? "" : "/f is not a directory");
  }
}

TEST(PathOwners, NoOtherUserCanChangeWhereAPathLeads) {
  const PathOwners own{
      .above = {directory("/home/u", 1000), directory("/home"), directory("/")},
      .links = {{{.kind = Kind::link, .path = "/srv/l", .uid = 1000}, {directory("/srv"), directory("/")}}}};
  const struct {
    const char* what;
    std::function<void(PathOwners&)> change;
    bool refused;
  } rows[] = {
      {"as it is", [](PathOwners&) {}, false},
      {"a directory of another's", [](PathOwners& path) { path.above[0].uid = 7; }, true},
      {"one that all write to", [](PathOwners& path) { path.above[1].others_write = true; }, true},
      {"a sticky one", [](PathOwners& path) { path.above[1].others_write = path.above[1].sticky = true; },
       false},
      {"a sticky one of another's",
       [](PathOwners& path) {
         path.above[1].sticky = true;
         path.above[1].uid = 7;
       },
       true},
      {"the root itself", [](PathOwners& path) { path.above[2].others_write = true; }, true},
      {"a link of another's", [](PathOwners& path) { path.links[0].link.uid = 7; }, true},
      {"a link whose mode says nothing", [](PathOwners& path) { path.links[0].link.others_write = true; },
       false},
      {"a link in a directory of all", [](PathOwners& path) { path.links[0].above[0].others_write = true; },
       true},
  };
  for (const auto& row : rows) {
    PathOwners path = own;
    row.change(path);
    EXPECT_EQ(!judge_path_owners(path, user).ok(), row.refused) << row.what;
  }
}

TEST(TrustedFile, IsOnlySoLong) {
  EXPECT_EQ(said(judge_length("/f", false, 8)), "");
  EXPECT_EQ(said(judge_length("/f", true, 8)), "/f is longer than 8 bytes; make it shorter");
}

TEST(JudgeReach, RefusesWhatACommandCouldReplace) {
  const struct {
    CrossingFact fact;
    const char* said;
    const char* of_configuration;
  } rows[] = {
      {{.crossing = Crossing::there}, "", ""},
      {{.crossing = Crossing::absent}, "", ""},
      {{.crossing = Crossing::through_workspace, .end = "/w/f", .ends_in = true},
       "it lies in the workspace /w, where a command could change it; move it, or name another workspace",
       "the configuration /f lies in the workspace /w, where an agent can write it; use another workspace, "
       "or "
       "move the configuration"},
      {{.crossing = Crossing::through_workspace, .end = "/out"},
       "it is reached through the workspace /w, where a command could lead it elsewhere; name /out itself if "
       "that is meant",
       "the configuration /f lies in the workspace /w, where an agent can write it; use another workspace, "
       "or "
       "move the configuration"},
      {{.crossing = Crossing::through_mount, .end = "/out"},
       "it is reached through the workspace /w, by a mount, where a command could lead it elsewhere; name "
       "/out itself if that is meant",
       "the configuration /f lies in the workspace /w by a mount, and an agent can write it there; unmount "
       "it, "
       "or use another workspace"},
  };
  for (const auto& row : rows) {
    CrossingFact fact = row.fact;
    fact.workspace = "/w";
    EXPECT_EQ(said(judge_crossing("it", fact)), row.said);
    EXPECT_EQ(said(judge_configuration_crossing("/f", fact)), row.of_configuration);
  }
}

TEST(JudgeOpened, RefusesWhatACommandCouldWiden) {
  EXPECT_EQ(said(judge_opened("the profile", {.path = "/l", .opened = "/f"})), "");
  EXPECT_EQ(said(judge_opened("the profile", {.path = "/l", .opened = "/w/f", .in_workspace = true})),
            "the profile /w/f lies in the workspace: a command could widen it; move it, or name another "
            "workspace");
  EXPECT_EQ(said(judge_opened("the profile", {.path = "/l", .opened = "/f", .has_other_names = true})),
            "/l has another name (a hard link), by which a command could widen it; give it one name, with a "
            "copy");
}

TEST(WrittenPlaces, NoLinkWhereCallsWriteIsFollowed) {
  const std::vector<std::string> written = {"/w", "/home/u/out"};
  const struct {
    const char* path;
    std::vector<std::string> turns;
    bool writable;
    bool believed;
  } rows[] = {
      {"/srv/data", {}, false, true},
      {"/srv/data", {}, true, true},
      {"/srv/data", {"/srv/link"}, true, true},                        // the operator's own link
      {"/home/u/.ssh", {"/w/data"}, false, false},                     // a call's
      {"/home/u/.ssh", {"/w/a/b/data"}, false, false},                 //
      {"/home/u/.ssh", {"/srv/link", "/home/u/out/x"}, false, false},  // anywhere on the way
      {"/home/u/.ssh", {"/home/u/outer"}, false, true},
      {"/w/b", {"/w/a"}, false, true},            // to what it could have put there itself
      {"/w/b", {"/w/a"}, true, false},            // but not to make more of it writable
      {"/w/b", {"/home/u/out/a"}, false, false},  // nor from one place into another
      {"/srv/data", {"/w"}, true, true},          // .. out of the root itself, which no call can move
  };
  for (const auto& row : rows) {
    FileFact fact{.kind = FileFact::Kind::directory, .path = row.path};
    fact.turns = row.turns;
    EXPECT_EQ(judge_symlinks_crossed("it", fact, row.writable, written).ok(), row.believed)
        << row.path << (row.turns.empty() ? "" : " by " + row.turns.back());
  }
}

TEST(WrittenPlaces, TheSentenceSaysWhereAndWhatToDo) {
  FileFact fact{.kind = FileFact::Kind::directory, .path = "/etc/keys"};
  fact.turns = {"/w/data"};
  EXPECT_EQ(describe(judge_symlinks_crossed("--ro w/data", fact, false, {"/w"}).error()),
            "--ro w/data is reached through /w/data, where calls can write, so any of them decides where it "
            "leads; name /etc/keys itself if that is meant");
}

using Kind = FileFact::Kind;

TEST(JudgeHome, IsKnownOrNothingIs) {
  const struct {
    HomeFacts facts;
    const char* said;  // the home, or the beginning of the refusal
  } rows[] = {
      {{.user = 7}, "HOME is not set and the passwd database has no home for the user id 7, so"},
      {{.kind = Kind::directory}, "/h"},
      {{.in_proc = true, .kind = Kind::directory}, "HOME=/h lies in /proc, so"},
      {{.kind = Kind::absent}, "HOME=/h is no directory, so"},
      {{.kind = Kind::file}, "HOME=/h is no directory, so"},
      {{.kind = Kind::absent, .account = "/a"}, "/h"},
      {{.kind = Kind::file, .account = "/a"}, "HOME=/h is no directory, so"},
      {{.kind = Kind::absent, .account = "/h"}, "/h"},
      {{.kind = Kind::absent, .account = "/a", .account_is_configured = true},
       "HOME=/h is not there, and the configuration in /a would not hold; set HOME to /a; with sudo, use "
       "sudo -H"},
      {{.kind = Kind::directory, .of_another_user = true, .account = "/a", .account_is_configured = true},
       "HOME=/h belongs to another user, and the configuration in /a would not hold"},
      {{.kind = Kind::directory, .of_another_user = true, .account = "/a"}, "/h"},
      {{.kind = Kind::directory, .account = "/a", .account_is_configured = true}, "/h"},
      {{.kind = Kind::directory, .config_home = "/x"}, "/h"},
      {{.kind = Kind::directory, .account = "/h", .config_home = "/x", .passed_over = "/h"},
       "XDG_CONFIG_HOME=/x belongs to another user, and the configuration in /h would not hold"},
  };
  for (const auto& row : rows) {
    HomeFacts facts = row.facts;
    if (facts.user == 0) facts.written = facts.path = "/h";
    const auto judged = judge_home(facts);
    EXPECT_TRUE((judged.ok() ? judged.value() : describe(judged.error())).starts_with(row.said)) << row.said;
  }
}

}  // namespace

}  // namespace cloche
