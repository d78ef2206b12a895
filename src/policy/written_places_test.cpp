// Which ways to a grant are believed.
#include "policy/written_places.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

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
      {"/w", {"/w"}, true, false},                // .. out of the root itself
  };
  for (const auto& row : rows) {
    FileFact fact{.kind = FileFact::Kind::directory, .path = row.path};
    fact.turns = row.turns;
    EXPECT_EQ(judge_way("it", fact, row.writable, written).ok(), row.believed)
        << row.path << (row.turns.empty() ? "" : " by " + row.turns.back());
  }
}

TEST(WrittenPlaces, TheSentenceSaysWhereAndWhatToDo) {
  FileFact fact{.kind = FileFact::Kind::directory, .path = "/etc/keys"};
  fact.turns = {"/w/data"};
  EXPECT_EQ(describe(judge_way("--ro w/data", fact, false, {"/w"}).error()),
            "--ro w/data is reached through /w/data, where calls can write, so any of them decides where it "
            "leads; name /etc/keys itself if that is meant");
}

}  // namespace
}  // namespace cloche
