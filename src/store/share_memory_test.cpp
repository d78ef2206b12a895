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

  EXPECT_EQ(share_judged(program, state), ShareJudged::no);
  EXPECT_EQ(share_judged(program, ""), ShareJudged::no) << "nothing is known nowhere";
  remember_judged_share(program, state, share_identity(program));
  EXPECT_EQ(share_judged(program, state), ShareJudged::remembered);
  for (const char* file : files) {
    write(share / file, "{ }");
    EXPECT_EQ(share_judged(program, state), ShareJudged::no) << file;
    remember_judged_share(program, state, share_identity(program));
    fs::remove(share / file);
    EXPECT_EQ(share_judged(program, state), ShareJudged::no) << file;
    write(share / file, "{}");
    remember_judged_share(program, state, share_identity(program));
  }
  write(root / "bin/cloche", "another version");
  EXPECT_EQ(share_judged(program, state), ShareJudged::no);
  EXPECT_EQ(share_judged((root / "other/bin/cloche-jail").string(), state), ShareJudged::no)
      << "another installation";
}

TEST(ShareMemory, WhatLiesThereAsItWasBuiltNeedsNoMemory) {
  const Scratch scratch;
  const fs::path root = scratch.path;
  const std::string program = (root / "bin/cloche-jail").string();
  fs::create_directories(root / "share");
  fs::copy(CLOCHE_SOURCE_DIR "/share", root / "share/cloche", fs::copy_options::recursive);
  const std::string state = (root / "state").string();
  EXPECT_EQ(share_judged(program, state), ShareJudged::as_built);
  EXPECT_FALSE(fs::exists(state));
  note_share_as_built(program, state);
  EXPECT_EQ(share_judged(program, state), ShareJudged::remembered);
  std::ofstream(root / "share/cloche/profiles/readonly.json", std::ios::app) << " ";
  EXPECT_EQ(share_judged(program, state), ShareJudged::no);
  note_share_as_built(program, state);
  EXPECT_EQ(share_judged(program, state), ShareJudged::no);
}

}  // namespace
}  // namespace cloche
