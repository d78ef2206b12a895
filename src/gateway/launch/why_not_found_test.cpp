#include "gateway/launch/why_not_found.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/scratch.hpp"
#include "base/text/command_words.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

// A host with a tool in bin, and a view that shows all of it, or something else in its place.
class WhyNotFound : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* directory : {"/bin", "/other", "/work"}) fs::create_directory(root + directory);
    std::ofstream(root + "/bin/tool") << "#!/no/such\n";
    plan.directory = root + "/work";
    plan.argv = {"tool"};
    show(root + "/bin", root + "/bin");
    set_path(root + "/bin");
  }
  void show(const std::string& source, const std::string& target) {
    plan.view.push_back({.kind = EntryKind::tree, .access = Access::run, .target = target, .source = source});
  }
  void set_path(const std::string& path) { plan.environment = {{"PATH", path}}; }
  std::string why() const {
    const NotFound found = why_not_found(plan, "/none:" + root + "/bin");
    return found.why + found.advice;
  }

  const Scratch scratch;
  const std::string root = scratch.path;
  ConfinementPlan plan;
};

TEST_F(WhyNotFound, AnInterpreterIsMissedOnlyByWhatCanBeReached) {
  const std::string missed = "tool: found inside as " + root + "/bin/tool, but its interpreter is not";
  EXPECT_EQ(why(), missed);
  set_path("/nonexist");
  EXPECT_EQ(why(), "tool: not on the PATH inside, which is /nonexist; it is there as " + root + "/bin/tool");
  for (const std::string& name : {std::string("../bin/tool"), root + "/bin/tool"}) {
    plan.argv = {name};
    EXPECT_EQ(why(), name + missed.substr(4)) << "no PATH is asked";
  }
}

TEST_F(WhyNotFound, LinksOfTheViewAreFollowed) {
  plan.view.push_back({.kind = EntryKind::link, .target = "/shortcut", .source = root.substr(1) + "/bin"});
  set_path("/shortcut");
  EXPECT_EQ(why(), "tool: found inside as /shortcut/tool, but its interpreter is not");
  plan.view.back().source = "shortcut";
  EXPECT_NE(why().find("not on the PATH inside"), std::string::npos) << "and not for ever";
}

TEST_F(WhyNotFound, WhatIsShownInItsPlaceIsNamed) {
  show(root + "/other", root + "/bin");
  EXPECT_EQ(why(), "tool: not on the PATH inside, which is " + root + "/bin; instead of the host's " + root +
                       "/bin there is " + root + "/other");
}

TEST_F(WhyNotFound, WhatIsNotInTheViewCouldBeShown) {
  plan.view.clear();
  EXPECT_EQ(why(), "tool: exists on the host as " + root +
                       "/bin/tool and is not in the sandbox's view; show it with --ro " + root + "/bin");
  EXPECT_EQ(why_not_found(plan, root + "/bin").advice, "; show it with --ro " + root + "/bin")
      << "for the operator alone";
  plan.argv = {"no-such-tool"};
  EXPECT_EQ(why(), "");
}

TEST_F(WhyNotFound, ACommandThatWasQuotedAsOneWordIsWrittenApart) {
  const std::pair<const char*, const char*> rows[] = {
      {"ls -la",
       "ls -la: not found inside; it is one word with a blank in it; write it like this: "
       "cloche run -- ls -la"},
      {"ls | wc",
       "ls | wc: not found inside; it is one word with a blank in it; write it like this: "
       "cloche run -- sh -c 'ls | wc'"},
      {"alias",
       "alias: not found inside; it is a word of the shell and no program; write it like this: "
       "cloche run -- bash -c alias"},
      {"no-such-tool", ""}};
  for (const auto& [word, says] : rows) {
    plan.argv = {word};
    EXPECT_EQ(why(), says);
  }
  std::ofstream(root + "/bin/with blank") << "#!/no/such\n";
  plan.argv = {"with blank"};
  EXPECT_EQ(why(), "with blank: found inside as " + root + "/bin/with blank, but its interpreter is not");
}

TEST_F(WhyNotFound, ANameIsOneWordAndOnOneLine) {
  plan.argv = {"no\ncloche: all fine"};
  EXPECT_EQ(why().find('\n'), std::string::npos) << why();
  EXPECT_NE(why().find("no\\u{a}cloche: all fine: not found inside"), std::string::npos) << why();
  const std::string directory = root + "/x; touch HACKED #";
  std::filesystem::create_directory(directory);
  std::ofstream(directory + "/other") << "";
  plan.argv = {directory + "/other"};
  plan.view.clear();
  EXPECT_TRUE(why().ends_with("; show it with --ro '" + directory + "'")) << why();
}

TEST_F(WhyNotFound, AWordOfTheShellIsWrittenForOne) {
  plan.argv = {"cd", "/with blank"};
  EXPECT_EQ(why(),
            "cd: not found inside; it is a word of the shell and no program; write it like this: "
            "cloche run -- bash -c " +
                quote_words({quote_words({"cd", "/with blank"})}));
  EXPECT_EQ(why_not_found(plan, "").why, "cd: not found inside; it is a word of the shell and no program")
      << "a model reads no command line of ours";
  std::ofstream(root + "/bin/cd") << "#!/no/such\n";
  EXPECT_EQ(why(), "cd: found inside as " + root + "/bin/cd, but its interpreter is not");
}

// The number that the plan's directory had when it was held; 0: none was wanted.
class HeldDirectory : public WhyNotFound {
 protected:
  void SetUp() override {
    WhyNotFound::SetUp();
    show(root + "/work", root + "/work");
    plan.view.edit().back().inode = number_of("/work");
    fs::create_directory(root + "/work/sub");
  }
  uint64_t number_of(const std::string& path) const {
    struct stat seen {};
    EXPECT_EQ(::stat((root + path).c_str(), &seen), 0) << path;
    return seen.st_ino;
  }
  uint64_t held(const std::string& directory) {
    plan.directory = root + directory;
    std::vector<OwnedFd> all;
    const uint64_t inode = hold_directory(plan, all).inode;
    EXPECT_EQ(all.size(), inode != 0 && inode != no_file ? 1U : 0U) << directory;
    return inode;
  }

  static constexpr uint64_t no_file = ~0ULL;
};

TEST_F(HeldDirectory, IsTheOneThatTheViewShows) {
  EXPECT_EQ(held("/work"), number_of("/work"));
  EXPECT_EQ(held("/work/sub"), number_of("/work/sub"));
  EXPECT_EQ(held("/work/sub/.."), number_of("/work"));
  fs::create_directory_symlink("sub", root + "/work/link");
  EXPECT_EQ(held("/work/link"), number_of("/work/sub"));
  EXPECT_EQ(held("/bin"), 0U) << "a tree of the system";
  EXPECT_EQ(held("/other"), 0U) << "nothing of the host's";
}

TEST_F(HeldDirectory, IsNoneWhereTheViewHasSomethingElse) {
  EXPECT_EQ(held("/work/missing"), no_file);
  fs::create_directory_symlink(root + "/other", root + "/work/out");
  EXPECT_EQ(held("/work/out"), no_file) << "a link that leads out of the view";
  std::ofstream(root + "/work/file");
  EXPECT_EQ(held("/work/file"), no_file);
}

}  // namespace
}  // namespace cloche
