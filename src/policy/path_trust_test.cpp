// Whose word a path is, by table: each row changes one fact of a path that is the operator's own.
#include "policy/path_trust.hpp"

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

TEST(OperatorsFile, IsWrittenByItsOwnerAndRootAlone) {
  const struct {
    OwnerFact fact;
    Writers writers;
    const char* said;  // empty: it is the operator's
  } rows[] = {
      {{.uid = 1000}, user, ""},
      {{.uid = 0}, user, ""},
      {{.uid = 1001}, user, "/f belongs to another user, id 1001; chown it to root or to you"},
      {{.uid = 1000}, administrator, "/f belongs to another user, id 1000; chown it to root"},
      {{.uid = 1000, .others_write = true}, user, "/f can be written by everybody; chmod o-w /f"},
      {{.uid = 1000, .others_write = true, .sticky = true},
       user,
       "/f can be written by everybody; chmod o-w /f"},
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

TEST(OperatorsFile, IsWhatItIsTakenFor) {
  for (Kind kind : {Kind::absent, Kind::directory, Kind::file, Kind::link, Kind::other}) {
    const OwnerFact fact{.kind = kind, .path = "/f"};
    EXPECT_EQ(said(judge_operators_file(fact, user)), kind == Kind::file ? "" : "/f is not a regular file");
    EXPECT_EQ(said(judge_operators_folder(fact, user)),
              kind == Kind::directory ? "" : "/f is not a directory");
  }
}

TEST(OperatorsWay, IsNobodyElsesToTurn) {
  const WayFact own{
      .above = {directory("/home/u", 1000), directory("/home"), directory("/")},
      .links = {{{.kind = Kind::link, .path = "/srv/l", .uid = 1000}, {directory("/srv"), directory("/")}}}};
  const struct {
    const char* what;
    std::function<void(WayFact&)> change;
    bool refused;
  } rows[] = {
      {"as it is", [](WayFact&) {}, false},
      {"a directory of another's", [](WayFact& way) { way.above[0].uid = 7; }, true},
      {"one that all write to", [](WayFact& way) { way.above[1].others_write = true; }, true},
      {"a sticky one", [](WayFact& way) { way.above[1].others_write = way.above[1].sticky = true; }, false},
      {"a sticky one of another's",
       [](WayFact& way) {
         way.above[1].sticky = true;
         way.above[1].uid = 7;
       },
       true},
      {"the root itself", [](WayFact& way) { way.above[2].others_write = true; }, true},
      {"a link of another's", [](WayFact& way) { way.links[0].link.uid = 7; }, true},
      {"a link whose mode says nothing", [](WayFact& way) { way.links[0].link.others_write = true; }, false},
      {"a link in a directory of all", [](WayFact& way) { way.links[0].above[0].others_write = true; }, true},
  };
  for (const auto& row : rows) {
    WayFact way = own;
    row.change(way);
    EXPECT_EQ(!judge_operators_way(way, user).ok(), row.refused) << row.what;
  }
}

TEST(JudgeReach, RefusesWhatACommandCouldTurn) {
  const struct {
    ReachFact fact;
    const char* said;
    const char* of_configuration;
  } rows[] = {
      {{.reach = Reach::there}, "", ""},
      {{.reach = Reach::absent}, "", ""},
      {{.reach = Reach::through_workspace, .end = "/w/f", .ends_in = true},
       "it lies in the workspace /w, where a command could change it; move it, or name another workspace",
       "the configuration /f lies in the workspace /w, where an agent can write it; use another workspace, "
       "or "
       "move the configuration"},
      {{.reach = Reach::through_workspace, .end = "/out"},
       "it is reached through the workspace /w, where a command could lead it elsewhere; name /out itself if "
       "that is meant",
       "the configuration /f lies in the workspace /w, where an agent can write it; use another workspace, "
       "or "
       "move the configuration"},
      {{.reach = Reach::through_mount, .end = "/out"},
       "it is reached through the workspace /w, by a mount, where a command could lead it elsewhere; name "
       "/out itself if that is meant",
       "the configuration /f lies in the workspace /w by a mount, and an agent can write it there; unmount "
       "it, "
       "or use another workspace"},
  };
  for (const auto& row : rows) {
    ReachFact fact = row.fact;
    fact.workspace = "/w";
    EXPECT_EQ(said(judge_reach("it", fact)), row.said);
    EXPECT_EQ(said(judge_configuration_reach("/f", fact)), row.of_configuration);
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

}  // namespace
}  // namespace cloche
