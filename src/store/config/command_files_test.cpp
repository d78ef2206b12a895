// Which files of shapes count, and which are refused.
#include "store/config/profile_files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace cloche {
namespace {

namespace fs = std::filesystem;

constexpr const char* good = R"({"profile": "full", "shapes": [
  {"id": "t", "usage": "t", "argv": ["t"], "accepts": ["t"], "refuses": ["t x"]}]})";

class CommandFiles : public testing::Test {
 protected:
  CommandFiles() {
    char name[] = "/var/tmp/cloche-commands-XXXXXX";
    root = fs::canonical(::mkdtemp(name));
    fs::create_directories(root / "ws");
    config = "XDG_CONFIG_HOME=" + (root / "config").string();
  }
  ~CommandFiles() override { fs::remove_all(root); }
  void write(const fs::path& below, const std::string& text) {
    fs::create_directories((root / below).parent_path());
    std::ofstream(root / below) << text;
  }
  Environment environment() {
    block[0] = config.data();
    return Environment(block, root.string());
  }
  Result<Shapes> load(const std::string& workspace) {
    return load_command_shapes(environment(), (root / workspace).string());
  }
  fs::path root;
  std::string config;
  char* block[2] = {nullptr, nullptr};
};

TEST_F(CommandFiles, ShippedOnesThenTheUsersOwn) {
  write("config/cloche/commands/mine.json", good);
  write("config/cloche/commands/notes.txt", "not read");
  const auto files = users_command_files(environment());
  ASSERT_TRUE(files.ok());
  const std::string mine = (root / "config/cloche/commands/mine.json").string();
  EXPECT_EQ(files.value(), std::vector<std::string>{mine});
  const auto shapes = load("ws");
  ASSERT_TRUE(shapes.ok()) << shapes.error().what;
  ASSERT_GT(shapes.value().size(), 30U);
  EXPECT_EQ(shapes.value().front().source, "share/commands/full.json");
  EXPECT_EQ(shapes.value().back().source, mine);
}

// However it is written it is the same place, and what cannot be one is not another one.
TEST_F(CommandFiles, TheUsersOwnAreWhereTheConfigurationIs) {
  write("config/cloche/commands/mine.json", good);
  const std::string plain = config;
  for (const char* more : {"/", "//", "/.", "/./"}) {
    config = plain + more;
    const auto files = users_command_files(environment());
    ASSERT_TRUE(files.ok()) << config;
    EXPECT_EQ(files.value().size(), 1U) << config;
  }
  for (const std::string& no_place : {std::string("XDG_CONFIG_HOME=config"), plain + "/../config"}) {
    config = no_place;
    const auto files = users_command_files(environment());
    ASSERT_FALSE(files.ok()) << config;
    EXPECT_NE(files.error().what.text().find("is not the absolute path"), std::string::npos)
        << files.error().what;
  }
}

TEST_F(CommandFiles, OneInTheWorkspaceIsRefused) {
  write("ws/config/cloche/commands/mine.json", good);
  config = "XDG_CONFIG_HOME=" + (root / "ws/config").string();
  EXPECT_FALSE(load("ws").ok());
  EXPECT_TRUE(load("other").ok());
}

TEST_F(CommandFiles, ALinkIntoTheWorkspaceIsRefused) {
  write("ws/mine.json", good);
  fs::create_directories(root / "config/cloche/commands");
  fs::create_symlink(root / "ws/mine.json", root / "config/cloche/commands/mine.json");
  EXPECT_FALSE(load("ws").ok());
}

// Whatever the link leads to now: a command can replace it.
TEST_F(CommandFiles, SoIsALinkInTheWorkspaceThatLeadsOut) {
  write("elsewhere/mine.json", good);
  fs::create_directories(root / "config/cloche");
  fs::create_symlink(root / "elsewhere", root / "ws/shapes");
  fs::create_symlink(root / "ws/shapes", root / "config/cloche/commands");
  EXPECT_FALSE(load("ws").ok()) << "the directory";
  EXPECT_TRUE(load("other").ok());
  fs::remove(root / "config/cloche/commands");
  fs::create_directory(root / "config/cloche/commands");
  fs::create_symlink(root / "ws/shapes/mine.json", root / "config/cloche/commands/mine.json");
  EXPECT_FALSE(load("ws").ok()) << "a file";
  EXPECT_TRUE(load("other").ok());
}

// A shape of passive lets a command run without a question: a user who can write one has answered them all.
TEST_F(CommandFiles, WhatAnotherUserCouldHaveWrittenRefuses) {
  if (::geteuid() != 0) GTEST_SKIP() << "skipped: only root can give files to others";
  write("config/cloche/commands/mine.json", good);
  const fs::path folder = root / "config/cloche/commands";
  const struct {
    fs::path path;
    unsigned mode;
    unsigned owner;
    std::string says;  // empty: nothing is wrong
  } rows[] = {
      {folder / "mine.json", 0644, 0, ""},
      {folder / "mine.json", 0664, 0, ""},
      {folder / "mine.json", 0666, 0, " can be written by every user"},
      {folder / "mine.json", 0644, 12345, " belongs to another user, id 12345"},
      {folder, 0777, 0, " can be written by every user"},
      {folder, 0755, 12345, " belongs to another user, id 12345"},
      {folder.parent_path(), 0777, 0, " can be written by every user"},
      {folder.parent_path(), 01777, 0, ""},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.path.string() + " " + std::to_string(row.mode));
    ASSERT_EQ(::chown(row.path.c_str(), row.owner, 0), 0);
    ASSERT_EQ(::chmod(row.path.c_str(), row.mode), 0);
    const auto loaded = load("ws");
    EXPECT_EQ(loaded.ok() ? "" : loaded.error().what.text(),
              row.says.empty() ? "" : row.path.string() + row.says);
    ASSERT_EQ(::chown(row.path.c_str(), 0, 0), 0);
    ASSERT_EQ(::chmod(row.path.c_str(), fs::is_directory(row.path) ? 0755 : 0644), 0);
  }
  // Of a directory that others can write also when nothing is in it yet.
  fs::remove(folder / "mine.json");
  fs::permissions(folder, fs::perms(0777));
  EXPECT_FALSE(load("ws").ok());
}

TEST_F(CommandFiles, ALinkIsWorthNoMoreThanThePlaceThatItLeadsTo) {
  write("elsewhere/mine.json", good);
  fs::create_directories(root / "config/cloche/commands");
  fs::create_symlink(root / "elsewhere/mine.json", root / "config/cloche/commands/mine.json");
  EXPECT_TRUE(load("ws").ok());
  fs::permissions(root / "elsewhere", fs::perms(0777));
  const auto loaded = load("ws");
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().what.text(), (root / "elsewhere").string() + " can be written by every user");
}

TEST_F(CommandFiles, AnErrorIsNotAnEmptyList) {
  write("config/cloche/commands/mine.json", "{");
  EXPECT_FALSE(load("ws").ok());
  write("config/cloche/commands/mine.json", R"({"profile": "full", "shapes": [
    {"id": "t", "usage": "t", "argv": ["t"], "accepts": ["u"], "refuses": ["t x"]}]})");
  EXPECT_FALSE(load("ws").ok());
  write("config/cloche/commands/mine.json", std::string(2 << 20, ' '));
  EXPECT_FALSE(load("ws").ok());
}

}  // namespace
}  // namespace cloche
