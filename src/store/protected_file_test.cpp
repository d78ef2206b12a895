#include "store/protected_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/scratch.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

class ProtectedFile : public testing::Test {
 protected:
  Scratch scratch;
  std::string root = fs::canonical(scratch.path).string();
  std::string share = root + "/prefix/share/cloche";
  std::string program = root + "/prefix/bin/cloche";

  ProtectedFile() {
    fs::create_directories(share);
    fs::create_directories(root + "/ws");
    fs::copy(CLOCHE_SOURCE_DIR "/share/protected.json", share);
  }
  Result<ProtectedSet> load(const std::string& workspace) {
    return load_protected_file(program, root + workspace);
  }
};

TEST_F(ProtectedFile, IsFoundBesideThePrograms) {
  const auto entries = load("/ws");
  ASSERT_TRUE(entries.ok()) << entries.error().what;
  EXPECT_NE(find_protected(entries.value(), ".git/hooks/x", ProtectedEntry::Scope::every_write), nullptr);
}

TEST_F(ProtectedFile, WithoutItThereIsNoSet) {
  fs::remove(share + "/protected.json");
  EXPECT_FALSE(load("/ws").ok());
  std::ofstream(share + "/protected.json") << R"({"protected": []})";
  EXPECT_FALSE(load("/ws").ok());
  std::ofstream(share + "/protected.json") << std::string(2 << 20, ' ');
  EXPECT_FALSE(load("/ws").ok());
  fs::remove(share + "/protected.json");
  fs::create_directory(share + "/protected.json");
  EXPECT_FALSE(load("/ws").ok());
}

TEST_F(ProtectedFile, OneInTheWorkspaceIsRefusedUnlessTheProgramIsThereToo) {
  EXPECT_FALSE(load("/prefix/share").ok());
  EXPECT_TRUE(load("/prefix").ok());
  fs::rename(share + "/protected.json", root + "/ws/protected.json");
  fs::create_symlink(root + "/ws/protected.json", share + "/protected.json");
  EXPECT_FALSE(load("/ws").ok()) << "by a link";
}

}  // namespace
}  // namespace cloche
