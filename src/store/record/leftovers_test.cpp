#include "store/record/prune.hpp"

#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/scratch.hpp"
#include "base/sys/directory.hpp"
#include "base/sys/private_file.hpp"
#include "base/sys/sys.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

// Of a process that has ended.
std::string dead() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return std::to_string(child);
}

TEST(Leftovers, OfTheDeadGoAndOthersStay) {
  const Scratch scratch;
  const std::string proofs = scratch.path + "/proofs";
  const std::string own = std::to_string(::getpid());
  fs::create_directories(proofs);
  for (const std::string& name :
       {"1-2-3.leads." + dead() + "-0", "1-2-3." + dead() + "-17", "1-2-3.leads." + own + "-0",
        std::string("1-2-3.leads"), std::string("1-2-3"), std::string("1-2-3.digests"), "x-" + dead() + "-0",
        "x." + dead() + "-"})
    std::ofstream(proofs + "/" + name) << "text";
  const std::string held = "1-2-4.leads." + dead() + "-1";  // by a process that has another number here
  std::ofstream(proofs + "/" + held) << "text";
  const auto writer = sys::open(proofs + "/" + held, O_RDONLY).value();
  ASSERT_EQ(::flock(writer.get(), LOCK_EX), 0);
  const size_t all = names_in(proofs).size();
  clear_leftovers(scratch.path);
  EXPECT_EQ(names_in(proofs).size(), all - 2);
  for (const std::string& name : {held, "1-2-3.leads." + own + "-0", std::string("1-2-3.leads"),
                                  std::string("1-2-3"), std::string("1-2-3.digests")})
    EXPECT_TRUE(fs::exists(proofs + "/" + name)) << name;
}

TEST(Leftovers, OfEachDirectoryThatIsWrittenTo) {
  const Scratch scratch;
  for (const std::string name : {"backends", "changes-of-tasks", "proofs", "share"}) {
    fs::create_directories(scratch.path + "/" + name);
    std::ofstream(scratch.path + "/" + name + "/x." + dead() + "-0") << "text";
    clear_leftovers(scratch.path);
    EXPECT_TRUE(names_in(scratch.path + "/" + name).empty()) << name;
  }
}

TEST(Leftovers, OfSkeletonsThoseThatNoCallHolds) {
  const Scratch scratch;
  const std::string folder = scratch.path + "/skeletons";
  for (const char* name : {"/a.new-1-0/root/etc", "/b.new-2-0", "/c.new-3-0", "/d.new-4-0", "/e/root"})
    fs::create_directories(folder + name);
  const auto lock = sys::open(folder + "/d.new-4-0", O_RDONLY | O_DIRECTORY).value();
  ASSERT_EQ(::flock(lock.get(), LOCK_SH), 0);
  clear_leftovers(scratch.path);
  EXPECT_EQ(names_in(folder), (Names{"d.new-4-0", "e"}));
}

TEST(Leftovers, WhatIsWrittenWholeLeavesNone) {
  const Scratch scratch;
  ASSERT_TRUE(write_private_file(scratch.path + "/proofs/one", "text"));
  clear_leftovers(scratch.path);
  EXPECT_EQ(names_in(scratch.path + "/proofs"), Names{"one"});
  clear_leftovers("");
}

}  // namespace
}  // namespace cloche
