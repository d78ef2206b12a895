#include "store/host/hidden_files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "store/host/observe.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

class HiddenFiles : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/cloche-hidden-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    root_ = fs::canonical(name);
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& path) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << "x";
  }

  Result<HideFacts> find(const std::vector<std::string>& patterns, const HiddenLimits& limits = {}) {
    return find_hidden(patterns, {look_at_place(root_)}, limits);
  }

  std::vector<std::string> found(const std::vector<std::string>& patterns) {
    const auto facts = find(patterns);
    std::vector<std::string> paths;
    if (!facts.ok()) return {facts.error().what.text()};
    for (const auto& fact : facts.value().found)
      paths.push_back(fs::path(fact.path).lexically_relative(root_));
    std::ranges::sort(paths);
    return paths;
  }

  std::string refusal_of(const Result<HideFacts>& facts) const {
    return facts.ok() ? "" : std::string(facts.error().what.text());
  }

  fs::path root_;
};

using Paths = std::vector<std::string>;

TEST_F(HiddenFiles, AreFoundByPatterns) {
  for (const char* path : {".env", "sub/.env", "sub/deep/.env", "config/a.key", "config/b.txt", "keys/x/y"})
    write(path);
  EXPECT_EQ(found({".env"}), Paths{".env"});
  EXPECT_EQ(found({"**/.env"}), (Paths{".env", "sub/.env", "sub/deep/.env"}));
  EXPECT_EQ(found({"config/*.key", "keys"}), (Paths{"config/a.key", "keys"}));
  EXPECT_EQ(found({".ENV"}), Paths{".env"});
  EXPECT_EQ(found({"absent"}), Paths{});
}

TEST_F(HiddenFiles, AreWhatALinkLeadsTo) {
  write("real/key");
  fs::create_directory_symlink("real", root_ / "config");
  fs::create_symlink("real/key", root_ / ".env");
  fs::create_symlink("nowhere", root_ / "dangling");
  EXPECT_EQ(found({"config/key", "real/key"}), Paths{"real/key"});
  EXPECT_EQ(found({"config/**/key", "**/key"}), Paths{"real/key"});
  EXPECT_EQ(found({".env", "real/key"}), Paths{"real/key"});
  EXPECT_EQ(found({"dangling"}), Paths{});
  EXPECT_EQ(found({".env", "real"}), Paths{"real"});
}

// A call could change the link, and the next one would be shown what it led to.
TEST_F(HiddenFiles, KnownByALinkAloneAreRefused) {
  write("real/key");
  fs::create_directory_symlink("real", root_ / "config");
  fs::create_symlink("real/key", root_ / ".env");
  fs::create_symlink("/etc/hostname", root_ / "elsewhere");
  for (const char* pattern : {"config/key", "config/**/key", ".env"})
    EXPECT_NE(refusal_of(find({pattern})).find("only by way of the link"), std::string::npos) << pattern;
  EXPECT_EQ(refusal_of(find({"elsewhere"})), "") << "it is in no tree that is shown";
}

TEST_F(HiddenFiles, WithAnotherNameAreRefused) {
  write(".env");
  fs::create_hard_link(root_ / ".env", root_ / "copy");
  EXPECT_NE(refusal_of(find({".env"})).find("another name (a hard link)"), std::string::npos);
  EXPECT_EQ(refusal_of(find({"other"})), "");
  write("x; touch HACKED #/.env");
  fs::create_hard_link(root_ / "x; touch HACKED #/.env", root_ / "another");
  EXPECT_NE(
      describe(find({"x*/.env"}).error()).find("mv '" + root_.string() + "/x; touch HACKED #/.env.new' '"),
      std::string::npos);
}

TEST_F(HiddenFiles, AreNotSearchedForWhereNoCallSeesAnything) {
  write("state/.env");
  write("sub/.env");
  const auto facts = find({"**/.env"}, {.apart = root_ / "state"});
  ASSERT_TRUE(facts.ok());
  ASSERT_EQ(facts.value().found.size(), 1U);
  EXPECT_EQ(facts.value().found[0].path, (root_ / "sub/.env").string());
}

TEST_F(HiddenFiles, AreRefusedBeyondABound) {
  for (int i = 0; i < 4; ++i) write("d" + std::to_string(i) + "/.env");
  EXPECT_NE(refusal_of(find({"**/.env"}, {.entries = 3})).find("takes too long"), std::string::npos);
  EXPECT_NE(refusal_of(find({"**/.env"}, {.milliseconds = 0})).find("takes too long"), std::string::npos);
  EXPECT_NE(refusal_of(find({"**/.env"}, {.found = 3})).find("more than 3"), std::string::npos);
  EXPECT_EQ(refusal_of(find({"**/.env"})), "");
}

// A call could close a directory, and the next one open it again: so all of it is hidden.
TEST_F(HiddenFiles, AreAllThatLiesInAClosedDirectoryOfTheCallers) {
  if (::geteuid() == 0) GTEST_SKIP() << "skipped: no directory is closed to root";
  write("closed/.env");
  write("entered/.env");
  write("open/.env");
  ::chmod((root_ / "closed").c_str(), 0);
  ::chmod((root_ / "entered").c_str(), 0300);
  EXPECT_EQ(found({"**/.env"}), (Paths{"closed", "entered", "open/.env"}));
  EXPECT_EQ(found({"closed/.env"}), Paths{"closed"});
  EXPECT_EQ(found({".env"}), Paths{});
  const auto facts = find({"**/.env", "closed/deep/*.key", "absent"});
  EXPECT_EQ(facts.value().unsearched.size(), 2U);
  EXPECT_EQ(facts.value().idle, Paths{"absent"}) << "what is closed may have a match for the others";
  ::chmod(root_.c_str(), 0);
  EXPECT_NE(refusal_of(find({"**/.env"})).find("cannot be searched"), std::string::npos);
  for (const char* path : {"", "closed", "entered"}) ::chmod((root_ / path).c_str(), 0700);
}

TEST_F(HiddenFiles, AreAllThatLiesTooDeep) {
  std::string path = "a";
  for (int i = 0; i < 99; ++i) path += "/a";
  const std::string last = path;
  write(path + "/.env");
  EXPECT_EQ(found({"**/.env"}), Paths{last});
  EXPECT_EQ(find({"**/.env"}).value().unsearched, Paths{root_ / last});
  EXPECT_EQ(found({"**/.npmrc"}), Paths{}) << "nothing in it is meant, and no directory is deeper";
  write(path + "/a/.npmrc");
  EXPECT_EQ(found({"**/.npmrc"}), Paths{last});
  const std::string name(200, 'b');
  std::string longer = name;
  for (int i = 0; i < 18; ++i) longer += "/" + name;
  fs::remove_all(root_ / "a");
  fs::create_directories(root_ / longer);
  const auto facts = find({"**/*.key"});
  ASSERT_TRUE(facts.ok());
  EXPECT_EQ(facts.value().unsearched, Paths{});
  write(longer + "/" + std::string(100, 'c') + ".key");
  EXPECT_EQ(found({"**/*.key"}), Paths{longer});
}

TEST_F(HiddenFiles, SayWhichPatternsAreIdle) {
  write("keys/a.key");
  write(".env");
  const auto facts = find({".env", "*/.env", "keys", "keys/*.key", "k*/x.txt", "**/id_rsa", "vault/**/x"});
  EXPECT_EQ(facts.value().idle, Paths{"vault/**/x"}) << "whatever could lie in the hidden directory is not";
  EXPECT_EQ(find({".env", "*/.env", "**/id_rsa"}).value().idle, (Paths{"*/.env", "**/id_rsa"}));
}

}  // namespace
}  // namespace cloche
