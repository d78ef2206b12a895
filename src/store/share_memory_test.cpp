// What was judged is known until a file of it is another: missing, longer, or put in its place.
#include "store/share_memory.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/scratch.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

TEST(ShareMemory, HoldsUntilAFileIsAnother) {
  const Scratch scratch;
  const fs::path root = scratch.path;
  const std::string program = (root / "bin/cloche-jail").string();
  const std::string state = (root / "state").string();
  const fs::path share = root / "share/cloche";
  for (const char* folder : {"bin", "share/cloche/profiles", "share/cloche/commands"})
    fs::create_directories(root / folder);
  const auto write = [&](const fs::path& path, const char* text) { std::ofstream(path) << text; };
  const char* const files[] = {"protected.json",
                               "profiles/readonly.json",
                               "profiles/workspace-write-no-network.json",
                               "profiles/workspace-write.json",
                               "commands/passive.json",
                               "commands/full.json"};
  for (const char* file : files) write(share / file, "{}");

  EXPECT_FALSE(is_share_judged(program, state));
  EXPECT_FALSE(is_share_judged(program, "")) << "nothing is known nowhere";
  remember_judged_share(program, state, share_identity(program));
  EXPECT_TRUE(is_share_judged(program, state));
  for (const char* file : files) {
    write(share / file, "{ }");
    EXPECT_FALSE(is_share_judged(program, state)) << file;
    remember_judged_share(program, state, share_identity(program));
    fs::remove(share / file);
    EXPECT_FALSE(is_share_judged(program, state)) << file;
    write(share / file, "{}");
    remember_judged_share(program, state, share_identity(program));
  }
  write(root / "bin/cloche-full", "another version");
  EXPECT_FALSE(is_share_judged(program, state));
  EXPECT_FALSE(is_share_judged((root / "other/bin/cloche-jail").string(), state)) << "another installation";
}

TEST(ShareMemory, WhatLiesThereAsItWasBuiltNeedsNoMemory) {
  const Scratch scratch;
  const fs::path root = scratch.path;
  const std::string program = (root / "bin/cloche-jail").string();
  fs::create_directories(root / "share");
  fs::copy(CLOCHE_SOURCE_DIR "/share", root / "share/cloche", fs::copy_options::recursive);
  EXPECT_TRUE(is_share_judged(program, ""));
  std::ofstream(root / "share/cloche/profiles/readonly.json", std::ios::app) << " ";
  EXPECT_FALSE(is_share_judged(program, ""));
}

}  // namespace
}  // namespace cloche
