#include "store/config/config_paths.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/scratch.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

class ConfigPresence : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(home_); }
  bool configured() const { return may_have_configuration(home_); }

  Scratch scratch_;
  std::string home_ = scratch_.path + "/home";
};

TEST_F(ConfigPresence, OfAPlainHomeIsRuledOut) {
  EXPECT_FALSE(configured());
  fs::create_directories(home_ + "/.config/cloche");
  EXPECT_FALSE(configured()) << "directories alone say nothing";
}

TEST_F(ConfigPresence, AFileCountsAndSoDoesALinkThatLeadsNowhere) {
  fs::create_directories(home_ + "/.config/cloche");
  std::ofstream(home_ + "/.config/cloche/config.json") << "{}";
  EXPECT_TRUE(configured());
  fs::remove(home_ + "/.config/cloche/config.json");
  fs::create_symlink("nowhere", home_ + "/.config/cloche/config.json");
  EXPECT_TRUE(configured());
}

TEST_F(ConfigPresence, WhatStandsInTheWayIsNotNothing) {
  fs::create_symlink("/nonexistent", home_ + "/.config");
  EXPECT_TRUE(configured()) << "a link that leads nowhere yet";
  fs::remove(home_ + "/.config");
  std::ofstream(home_ + "/.config") << "a file";
  EXPECT_TRUE(configured());
}

}  // namespace
}  // namespace cloche
