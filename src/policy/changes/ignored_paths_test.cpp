#include "policy/changes/ignored_paths.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "base/scratch.hpp"

namespace cloche {
namespace {

bool ignores(const std::string& text, std::string_view path, PathIs kind = PathIs::other) {
  return IgnoredPaths({{"", text}}).ignores(path, kind);
}

TEST(IgnoredPaths, ReadsPatterns) {
  struct Row {
    std::string text;
    std::string path;
    bool is_ignored;
    PathIs kind = PathIs::other;
  };
  const Row rows[] = {
      {"", "a", false},
      {"# a\n", "a", false},
      {"a", "a", true},
      {"a", "x/a", true},
      {"a\r\n", "a", true},
      {"a   \n", "a", true},
      {"a\\ \n", "a ", true},
      {"\\#a", "#a", true},
      {"\\!a", "!a", true},
      {"/a", "x/a", false},
      {"x/a", "y/x/a", false},
      {"*.o", "d/e/f.o", true},
      {"d/*.o", "d/e/f.o", false},
      {"d/**", "d/e/f.o", true},
      {"d/**", "d", false, PathIs::directory},
      {"**/f", "f", true},
      {"d/**/f", "d/f", true},
      {"d/**/f", "d/e/e/f", true},
      {"d/", "d", false},
      {"d/", "d", true, PathIs::directory},
      {"d/", "d/f", true},
      {"*\n!keep\n", "keep", false},
      {"!keep\n*\n", "keep", true},
      {"d/\n!d/keep\n", "d/keep", true},  // nothing within an ignored directory comes back
      {"[a-c]x", "bx", true},
      {"[!a-c]x", "bx", false},
      {"[[:digit:]]", "7", true},
      {"[a", "[a", false},
      {"\xef\xbb\xbf"
       "a",
       "a", true},
      {"a\\", "a", false},
  };
  for (const Row& row : rows)
    EXPECT_EQ(ignores(row.text, row.path, row.kind), row.is_ignored) << row.text << " with " << row.path;
}

TEST(IgnoredPaths, NearerDirectoriesDecide) {
  IgnoredPaths paths({{"", "*.log\nbuild/\n"}, {"d", "!keep.log\n/own\n"}, {"build", "!*\n"}});
  EXPECT_TRUE(paths.ignores("a.log", PathIs::other));
  EXPECT_TRUE(paths.ignores("d/a.log", PathIs::other));
  EXPECT_FALSE(paths.ignores("d/keep.log", PathIs::other));
  EXPECT_FALSE(paths.ignores("d/e/keep.log", PathIs::other));
  EXPECT_TRUE(paths.ignores("d/own", PathIs::other));
  EXPECT_FALSE(paths.ignores("d/e/own", PathIs::other));
  EXPECT_TRUE(paths.ignores("build/a", PathIs::other));
  EXPECT_FALSE(paths.ignores("own", PathIs::other));
}

TEST(IgnoredPaths, BoundsTheWork) {
  std::string stars;
  for (int i = 0; i < 500; ++i) stars += "*a";
  std::string text;
  for (int i = 0; i < 900; ++i) text += stars + "b\n";
  IgnoredPaths paths({{"", text}}, {.work = 5'000'000});
  EXPECT_FALSE(paths.ignores(std::string(4000, 'a'), PathIs::other));
  EXPECT_FALSE(paths.ignores("ab", PathIs::other));
}

// A repository with a fixed little tree, whose .gitignore files change.
class Repository {
 public:
  static bool git_is_there() { return std::system("git --version >/dev/null 2>&1") == 0; }

  Repository() {
    const char* const names[] = {"a", "ab", "b", "x.o", "f o", "[a]"};
    run("git init -q .");
    for (const char* const top : names)
      for (const char* const middle : names) {
        const std::string directory = std::string(top) + "/" + middle;
        std::filesystem::create_directories(scratch_.path + "/" + directory);
        for (const char* const last : names) {
          std::ofstream(scratch_.path + "/" + directory + "/" + last);
          paths_.insert(directory + "/" + last);
        }
        paths_.insert(top);
        paths_.insert(directory);
      }
    std::ofstream list(scratch_.path + "/.git/list", std::ios::binary);
    for (const std::string& path : paths_) list << path << '\0';
  }

  const std::set<std::string>& paths() const { return paths_; }
  PathIs kind(const std::string& path) const {
    return std::filesystem::is_directory(scratch_.path + "/" + path) ? PathIs::directory : PathIs::other;
  }

  std::set<std::string> ignored_by_git(const std::vector<IgnoreText>& texts) {
    for (const IgnoreText& text : texts)
      std::ofstream(scratch_.path + "/" + text.directory + "/.gitignore", std::ios::binary) << text.text;
    const std::string answer = run("git check-ignore --no-index --stdin -z < .git/list");
    std::set<std::string> ignored;
    for (size_t at = 0; at < answer.size(); at = answer.find('\0', at) + 1)
      ignored.insert(answer.c_str() + at);
    return ignored;
  }

 private:
  std::string run(const std::string& command) {
    const std::string whole =
        "cd " + scratch_.path + " && export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 && " + command;
    FILE* pipe = ::popen(whole.c_str(), "r");
    std::string text;
    char piece[4096];
    while (const size_t got = ::fread(piece, 1, sizeof piece, pipe)) text.append(piece, got);
    ::pclose(pipe);
    return text;
  }

  Scratch scratch_;
  std::set<std::string> paths_ = {};
};

std::string random_patterns(std::mt19937& random) {
  const char* const pieces[] = {"a",  "b",    "ab",   "x.o",   "f o",         "*",   "**",  "?",
                                "/",  "/",    "/**/", "[ab]",  "**/",         "/**", "*.o", " ",
                                "\\", "[!a]", "[",    "[a-x]", "[[:alpha:]]", "!",   "#",   "[]a]"};
  std::string text;
  for (size_t line = random() % 4; line-- > 0;) {
    if (random() % 4 == 0) text += '!';
    for (size_t piece = 1 + random() % 4; piece-- > 0;) text += pieces[random() % std::size(pieces)];
    text += '\n';
  }
  return text;
}

TEST(IgnoredPaths, EqualsGit) {
  if (!Repository::git_is_there()) GTEST_SKIP() << "skipped: no git";
  Repository repository;
  std::mt19937 random(23);
  for (int round = 0; round < 200; ++round) {
    const std::vector<IgnoreText> texts = {
        {"", random_patterns(random)}, {"a", random_patterns(random)}, {"a/ab", random_patterns(random)}};
    const auto by_git = repository.ignored_by_git(texts);
    IgnoredPaths ours(texts);
    for (const std::string& path : repository.paths())
      ASSERT_EQ(ours.ignores(path, repository.kind(path)), by_git.contains(path))
          << path << "\nroot:\n"
          << texts[0].text << "a:\n"
          << texts[1].text << "a/ab:\n"
          << texts[2].text;
  }
}

}  // namespace
}  // namespace cloche
