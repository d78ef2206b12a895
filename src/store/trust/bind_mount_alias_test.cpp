// A bind mount is a second name. Tried in a mount namespace of the test's own, which ends with it.
#include "store/trust/bind_mount_alias.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <functional>

#include "base/scratch.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

constexpr int yes = 10;
constexpr int no = 11;
constexpr int cannot = 12;

// What `ask` says in a process that has mounted `source` on `target`.
int with_mount(const fs::path& source, const fs::path& target, const std::function<bool()>& ask) {
  const pid_t child = ::fork();
  if (child == 0) {
    const bool mounted = ::unshare(::geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) == 0 &&
                         ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                         ::mount(source.c_str(), target.c_str(), nullptr, MS_BIND, nullptr) == 0;
    ::_exit(!mounted ? cannot : ask() ? yes : no);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

TEST(SecondName, ByItsName) {
  EXPECT_TRUE(lies_in("/usr", "/usr"));
  EXPECT_TRUE(lies_in("/usr", "/usr/absent/file"));
  EXPECT_FALSE(lies_in("/usr", "/usrlocal"));
  EXPECT_FALSE(is_mounted_from("/usr", "/usr/bin"));
  EXPECT_FALSE(is_mounted_from("/usr", "/"));
}

TEST(SecondName, EachIsLookedAtOnce) {
  const Scratch scratch;
  const fs::path root = fs::canonical(scratch.path);
  MountCache mounts;
  EXPECT_TRUE(S_ISDIR(mounts.look(root.string()).mode));
  EXPECT_EQ(mounts.look((root / "new").string()).error, ENOENT);
  EXPECT_EQ(mounts.look((root / "new/file").string()).error, ENOENT);
  fs::create_directories(root / "new/file");
  EXPECT_EQ(mounts.look((root / "new/file").string()).error, ENOENT) << "one look has one answer";
  EXPECT_EQ(MountCache().look((root / "new/file").string()).error, 0);
}

TEST(SecondName, ByAMount) {
  const Scratch scratch;
  const fs::path root = fs::canonical(scratch.path);
  for (const char* name : {"w/conf/cloche", "w/other", "beside", "place"})
    fs::create_directories(root / name);
  struct Row {
    const char* source;
    const char* path;
    int answer;
  };
  const Row rows[] = {
      {"w/conf", "place", yes},         {"w/conf", "place/cloche/config.json", yes},
      {"w/conf", "place/not/yet", yes}, {"w", "place/conf", yes},
      {".", "place/w/conf", yes},       {".", "place/beside", no},
      {"beside", "place", no},          {"beside", "place/cloche", no},
      {"w/conf", "beside", no},
  };
  for (const auto& row : rows) {
    const int answer = with_mount(root / row.source, root / "place",
                                  [&] { return lies_in((root / "w").string(), (root / row.path).string()); });
    if (answer == cannot) GTEST_SKIP() << "skipped: no mount namespace of one's own here";
    EXPECT_EQ(answer, row.answer) << row.source << " on place: " << row.path;
  }
}

}  // namespace
}  // namespace cloche
