// What is believed of files that lay around, and what is not.
#include "store/sealed/sealed_files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "base/scratch.hpp"
#include "base/text/random_word.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

class SealedFilesTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return scratch.path + "/state/things/" + name; }
  Result<SealedFiles> open() const { return SealedFiles::open(scratch.path + "/state", "things"); }

  Scratch scratch;
};

mode_t mode_of(const std::string& path) {
  struct stat seen {};
  EXPECT_EQ(::lstat(path.c_str(), &seen), 0);
  return seen.st_mode & 07777;
}

TEST_F(SealedFilesTest, WhatWasPutComesBackAlsoToAnotherProcess) {
  const std::string bytes("any\0bytes\n", 10);
  ASSERT_TRUE(open().value().put("a-1.note", bytes).ok());
  const SealedFiles again = open().value();
  EXPECT_EQ(again.read("a-1.note", 100).value(), bytes);
  EXPECT_EQ(again.names(), std::vector<std::string>{"a-1.note"}) << "without the key and the lock";
  EXPECT_EQ(mode_of(path("")), 0700U);
  for (const char* name : {"a-1.note", ".key", ".lock"}) EXPECT_EQ(mode_of(path(name)), 0600U) << name;
  ASSERT_TRUE(again.remove("a-1.note").ok());
  EXPECT_EQ(again.read("a-1.note", 100).error().number, ENOENT);
}

TEST_F(SealedFilesTest, WhatIsNotAsItWasWrittenIsRefused) {
  const std::pair<const char*, std::function<void(const std::string&)>> rows[] = {
      {"a byte changed",
       [](const std::string& file) {
         std::fstream stream(file, std::ios::in | std::ios::out);
         stream.seekp(-1, std::ios::end);
         stream << "X";
       }},
      {"cut off", [](const std::string& file) { fs::resize_file(file, fs::file_size(file) - 1); }},
      {"empty", [](const std::string& file) { fs::resize_file(file, 0); }},
      {"longer", [](const std::string& file) { std::ofstream(file, std::ios::app) << "more"; }},
      {"too long", [](const std::string& file) { fs::resize_file(file, 1 << 20); }},
      {"another one's",
       [](const std::string& file) { fs::rename(fs::path(file).parent_path() / "b", file); }},
      {"read by others", [](const std::string& file) { ::chmod(file.c_str(), 0644); }},
      {"a link",
       [](const std::string& file) {
         fs::rename(file, file + "x");
         fs::create_symlink(file + "x", file);
       }},
      {"a second name", [](const std::string& file) { fs::create_hard_link(file, file + "x"); }},
      {"a pipe",
       [](const std::string& file) {
         fs::remove(file);
         ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
       }},
      {"a directory",
       [](const std::string& file) {
         fs::remove(file);
         fs::create_directory(file);
       }},
  };
  for (const auto& [what, damage] : rows) {
    const SealedFiles files = open().value();
    ASSERT_TRUE(files.put("a", "text").ok() && files.put("b", "other").ok());
    ASSERT_EQ(files.read("a", 100).value(), "text") << "the control";
    damage(path("a"));
    EXPECT_FALSE(files.read("a", 100).ok()) << what;
    fs::remove_all(scratch.path + "/state");
  }
}

TEST_F(SealedFilesTest, ADirectoryOfOthersIsRefused) {
  ASSERT_TRUE(open().ok());
  for (const mode_t mode : {0755U, 0770U, 0701U}) {
    ASSERT_EQ(::chmod(path("").c_str(), mode), 0);
    EXPECT_FALSE(open().ok()) << std::oct << mode;
  }
  ASSERT_EQ(::chmod(path("").c_str(), 0700), 0);
  EXPECT_TRUE(open().ok());
  EXPECT_FALSE(SealedFiles::open("", "things").ok());
}

TEST_F(SealedFilesTest, ALostKeyEndsEverythingThatWasSealedWithIt) {
  ASSERT_TRUE(open().value().put("a", "text").ok());
  fs::remove(path(".key"));
  EXPECT_FALSE(open().value().read("a", 100).ok());
}

TEST_F(SealedFilesTest, NamesThatLeadElsewhereAreNone) {
  const SealedFiles files = open().value();
  for (const char* name : {"", ".", "..", "../x", "a/b", ".key", "A", "a.b.c", "a.", "-a", "a b"}) {
    EXPECT_FALSE(files.put(name, "x").ok()) << name;
    EXPECT_FALSE(files.read(name, 100).ok()) << name;
  }
}

TEST(RandomWord, IsPlainAndNeverTheSame) {
  const std::string one = random_word(26).value();
  EXPECT_EQ(one.size(), 26U);
  EXPECT_TRUE(is_plain_id(one));
  EXPECT_NE(one, random_word(26).value());
}

}  // namespace
}  // namespace cloche
