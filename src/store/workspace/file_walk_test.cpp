// In which order a tree is walked, and where a walk ends.
#include "store/workspace/file_walk.hpp"

#include <fcntl.h>

#include "store/workspace/workspace_files_fixture.hpp"

namespace cloche {
namespace {

using Paths = std::vector<std::string>;

class Walking : public testing::Test, public WorkspaceFixture {
 protected:
  Paths paths_beneath(const std::string& path, const WalkLimits& limits = {}) {
    Paths seen;
    const auto walked = open().walk(path, limits, [&](const FileEntry& entry, const WalkView&) {
      seen.push_back(entry.path);
      return WalkStep::into;
    });
    EXPECT_TRUE(walked.ok());
    if (walked.ok()) last = walked.value();
    return seen;
  }
  Walked last;
};

TEST_F(Walking, GoesInOrderAndFollowsNoLink) {
  put(root + "/b/2", "12");
  put(root + "/b/1", "");
  put(root + "/a", "");
  put(root + "/c/d/e", "");
  put(root + "/tool_calls/x", "");
  fs::create_directory_symlink(outside, root + "/link");
  fs::create_directory_symlink("c", root + "/inner");
  EXPECT_EQ(paths_beneath(""), (Paths{"a", "b", "b/1", "b/2", "c", "c/d", "c/d/e", "inner", "link"}));
  EXPECT_EQ(paths_beneath("b"), (Paths{"b/1", "b/2"}));
  EXPECT_EQ(paths_beneath("b/2"), (Paths{"b/2"})) << "a file is itself";
  EXPECT_EQ(paths_beneath("inner"), (Paths{"inner/d", "inner/d/e"}))
      << "the start may be a link that stays inside";
  EXPECT_FALSE(
      open().walk("link", {}, [](const FileEntry&, const WalkView&) { return WalkStep::into; }).ok());
  EXPECT_FALSE(
      open().walk("absent", {}, [](const FileEntry&, const WalkView&) { return WalkStep::into; }).ok());
}

TEST_F(Walking, KnowsKindsAndSizes) {
  put(root + "/dir/f", "12345");
  ASSERT_EQ(::mkfifo((root + "/dir/p").c_str(), 0600), 0);
  fs::create_symlink("f", root + "/dir/l");
  fs::create_directory_symlink("dir", root + "/link");
  using Kind = FileEntry::Kind;
  const std::vector<std::pair<Kind, uint64_t>> expected = {
      {Kind::file, 5}, {Kind::link, 0}, {Kind::other, 0}};
  for (const std::string start : {"dir", "link"}) {
    std::vector<std::pair<Kind, uint64_t>> seen;
    const auto walked = open().walk(start, {}, [&](const FileEntry& entry, const WalkView& view) {
      seen.emplace_back(entry.kind, view.size_of(entry));
      return WalkStep::into;
    });
    ASSERT_TRUE(walked.ok());
    EXPECT_EQ(seen, expected) << start;
  }
  uint64_t size = 0;
  const auto single = open().walk("dir/f", {}, [&](const FileEntry& entry, const WalkView& view) {
    size = view.size_of(entry);
    return WalkStep::into;
  });
  EXPECT_TRUE(single.ok());
  EXPECT_EQ(size, 5U) << "of a file by itself";
}

TEST_F(Walking, EndsAtItsLimits) {
  for (int i = 0; i < 50; ++i) put(root + "/" + std::to_string(i), "");
  EXPECT_EQ(paths_beneath("", {.entries = 10}).size(), 10U);
  EXPECT_EQ(last.end, WalkEnd::out_of_entries);
  EXPECT_EQ(paths_beneath("", {.entries = 50}).size(), 50U);
  EXPECT_EQ(last.end, WalkEnd::complete);
  EXPECT_LT(paths_beneath("", {.milliseconds = 0}).size(), 50U);
  EXPECT_EQ(last.end, WalkEnd::out_of_time);
}

TEST_F(Walking, DoesWhatTheVisitorSays) {
  put(root + "/a/1", "");
  put(root + "/b/1", "");
  put(root + "/c", "");
  Paths seen;
  const auto walked = open().walk("", {}, [&](const FileEntry& entry, const WalkView&) {
    seen.push_back(entry.path);
    return entry.path == "a" ? WalkStep::over : entry.path == "b/1" ? WalkStep::stop : WalkStep::into;
  });
  ASSERT_TRUE(walked.ok());
  EXPECT_EQ(walked.value().end, WalkEnd::stopped_by_visitor);
  EXPECT_EQ(seen, (Paths{"a", "b", "b/1"}));
}

TEST_F(Walking, IsNotHurtByDepth) {
  const WalkLimits patient = {.milliseconds = 60'000};
  // Deeper than one path may be long: what cannot be opened by one is counted.
  OwnedFd at(::open(root.c_str(), O_PATH | O_CLOEXEC));
  const std::string name(200, 'd');
  for (int i = 0; i < 40; ++i) {
    ASSERT_EQ(::mkdirat(at.get(), name.c_str(), 0755), 0);
    at = OwnedFd(::openat(at.get(), name.c_str(), O_PATH | O_CLOEXEC));
  }
  EXPECT_GE(paths_beneath("", patient).size(), 20U);
  EXPECT_EQ(last.unreadable, 1U);
  fs::create_directories(root + "/narrow");
  at = OwnedFd(::open((root + "/narrow").c_str(), O_PATH | O_CLOEXEC));
  for (int i = 0; i < 700; ++i) {
    ASSERT_EQ(::mkdirat(at.get(), "n", 0755), 0);
    at = OwnedFd(::openat(at.get(), "n", O_PATH | O_CLOEXEC));
  }
  EXPECT_EQ(paths_beneath("narrow", patient).size(), 700U);
}

}  // namespace
}  // namespace cloche
