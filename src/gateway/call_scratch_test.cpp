// Nothing of a call's is left to the next one.
#include "gateway/call_scratch.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "base/directory.hpp"
#include "base/scratch.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;
using Command = CallScratch::Command;

CallScratch taken_in(const Scratch& parent) {
  CallScratch scratch = std::move(CallScratch::take(parent.path)).value();
  for (const char* name : {"/home", "/tmp"}) {
    fs::create_directories(scratch.path + name);
    fs::permissions(scratch.path + name, fs::perms(0700));
  }
  return scratch;
}

TEST(CallScratch, OneThatWasNotUsedIsTakenByTheNext) {
  const Scratch parent;
  CallScratch first = taken_in(parent);
  const std::string path = first.path;
  first.leave(Command::held);
  EXPECT_EQ(taken_in(parent).path, path);
}

TEST(CallScratch, OneThatIsHeldIsLeftAlone) {
  const Scratch parent;
  const CallScratch first = taken_in(parent);
  const CallScratch second = taken_in(parent);
  EXPECT_NE(first.path, second.path);
  EXPECT_TRUE(fs::exists(first.path));
}

TEST(CallScratch, OneThatWasUsedIsRemoved) {
  struct Row {
    const char* name;
    std::function<void(const std::string&)> use;
  };
  const Row rows[] = {
      {"a file at home", [](const std::string& path) { std::ofstream(path + "/home/.cache") << "x"; }},
      {"a directory in tmp", [](const std::string& path) { fs::create_directory(path + "/tmp/d"); }},
      {"another mode", [](const std::string& path) { fs::permissions(path + "/home", fs::perms(0755)); }},
      {"a file of Cloche's", [](const std::string& path) { fs::create_directory(path + "/files"); }},
      {"a link in its place",
       [](const std::string& path) {
         fs::remove(path + "/home");
         fs::create_symlink("/etc", path + "/home");
       }},
  };
  for (const auto& [name, use] : rows) {
    const Scratch parent;
    CallScratch scratch = taken_in(parent);
    use(scratch.path);
    scratch.leave(Command::held);
    EXPECT_TRUE(names_in(parent.path).empty()) << name;
    // The same where nobody was left to do it.
    std::string path;
    {
      const CallScratch killed = taken_in(parent);
      path = killed.path;
      use(path);
    }
    EXPECT_NE(taken_in(parent).path, path) << name;
    EXPECT_FALSE(fs::exists(path)) << name;
  }
  EXPECT_TRUE(fs::exists("/etc"));
}

TEST(CallScratch, AfterACommandThatNothingHeldItIsRemovedInAnyCase) {
  const Scratch parent;
  taken_in(parent).leave(Command::free);
  EXPECT_TRUE(names_in(parent.path).empty());
}

}  // namespace
}  // namespace cloche
