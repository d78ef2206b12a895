// What the file tools' hands do with everything that can lie in a workspace.
#include "store/workspace/workspace_files.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/sys/sys.hpp"
#include "store/workspace/workspace_files_fixture.hpp"

namespace cloche {
namespace {

using Replaced = WorkspaceFiles::Replaced;
using Paths = std::vector<std::string>;
constexpr uint64_t plenty = 1 << 20;

class WorkspaceFilesTest : public testing::Test, public WorkspaceFixture {
 protected:
  // The sentence of a refusal; "": it worked.
  std::string why_not_read(const std::string& path) {
    const auto part = open().read(path, 0, plenty);
    return part.ok() ? "" : part.error().what.text();
  }
  std::string why_not_written(const std::string& path, FreshFile fresh = FreshFile::unnamed) {
    const auto done = open(fresh).replace(path, "new");
    return done.ok() ? "" : done.error().what.text();
  }
  void make_socket(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    ASSERT_LT(path.size(), sizeof address.sun_path);
    path.copy(address.sun_path, path.size());
    const OwnedFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
};

TEST_F(WorkspaceFilesTest, ReadsAPartOfAFile) {
  put(root + "/dir/f", "0123456789");
  HeldWorkspace files = open();
  const auto part = files.read("dir/f", 3, 4);
  ASSERT_TRUE(part.ok());
  EXPECT_EQ(part.value().bytes, "3456");
  EXPECT_EQ(part.value().size, 10U);
  EXPECT_EQ(files.read("dir/f", 8, 100).value().bytes, "89");
  EXPECT_EQ(files.read("dir/f", 10, 100).value().bytes, "");
  EXPECT_EQ(files.read("dir/f", UINT64_MAX, 100).value().bytes, "");
  EXPECT_EQ(files.read("dir/f", 0, 0).value().bytes, "");
}

TEST_F(WorkspaceFilesTest, LinksAreFollowedForReadingWhileTheyStayInside) {
  put(root + "/real/f", "inside");
  fs::create_directory_symlink("real", root + "/to-directory");
  fs::create_symlink("../real/f", root + "/real/up-again");
  fs::create_symlink("to-directory/up-again", root + "/chain");
  for (const std::string path : {"to-directory/f", "real/up-again", "chain"}) {
    const auto part = open().read(path, 0, plenty);
    ASSERT_TRUE(part.ok()) << path << part.error().what;
    EXPECT_EQ(part.value().bytes, "inside");
  }
}

TEST_F(WorkspaceFilesTest, NoLinkLeadsOutside) {
  fs::create_directory(root + "/sub");
  fs::create_symlink(outside + "/secret", root + "/absolute");
  fs::create_symlink("../outside/secret", root + "/relative");
  fs::create_directory_symlink(outside, root + "/directory");
  fs::create_directory_symlink("../..", root + "/sub/up");
  fs::create_symlink("absolute", root + "/chain");
  fs::create_symlink("itself", root + "/itself");
  fs::create_symlink("/proc/self/root" + outside + "/secret", root + "/magic");
  fs::create_directory_symlink("/proc/self/cwd", root + "/magic-directory");
  fs::create_symlink("/proc/self/fd/0", root + "/magic-descriptor");
  fs::create_symlink(root + "/sub", root + "/absolute-inside");
  for (const std::string path : {"absolute", "relative", "directory/secret", "sub/up/outside/secret", "chain",
                                 "itself", "magic", "magic-directory/x", "magic-descriptor",
                                 "../outside/secret", "sub/../../outside/secret", "/etc/passwd"}) {
    EXPECT_NE(why_not_read(path), "") << path;
    EXPECT_NE(why_not_written(path), "") << path;
  }
  EXPECT_NE(why_not_written("absolute-inside/x"), "")
      << "absolute links are outside even when they come back";
  EXPECT_EQ(why_not_read("relative"), "'relative' leads out of the workspace");
  EXPECT_TRUE(outside_is_untouched());
  EXPECT_FALSE(has_leftovers());
}

TEST_F(WorkspaceFilesTest, NothingIsWrittenThroughALinkEvenInside) {
  put(root + "/.git/hooks/sample", "");
  fs::create_directory_symlink(".git/hooks", root + "/out");
  fs::create_symlink(".git/hooks/sample", root + "/file");
  fs::create_symlink("nowhere", root + "/dangling");
  EXPECT_EQ(why_not_written("out/pre-commit"),
            "'out/pre-commit' goes through a link that is not followed here");
  EXPECT_NE(why_not_written("out/new/pre-commit"), "");
  EXPECT_NE(why_not_written("file").find("is a link, and nothing is written through links"),
            std::string::npos);
  EXPECT_NE(why_not_written("dangling"), "");
  EXPECT_FALSE(fs::exists(root + "/nowhere"));
  EXPECT_EQ(std::distance(fs::directory_iterator(root + "/.git/hooks"), fs::directory_iterator()), 1);
  EXPECT_EQ(content_of(root + "/.git/hooks/sample"), "");
}

TEST_F(WorkspaceFilesTest, NoLinkLeadsToWhatIsClochesOwn) {
  put(root + "/tool_calls/T-1.jsonl", "record");
  put(root + "/.cloche/config.json", "{}");
  fs::create_directory_symlink("tool_calls", root + "/calls");
  fs::create_symlink("tool_calls/T-1.jsonl", root + "/line");
  fs::create_directory_symlink(".", root + "/self");
  for (const std::string path :
       {"calls/T-1.jsonl", "line", "self/tool_calls/T-1.jsonl", "self/.cloche/config.json"})
    EXPECT_NE(why_not_read(path).find("Cloche's own"), std::string::npos) << path << why_not_read(path);
  Paths seen;
  const auto walked = open().walk("self", {}, [&](const FileEntry& entry, const WalkView&) {
    seen.push_back(entry.path);
    return WalkStep::into;
  });
  ASSERT_TRUE(walked.ok());
  EXPECT_EQ(seen, (Paths{"self/calls", "self/line", "self/self"}));
}

TEST_F(WorkspaceFilesTest, OnlyRegularFilesAreReadOrReplaced) {
  ASSERT_EQ(::mkfifo((root + "/fifo").c_str(), 0600), 0);
  fs::create_directory(root + "/directory");
  make_socket(root + "/socket");
  std::vector<std::pair<std::string, std::string>> rows = {
      {"fifo", "a FIFO"}, {"directory", "a directory"}, {"socket", "not a regular file"}};
  if (::geteuid() == 0 && ::mknod((root + "/device").c_str(), S_IFCHR | 0600, makedev(1, 5)) == 0)
    rows.emplace_back("device", "a device");  // /dev/zero, which never ends
  for (const auto& [path, kind] : rows) {
    EXPECT_NE(why_not_read(path).find(kind), std::string::npos) << why_not_read(path);
    EXPECT_NE(why_not_written(path), "") << path;
    EXPECT_TRUE(fs::exists(root + "/" + path)) << "still what it was";
  }
  EXPECT_NE(why_not_written("fifo/below"), "");
  EXPECT_EQ(why_not_read("absent"), "'absent' is not there");
  EXPECT_FALSE(has_leftovers());
}

TEST_F(WorkspaceFilesTest, AFileUnderALeaseIsReportedAtOnce) {
  put(root + "/leased", "x");
  auto ready = sys::make_pipe();
  auto done = sys::make_pipe();
  ASSERT_TRUE(ready.ok() && done.ok());
  const pid_t holder = ::fork();
  if (holder == 0) {
    ::signal(SIGIO, SIG_IGN);
    const OwnedFd file(::open((root + "/leased").c_str(), O_RDWR | O_CLOEXEC));
    const char answer = ::fcntl(file.get(), F_SETLEASE, F_WRLCK) == 0 ? 'y' : 'n';
    char wait = 0;
    done.value().write.reset();
    (void)!::write(ready.value().write.get(), &answer, 1);
    (void)!::read(done.value().read.get(), &wait, 1);
    ::_exit(0);
  }
  char leased = 0;
  ASSERT_EQ(::read(ready.value().read.get(), &leased, 1), 1);
  EXPECT_EQ(leased, 'y');
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(why_not_read("leased"), "'leased' is held by another process or keeps moving; try again later");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
  done.value().write.reset();
  ASSERT_EQ(::waitpid(holder, nullptr, 0), holder);
  EXPECT_EQ(why_not_read("leased"), "");
}

TEST_F(WorkspaceFilesTest, AFileThatIsCutOrGrowsWhileItIsReadIsNoTrouble) {
  const std::string path = root + "/moving";
  put(path, std::string(100'000, 'a'));
  std::atomic<bool> stop{false};
  std::thread other([&] {
    for (unsigned i = 0; !stop; ++i) {
      if (::truncate(path.c_str(), i % 2 == 0 ? 10 : 300'000) != 0) break;
    }
  });
  HeldWorkspace files = open();
  for (int i = 0; i < 3000; ++i) {
    const auto part = files.read("moving", 0, 200'000);
    ASSERT_TRUE(part.ok());
    EXPECT_LE(part.value().bytes.size(), 200'000U);
  }
  stop = true;
  other.join();
}

TEST_F(WorkspaceFilesTest, AnotherMountIsOutside) {
  auto opened = HeldWorkspace::open(test::permit_in("/"));
  ASSERT_TRUE(opened.ok());
  const auto part = opened.value().read("proc/version", 0, plenty);
  ASSERT_FALSE(part.ok());
  EXPECT_EQ(part.error().number, EXDEV);
}

class Replacing : public WorkspaceFilesTest, public testing::WithParamInterface<FreshFile> {};

TEST_P(Replacing, MakesAFileWithItsDirectories) {
  const auto before = ::umask(027);
  const auto done = open(GetParam()).replace("a/b/c.txt", "content");
  ::umask(before);
  ASSERT_TRUE(done.ok()) << done.error().what;
  EXPECT_EQ(done.value(), Replaced::made);
  EXPECT_EQ(content_of(root + "/a/b/c.txt"), "content");
  EXPECT_EQ(mode_of(root + "/a/b/c.txt"), 0640U);
  EXPECT_EQ(mode_of(root + "/a/b"), 0750U);
  EXPECT_FALSE(has_leftovers());
}

TEST_P(Replacing, WritesItOutAtOnceWhenAsked) {
  auto files = HeldWorkspace::open(test::permit_in(root), {GetParam(), FileSync::at_once});
  ASSERT_TRUE(files.ok());
  EXPECT_TRUE(files.value().replace("f", "content").ok());
  EXPECT_TRUE(files.value().replace("f", "other").ok());
  EXPECT_EQ(content_of(root + "/f"), "other");
  EXPECT_FALSE(has_leftovers());
}

TEST_P(Replacing, KeepsTheModeButNotWhatGivesPower) {
  const std::pair<unsigned, unsigned> rows[] = {
      {0600, 0600}, {0755, 0755}, {0666, 0666}, {06755, 0755}, {01644, 0644}};
  for (const auto& [old, new_mode] : rows) {
    put(root + "/f", "old");
    ASSERT_EQ(::chmod((root + "/f").c_str(), old), 0);
    const auto done = open(GetParam()).replace("f", "new");
    ASSERT_TRUE(done.ok()) << done.error().what;
    EXPECT_EQ(done.value(), Replaced::changed);
    EXPECT_EQ(mode_of(root + "/f"), new_mode);
    EXPECT_EQ(content_of(root + "/f"), "new");
  }
  EXPECT_FALSE(has_leftovers());
}

TEST_P(Replacing, AHardLinkElsewhereKeepsTheOldContent) {
  ASSERT_EQ(::link((outside + "/secret").c_str(), (root + "/linked").c_str()), 0);
  EXPECT_EQ(why_not_written("linked", GetParam()), "");
  EXPECT_EQ(content_of(root + "/linked"), "new");
  EXPECT_TRUE(outside_is_untouched());
}

TEST_P(Replacing, WhatFailsLeavesNothingBehind) {
  put(root + "/file", "x");
  put(root + "/read-only", "x");
  ASSERT_EQ(::chmod((root + "/read-only").c_str(), 0444), 0);
  fs::create_directories(root + "/made/directory");
  const Paths before = everything();
  const std::pair<std::string, std::string> rows[] = {
      {"file/below", "not a directory"},
      {"made/directory", "is a directory"},
      {"made", "is a directory"},
      {"read-only", "is read-only"},
      {"new/deep/" + std::string(256, 'n'), "too long"},
      {"new/" + std::string(256, 'n') + "/x", "too long"},
      {"", "not the path of a file"},
      {"..", "not the path of a file"},
      {"a/../b", "not the path of a file"},
  };
  for (const auto& [path, why] : rows) {
    const std::string said = why_not_written(path, GetParam());
    EXPECT_NE(said.find(why), std::string::npos) << path << ": " << said;
    EXPECT_EQ(everything(), before) << path;
  }
}

TEST_P(Replacing, AFullDiskLeavesTheOldFile) {
  put(root + "/f", "old");
  const Paths before = everything();
  EXPECT_TRUE(in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit small = {1000, 1000};
    return ::setrlimit(RLIMIT_FSIZE, &small) == 0 &&
           !open(GetParam()).replace("f", std::string(5000, 'x')).ok() &&
           !open(GetParam()).replace("new/g", std::string(5000, 'x')).ok();
  }));
  EXPECT_EQ(content_of(root + "/f"), "old");
  EXPECT_EQ(everything(), before);
}

TEST_P(Replacing, OnlyWhileItIsTheFileThatWasRead) {
  put(root + "/f", "old");
  HeldWorkspace files = open(GetParam());
  const FileStamp stamp = files.read("f", 0, plenty).value().stamp;
  put(root + "/f", "else");
  const auto late = files.replace("f", "new", stamp);
  ASSERT_FALSE(late.ok());
  EXPECT_NE(late.error().what.text().find("changed by another process"), std::string::npos);
  EXPECT_TRUE(files.replace("f", "new", files.read("f", 0, plenty).value().stamp).ok());
  fs::remove(root + "/f");
  EXPECT_FALSE(files.replace("f", "new", stamp).ok()) << "gone";
  EXPECT_FALSE(fs::exists(root + "/f"));
}

TEST_P(Replacing, NeedsAWritableDirectory) {
  fs::create_directory(root + "/closed");
  put(root + "/closed/f", "old");
  ASSERT_EQ(::chmod((root + "/closed").c_str(), 0555), 0);
  ASSERT_EQ(::chmod(scratch.path.c_str(), 0755), 0);  // for whom we become
  const Paths before = everything();
  EXPECT_TRUE(in_child([&] {
    if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) return false;
    const auto denied = [&](const std::string& path) {
      return why_not_written(path, GetParam()) == "'" + path + "': permission denied";
    };
    return denied("closed/f") && denied("closed/new") && denied("closed/deep/new");
  }));
  EXPECT_EQ(everything(), before);
  ASSERT_EQ(::chmod((root + "/closed").c_str(), 0755), 0);
}

TEST_P(Replacing, WhatRootWritesBelongsToTheOwnerOfTheDirectory) {
  if (::geteuid() != 0) GTEST_SKIP() << "skipped: not root";
  ASSERT_EQ(::chown(root.c_str(), 12345, 23456), 0);
  ASSERT_EQ(why_not_written("a/b/f", GetParam()), "");
  ASSERT_EQ(why_not_written("a/b/f", GetParam()), "") << "again, over the first";
  for (const char* path : {"/a", "/a/b", "/a/b/f"}) {
    EXPECT_EQ(status_of(root + path).st_uid, 12345U) << path;
    EXPECT_EQ(status_of(root + path).st_gid, 23456U) << path;
  }
}

INSTANTIATE_TEST_SUITE_P(Both, Replacing, testing::Values(FreshFile::unnamed, FreshFile::named),
                         [](const auto& tested) {
                           return tested.param == FreshFile::unnamed ? "Unnamed" : "Named";
                         });

}  // namespace
}  // namespace cloche
