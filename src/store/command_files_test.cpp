// Which files of shapes count, and which are refused.
#include "store/command_files.hpp"

#include <gtest/gtest.h>
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
    write("prefix/share/cloche/commands/passive.json", good);
    write("prefix/bin/cloche-full", "");
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
    return Environment(block);
  }
  std::string program() { return (root / "prefix/bin/cloche-full").string(); }
  Result<Shapes> load(const std::string& workspace) {
    auto files = find_command_files(program(), environment());
    if (!files.ok()) return files.take_error();
    return load_command_files(files.value(), program(), (root / workspace).string());
  }
  fs::path root;
  std::string config;
  char* block[2] = {nullptr, nullptr};
};

TEST_F(CommandFiles, ShippedOnesThenTheUsersOwn) {
  write("config/cloche/commands/mine.json", good);
  write("config/cloche/commands/notes.txt", "not read");
  const auto files = find_command_files(program(), environment());
  ASSERT_TRUE(files.ok());
  ASSERT_EQ(files.value().size(), 2U);
  EXPECT_EQ(files.value()[0].shown, "share/commands/passive.json");
  EXPECT_EQ(files.value()[1].shown, (root / "config/cloche/commands/mine.json").string());
  const auto shapes = load("ws");
  ASSERT_TRUE(shapes.ok()) << shapes.error().what;
  EXPECT_EQ(shapes.value().size(), 2U);
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

TEST_F(CommandFiles, ShareInTheWorkspaceIsRefusedUnlessTheProgramIsThereToo) {
  EXPECT_FALSE(load("prefix/share").ok());
  EXPECT_TRUE(load("prefix").ok());
}

TEST_F(CommandFiles, AnErrorIsNotAnEmptyList) {
  write("config/cloche/commands/mine.json", "{");
  EXPECT_FALSE(load("ws").ok());
  write("config/cloche/commands/mine.json", R"({"profile": "full", "shapes": [
    {"id": "t", "usage": "t", "argv": ["t"], "accepts": ["u"], "refuses": ["t x"]}]})");
  EXPECT_FALSE(load("ws").ok());
  write("config/cloche/commands/mine.json", std::string(2 << 20, ' '));
  EXPECT_FALSE(load("ws").ok());
  fs::remove_all(root / "prefix/share");
  EXPECT_FALSE(find_command_files(program(), environment()).ok());
}

}  // namespace
}  // namespace cloche
