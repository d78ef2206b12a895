#include "gateway/launch/shared_home.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/scratch.hpp"

namespace cloche {
namespace {

const Rights none = {};
const Rights web = {"host example.org"};
const Rights more = {"host example.org", "variable CI"};

TEST(HomeSharing, RightsThatAnEarlierCallDidNotHaveKeepOut) {
  HomeSharing sharing;
  const auto called = [&](const Rights& rights) {
    if (!sharing.enter(rights)) return false;
    sharing.leave(rights);
    return true;
  };
  EXPECT_TRUE(called(more));
  EXPECT_TRUE(called(more));
  EXPECT_TRUE(called(web));
  EXPECT_FALSE(called(more)) << "the one before could have left something for its variable";
  EXPECT_TRUE(called(web)) << "a call that was kept out has left nothing";
  EXPECT_TRUE(called(none));
  EXPECT_FALSE(called(web));
  EXPECT_FALSE(called({"write /srv"}));
  sharing.start_over();
  EXPECT_TRUE(called(more)) << "of an empty home";
}

TEST(HomeSharing, ACallWithFewerRightsStaysOutWhileOneWithMoreRuns) {
  HomeSharing sharing;
  ASSERT_TRUE(sharing.enter(web));
  ASSERT_TRUE(sharing.enter(web)) << "beside its equal";
  EXPECT_FALSE(sharing.enter(none));
  sharing.leave(web);
  EXPECT_FALSE(sharing.enter(none));
  sharing.leave(web);
  EXPECT_TRUE(sharing.enter(none));
}

TEST(HomeSharing, RightsAreHostsVariablesAndTrees) {
  RunRequest operators;
  operators.hosts = {"example.org:443"};
  operators.environment = {{"LANG", {}}};
  operators.grants = {{.source = "/srv/a"}, {.source = "/srv/b", .writable = true}};
  Launch launch{.argv = {"x"}};
  launch.pass_env = {"CI"};
  EXPECT_EQ(rights_of(launch, operators), (Rights{"isolation namespace", "read /srv/a", "read /srv/b",
                                                  "variable CI", "variable LANG", "write /srv/b"}));
  launch.network = true;
  EXPECT_TRUE(rights_of(launch, operators).contains("host example.org:443"));
}

TEST(SharedHome, OneThatIsTooLargeIsLeftBehind) {
  const Scratch scratch;
  const auto home = SharedHome::make(scratch.path + "/state");
  ASSERT_TRUE(home.ok());
  const auto first = home.value()->offer();
  ASSERT_TRUE(first.ok());
  {
    const auto use = home.value()->enter(none, first.value().generation);
    ASSERT_TRUE(use.granted());
    home.value()->start_over(first.value().generation);
    EXPECT_TRUE(std::filesystem::exists(first.value().grants[0].source)) << "a call still runs in it";
  }
  EXPECT_FALSE(std::filesystem::exists(first.value().grants[0].source));
  EXPECT_FALSE(home.value()->enter(none, first.value().generation).granted());
  const auto second = home.value()->offer();
  ASSERT_TRUE(second.ok());
  EXPECT_NE(second.value().grants[0].source, first.value().grants[0].source);
  EXPECT_TRUE(home.value()->enter(web, second.value().generation).granted());
}

}  // namespace
}  // namespace cloche
