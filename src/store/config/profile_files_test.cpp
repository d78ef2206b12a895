// Which files of profiles_dir are read, and which refuse: those that another user could have written.
#include "store/config/profile_files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace cloche {
namespace {

namespace fs = std::filesystem;

constexpr unsigned another_user = 12345;

class ProfileFiles : public testing::Test {
 protected:
  ProfileFiles() {
    char name[] = "/var/tmp/cloche-profiles-XXXXXX";
    root = fs::canonical(::mkdtemp(name));
    fs::permissions(root, fs::perms(0755));
    write("own/g.json", R"({"extends": "readonly"})");
  }
  ~ProfileFiles() override { fs::remove_all(root); }

  void write(const fs::path& below, const std::string& text) {
    fs::create_directories((root / below).parent_path());
    std::ofstream(root / below) << text;
  }
  // What is wrong, with paths as below the root; "ok" when nothing is.
  std::string answer(const Writers& writers = users_writers(), const std::string& workspace = {}) {
    const auto loaded =
        load_profiles({.folder = root / "own", .workspace = workspace, .home = {}, .writers = writers});
    if (loaded.ok()) return loaded.value().back().name == "g" ? "ok" : "passed over";
    std::string what = loaded.error().what.text();
    for (size_t at = what.find(root.string()); at != std::string::npos; at = what.find(root.string()))
      what.erase(at, root.string().size());
    return what;
  }
  fs::path root;
};

// Whatever the link leads to now: a command can replace it.
TEST_F(ProfileFiles, ALinkInTheWorkspaceOnTheWayRefuses) {
  const std::string workspace = (root / "ws").string();
  fs::create_directory(workspace);
  EXPECT_EQ(answer(users_writers(), workspace), "ok");
  fs::rename(root / "own", root / "elsewhere");
  fs::create_symlink(root / "elsewhere", root / "ws/profiles");
  fs::create_symlink(root / "ws/profiles", root / "own");
  EXPECT_EQ(answer(), "ok") << "from another workspace";
  EXPECT_NE(answer(users_writers(), workspace).find("profiles_dir: /own is reached through"),
            std::string::npos);
  fs::remove(root / "own");
  fs::create_directory(root / "own");
  fs::create_symlink(root / "ws/profiles/g.json", root / "own/g.json");
  EXPECT_NE(answer(users_writers(), workspace).find("the profile /own/g.json is reached through"),
            std::string::npos);
}

// A profile can widen what a command writes, so it is trusted no more easily than the configuration.
TEST_F(ProfileFiles, WhatAnotherUserCouldHaveWrittenRefuses) {
  if (::geteuid() != 0) GTEST_SKIP() << "skipped: only root can give files to others";
  const struct {
    const char* path;
    unsigned mode;
    unsigned owner;
    const char* answer;
  } rows[] = {
      {"/own/g.json", 0644, 0, "ok"},
      {"/own/g.json", 0664, 0, "ok"},
      {"/own/g.json", 0666, 0, "/own/g.json can be written by every user"},
      {"/own/g.json", 0644, another_user, "/own/g.json belongs to another user, id 12345"},
      {"/own", 0775, 0, "ok"},
      {"/own", 0777, 0, "profiles_dir: /own can be written by every user"},
      {"/own", 01777, 0, "profiles_dir: /own can be written by every user"},
      {"/own", 0755, another_user, "profiles_dir: /own belongs to another user, id 12345"},
      {"", 0777, 0, "profiles_dir:  can be written by every user"},
      {"", 01777, 0, "ok"},
      {"", 0755, another_user, "profiles_dir:  belongs to another user, id 12345"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(std::string(row.path) + " " + std::to_string(row.mode));
    const std::string path = root.string() + row.path;
    ASSERT_EQ(::chown(path.c_str(), row.owner, 0), 0);
    ASSERT_EQ(::chmod(path.c_str(), row.mode), 0);
    EXPECT_EQ(answer(), row.answer);
    ASSERT_EQ(::chown(path.c_str(), 0, 0), 0);
    ASSERT_EQ(::chmod(path.c_str(), fs::is_directory(path) ? 0755 : 0644), 0);
  }
}

TEST_F(ProfileFiles, ALinkIsWorthNoMoreThanThePlaceThatItLeadsTo) {
  if (::geteuid() != 0) GTEST_SKIP() << "skipped: only root can give files to others";
  write("elsewhere/g.json", R"({"extends": "readonly"})");
  fs::remove(root / "own/g.json");
  fs::create_symlink(root / "elsewhere/g.json", root / "own/g.json");
  EXPECT_EQ(answer(), "ok");
  fs::permissions(root / "elsewhere", fs::perms(0777));
  EXPECT_EQ(answer(), "/elsewhere can be written by every user");
  fs::permissions(root / "elsewhere", fs::perms(0755));
  ASSERT_EQ(::chown((root / "elsewhere").c_str(), another_user, 0), 0);
  EXPECT_EQ(answer(), "/elsewhere belongs to another user, id 12345");
  // And another user may be able to replace a link that leads to it.
  ASSERT_EQ(::chown((root / "elsewhere").c_str(), 0, 0), 0);
  fs::create_directory(root / "links");
  fs::create_symlink(root / "elsewhere/g.json", root / "links/g.json");
  fs::remove(root / "own/g.json");
  fs::create_symlink(root / "links/g.json", root / "own/g.json");
  EXPECT_EQ(answer(), "ok");
  fs::permissions(root / "links", fs::perms(0777));
  EXPECT_EQ(answer(), "/links can be written by every user");
}

TEST_F(ProfileFiles, OfTheManagedDirectoryOnlyTheAdministratorIsTheWriter) {
  if (::geteuid() != 0) GTEST_SKIP() << "skipped: only root can give files to others";
  const Writers administrator{.owner = 0, .group = false};
  EXPECT_EQ(answer(administrator), "ok");
  ASSERT_EQ(::chown((root / "own/g.json").c_str(), 0, another_user), 0);
  fs::permissions(root / "own/g.json", fs::perms(0664));
  EXPECT_EQ(answer(administrator), "/own/g.json can be written by the group 12345");
  EXPECT_EQ(answer(), "ok");
  fs::permissions(root / "own/g.json", fs::perms(0644));
  ASSERT_EQ(::chown((root / "own/g.json").c_str(), another_user, 0), 0);
  EXPECT_EQ(answer({.owner = another_user, .group = true}), "ok");
  EXPECT_EQ(answer(administrator), "/own/g.json belongs to another user, id 12345");
}

TEST_F(ProfileFiles, OneThatHasAnotherNameIsRefused) {
  ASSERT_EQ(answer(), "ok");
  fs::create_hard_link(root / "own/g.json", root / "other");
  EXPECT_EQ(answer(), "/own/g.json has another name (a hard link), by which a command could widen it");
}

TEST_F(ProfileFiles, ALongOneIsRefusedByItsName) {
  write("own/g.json", std::string(2 << 20, ' '));
  EXPECT_EQ(answer(), "/own/g.json is longer than 1048576 bytes");
  const auto named = load_profile_file(root / "own/g.json", {}, "");
  ASSERT_FALSE(named.ok());
  EXPECT_EQ(named.error().what.text(), (root / "own/g.json").string() + " is longer than 1048576 bytes");
}

TEST_F(ProfileFiles, WhatIsNoProfileByItsNameIsTold) {
  for (const char* name : {"G.JSON", ".hid.json", "notes.txt"}) write(fs::path("own") / name, "{");
  EXPECT_EQ(answer(), "ok");
  EXPECT_EQ(passed_over_in(root / "own"), (std::vector<std::string>{".hid.json", "G.JSON"}));
}

}  // namespace
}  // namespace cloche
