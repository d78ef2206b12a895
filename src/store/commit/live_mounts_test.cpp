#include "store/commit/live_mounts.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "store/commit/store_fixture.hpp"

namespace cloche {
namespace {

FileFact fact_of(const std::string& path) {
  struct stat seen {};
  EXPECT_EQ(::lstat(path.c_str(), &seen), 0) << path;
  return {.kind = FileFact::Kind::file, .path = path, .device = seen.st_dev, .inode = seen.st_ino};
}

Result<LiveMounts> announce(const StoreScene& scene, const std::vector<std::string>& names) {
  std::vector<FileFact> places;
  for (const auto& name : names) places.push_back(fact_of(scene.project + "/" + name));
  return LiveMounts::announce(scene.state, scene.set.trees, places);
}

const Model before{{"git", a_directory()}, {"git/config", a_file("1")}, {"git/HEAD", a_file("1")}};

TEST(LiveMounts, KeepACommitFromTheFilesThatTheyStandOn) {
  const struct {
    const char* what;
    Model after;
    std::vector<std::string> mounted;
    bool is_committed;
  } rows[] = {
      {"replaced",
       {{"git", a_directory()}, {"git/config", a_file("2")}, {"git/HEAD", a_file("1")}},
       {"git/config"},
       false},
      {"removed", {{"git", a_directory()}, {"git/HEAD", a_file("1")}}, {"git/config"}, false},
      {"removed with its directory", {}, {"git/config"}, false},
      {"a directory removed", {}, {"git"}, false},
      {"a directory replaced", {{"git", a_file("2")}}, {"git"}, false},
      {"beside it",
       {{"git", a_directory()}, {"git/config", a_file("1")}, {"git/HEAD", a_file("2")}},
       {"git/config"},
       true},
      {"in a directory that stays",
       {{"git", a_directory()},
        {"git/config", a_file("1")},
        {"git/HEAD", a_file("2")},
        {"git/x", a_file("")}},
       {"git"},
       true},
  };
  for (const auto& row : rows) {
    const StoreScene scene(before, row.after);
    {
      const auto mounts = announce(scene, row.mounted);
      ASSERT_TRUE(mounts.ok()) << describe(mounts.error());
      const auto committed = scene.commit();
      ASSERT_TRUE(committed.ok()) << row.what;
      const bool is_committed = committed.value().end == CommitEnd::committed;
      EXPECT_EQ(is_committed, row.is_committed) << row.what << ": " << text_of(committed.value());
      EXPECT_EQ(read_tree(scene.project), row.is_committed ? scene.after : scene.before) << row.what;
      if (is_committed) continue;
      EXPECT_EQ(committed.value().end, CommitEnd::refused) << row.what;
      EXPECT_NE(text_of(committed.value()).find("a live call is running in this project"), std::string::npos)
          << text_of(committed.value());
    }
    const auto committed = scene.commit();  // it has ended
    ASSERT_TRUE(committed.ok()) << row.what;
    EXPECT_EQ(committed.value().end, CommitEnd::committed) << row.what << ": " << text_of(committed.value());
  }
}

TEST(LiveMounts, OfACallThatWasKilledHoldNothing) {
  const StoreScene scene(before, {});
  const pid_t child = ::fork();
  if (child == 0) {
    const auto mounts = announce(scene, {"git/config"});
    ::_exit(mounts.ok() ? 7 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(names_in(scene.state + "/live-calls").size(), 1U);
  const auto committed = scene.commit();
  ASSERT_TRUE(committed.ok());
  EXPECT_EQ(committed.value().end, CommitEnd::committed) << text_of(committed.value());
  EXPECT_TRUE(names_in(scene.state + "/live-calls").empty());
}

TEST(LiveMounts, AreNotMadeOnWhatAnotherCommitPutThere) {
  const StoreScene scene(before, {});
  FileFact place = fact_of(scene.project + "/git/config");
  place.inode = fact_of(scene.project + "/git/HEAD").inode;
  const auto mounts = LiveMounts::announce(scene.state, scene.set.trees, {place});
  ASSERT_FALSE(mounts.ok());
  EXPECT_NE(describe(mounts.error()).find("changed while it was looked at"), std::string::npos);
}

}  // namespace
}  // namespace cloche
