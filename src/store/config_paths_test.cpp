#include "store/config_paths.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/scratch.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

class ConfigPresence : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(workspace_);
    fs::create_directories(home_);
    if (fs::exists("/etc/cloche")) GTEST_SKIP() << "skipped: this host has a managed configuration";
  }
  bool configured() const {
    const std::string variable = "HOME=" + home_;
    const char* environment[] = {variable.c_str(), nullptr};
    return may_be_configured(Environment(const_cast<char**>(environment)), workspace_);
  }

  Scratch scratch_;
  std::string home_ = scratch_.path + "/home";
  std::string workspace_ = scratch_.path + "/workspace";
};

TEST_F(ConfigPresence, OfAPlainHostAreRuledOut) {
  EXPECT_FALSE(configured());
  fs::create_directories(workspace_ + "/.cloche");
  fs::create_directories(home_ + "/.config/cloche");
  EXPECT_FALSE(configured()) << "directories alone say nothing";
}

TEST_F(ConfigPresence, AnyFileCounts) {
  fs::create_directories(workspace_ + "/.cloche");
  std::ofstream(workspace_ + "/.cloche/config.json") << "{}";
  EXPECT_TRUE(configured());
  fs::remove_all(workspace_ + "/.cloche");
  fs::create_directories(home_ + "/.config/cloche");
  fs::create_symlink("nowhere", home_ + "/.config/cloche/config.json");
  EXPECT_TRUE(configured());
}

TEST_F(ConfigPresence, WhatStandsInTheWayIsNotNothing) {
  fs::create_symlink("/nonexistent", workspace_ + "/.cloche");
  EXPECT_TRUE(configured()) << "a link that leads nowhere yet";
  fs::remove(workspace_ + "/.cloche");
  std::ofstream(workspace_ + "/.cloche") << "a file";
  EXPECT_TRUE(configured());
  fs::remove(workspace_ + "/.cloche");
  fs::create_symlink("/nonexistent", home_ + "/.config");
  EXPECT_TRUE(configured());
}

}  // namespace
}  // namespace cloche
