#include "doors/changes/pager.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "base/scratch.hpp"

namespace cloche {
namespace {

const std::map<std::string, FoundProgram> programs = {
    {"/usr/bin/less", {"/usr/bin/less"}},
    {"/usr/bin/most", {"/usr/bin/most"}},
    {"/w/bin/less", {"/w/bin/less"}},
    {"/opt/bin/linked", {"/w/linked"}},
    {"/opt/bin/turned", {"/opt/turned", {"/w/link"}}},
};

Pager choose(std::vector<std::string> environment) {
  environment.emplace_back("TERM=xterm");
  return choose_pager(environment, {"/w"}, [](const std::string& path) -> std::optional<FoundProgram> {
    const auto found = programs.find(path);
    return found == programs.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(Pager, ComesFromTheOperatorAndNotFromTheWorkspace) {
  using Words = std::vector<std::string>;
  struct Row {
    Words environment;
    Words argv;
    bool is_noted = false;
  };
  const Row rows[] = {
      {{"PATH=/usr/bin"}, {"/usr/bin/less"}},
      {{}, {"/usr/bin/less"}},
      {{"PATH=/w/bin:.:bin::/usr/bin"}, {"/usr/bin/less"}},
      {{"PATH=/w/bin"}, {}},
      {{"PAGER=most -s 'a b'", "PATH=/usr/bin"}, {"/usr/bin/most", "-s", "a b"}},
      {{"PAGER=most", "CLOCHE_PAGER=less -S", "PATH=/usr/bin"}, {"/usr/bin/less", "-S"}},
      {{"PAGER=/usr/bin/most"}, {"/usr/bin/most"}},
      {{"PAGER=cat"}, {}},
      {{"CLOCHE_PAGER=", "PAGER=most"}, {}},
      {{"PAGER=/w/bin/less"}, {"/usr/bin/less"}, true},
      {{"PAGER=./less"}, {"/usr/bin/less"}, true},
      {{"PAGER=bin/less"}, {"/usr/bin/less"}, true},
      {{"PAGER=/opt/bin/linked"}, {"/usr/bin/less"}, true},
      {{"PAGER=/opt/bin/turned"}, {"/usr/bin/less"}, true},
      {{"PAGER=less | sh"}, {"/usr/bin/less"}, true},
      {{"PAGER=$X"}, {"/usr/bin/less"}, true},
      {{"PAGER=nowhere"}, {"/usr/bin/less"}, true},
  };
  for (const Row& row : rows) {
    const Pager pager = choose(row.environment);
    EXPECT_EQ(pager.argv, row.argv);
    EXPECT_EQ(!pager.note.empty(), row.is_noted) << pager.note;
  }
}

TEST(Pager, HasNoCommandInItsEnvironment) {
  const Pager pager =
      choose({"LESSOPEN=|evil %s", "LESSCLOSE=evil", "LESS=+!evil", "LESSKEY=/w/k", "MORE=-x", "HOME=/h"});
  ASSERT_FALSE(pager.argv.empty());
  EXPECT_EQ(pager.environment,
            (std::vector<std::string>{"HOME=/h", "TERM=xterm", "LESS=FRX", "LESSSECURE=1"}));
}

TEST(Pager, NoneOnATerminalThatCannotPage) {
  const auto none = [](const std::string&) { return std::optional<FoundProgram>(); };
  EXPECT_TRUE(choose_pager({"TERM=dumb"}, {}, none).argv.empty());
  EXPECT_TRUE(choose_pager({}, {}, none).argv.empty());
}

TEST(Pager, FindsProgramsThroughLinks) {
  const Scratch scratch;
  std::ofstream(scratch.path + "/program") << "#!/bin/sh\n";
  ASSERT_EQ(::chmod((scratch.path + "/program").c_str(), 0755), 0);
  std::ofstream(scratch.path + "/data") << "x";
  std::filesystem::create_symlink("program", scratch.path + "/link");
  const auto found = find_program(scratch.path + "/link");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->path, std::filesystem::canonical(scratch.path + "/program"));
  EXPECT_FALSE(find_program(scratch.path + "/data"));
  EXPECT_FALSE(find_program(scratch.path));
  EXPECT_FALSE(find_program(scratch.path + "/none"));
}

TEST(Pager, GetsTheTextAndIsWaitedFor) {
  const Scratch scratch;
  const std::string out = scratch.path + "/out";
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += "line " + std::to_string(i) + "\n";
  const Pager pager{{"/bin/sh", "-c", "pwd > \"$0\"; echo $LESS >> \"$0\"; cat >> \"$0\"", out},
                    {"LESS=FRX", "PATH=/usr/bin:/bin"}};
  ASSERT_TRUE(run_pager(pager, text));
  std::stringstream read;
  read << std::ifstream(out).rdbuf();
  EXPECT_TRUE(read.str() == "/\nFRX\n" + text);
  EXPECT_FALSE(run_pager({{scratch.path + "/none"}, {}}, text));
}

}  // namespace
}  // namespace cloche
