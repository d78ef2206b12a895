// The race: a process that swaps a directory or a file for a link to the outside, as often as it likes, never
// gets anything written or read there.
#include <fcntl.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "store/workspace/workspace_files_fixture.hpp"

namespace cloche {
namespace {

constexpr auto longest = std::chrono::seconds(30);  // far more than it takes

class WorkspaceRace : public testing::TestWithParam<FreshFile>, public WorkspaceFixture {
 protected:
  // `ours` and `theirs` change places so many times while `body` runs again and again.
  void race(int swaps, const std::string& ours, const std::string& theirs,
            const std::function<void()>& body) {
    std::atomic<int> done{0};
    std::atomic<bool> swapping{true};
    std::thread swapper([&] {
      const auto end = std::chrono::steady_clock::now() + longest;
      while (done < swaps && std::chrono::steady_clock::now() < end) {
        if (::renameat2(AT_FDCWD, ours.c_str(), AT_FDCWD, theirs.c_str(), RENAME_EXCHANGE) == 0) ++done;
      }
      swapping = false;
    });
    while (swapping) body();
    swapper.join();
    EXPECT_EQ(done, swaps) << "in the time there is";
  }
};

TEST_P(WorkspaceRace, ADirectorySwappedForALink) {
  fs::create_directory(root + "/dir");
  fs::create_directory_symlink(outside, root + "/link");
  HeldWorkspace files = open(GetParam());
  unsigned written = 0;
  unsigned refused = 0;
  unsigned number = 0;
  race(100'000, root + "/dir", root + "/link", [&] {
    files.replace("dir/f", "new").ok() ? ++written : ++refused;
    files.replace("dir/sub" + std::to_string(++number % 50) + "/f", "new").ok() ? ++written : ++refused;
    const auto part = files.read("dir/secret", 0, 100);
    EXPECT_FALSE(part.ok()) << part.value().bytes;
  });
  EXPECT_GT(written, 0U);
  EXPECT_GT(refused, 0U) << "the race was on";
  EXPECT_TRUE(outside_is_untouched());
  EXPECT_FALSE(has_leftovers());
}

TEST_P(WorkspaceRace, AFileSwappedForALink) {
  put(root + "/f", "old");
  fs::create_symlink(outside + "/secret", root + "/link");
  HeldWorkspace files = open(GetParam());
  unsigned tries = 0;
  race(20'000, root + "/f", root + "/link", [&] {
    (void)files.replace("f", "new");  // a link half of the time, and then refused
    ++tries;
    const auto part = files.read("f", 0, 100);
    if (part.ok()) {
      EXPECT_NE(part.value().bytes, "secret");
    }
    // A write over the link leaves two files: the race goes on with a link.
    if (fs::is_regular_file(fs::symlink_status(root + "/f")) &&
        fs::is_regular_file(fs::symlink_status(root + "/link"))) {
      ::symlink((outside + "/secret").c_str(), (root + "/again").c_str());
      ::rename((root + "/again").c_str(), (root + "/link").c_str());
    }
  });
  EXPECT_GT(tries, 0U);
  EXPECT_TRUE(outside_is_untouched());
  EXPECT_FALSE(has_leftovers());
}

// Many at once on one file: each reader sees one whole content, and nothing is left behind.
TEST_P(WorkspaceRace, WritersOfOneFile) {
  constexpr size_t length = 20'000;
  std::atomic<bool> stop{false};
  std::vector<std::thread> writers;
  for (const char letter : {'a', 'b', 'c'}) {
    writers.emplace_back([&, letter] {
      HeldWorkspace files = open(GetParam());
      for (int i = 0; i < 100; ++i) EXPECT_TRUE(files.replace("new/f", std::string(length, letter)).ok());
    });
  }
  std::thread reader([&] {
    HeldWorkspace files = open();
    while (!stop) {
      const auto part = files.read("new/f", 0, 2 * length);
      if (!part.ok()) continue;
      EXPECT_EQ(part.value().bytes, std::string(length, part.value().bytes[0]));
    }
  });
  for (auto& writer : writers) writer.join();
  stop = true;
  reader.join();
  EXPECT_FALSE(has_leftovers());
}

// Each editor adds a letter to what it read. With the lock that a gateway holds no letter is lost; without it
// another editor may undo one, but no half file and no temporary one is ever left.
TEST_P(WorkspaceRace, EditorsOfOneFile) {
  put(root + "/f", "");
  std::atomic<size_t> added{0};
  std::mutex one_at_a_time;
  std::vector<std::thread> editors;
  for (int i = 0; i < 4; ++i) {
    editors.emplace_back([&] {
      HeldWorkspace files = open(GetParam());
      for (int n = 0; n < 200; ++n) {
        const auto old = files.read("f", 0, 1 << 20);
        ASSERT_TRUE(old.ok()) << old.error().what;
        const std::lock_guard held(one_at_a_time);
        if (files.replace("f", old.value().bytes + "x", old.value().stamp).ok()) ++added;
      }
    });
  }
  for (auto& editor : editors) editor.join();
  EXPECT_GT(added, 0U);
  EXPECT_EQ(content_of(root + "/f").size(), added);
  EXPECT_FALSE(has_leftovers());
}

INSTANTIATE_TEST_SUITE_P(Both, WorkspaceRace, testing::Values(FreshFile::unnamed, FreshFile::named),
                         [](const auto& tested) {
                           return tested.param == FreshFile::unnamed ? "Unnamed" : "Named";
                         });

}  // namespace
}  // namespace cloche
