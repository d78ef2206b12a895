#include "policy/protected/git_config_paths.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

constexpr auto hooks = PlaceKind::hooks;
constexpr auto config = PlaceKind::config;
constexpr auto program = PlaceKind::program;

TEST(GitPlaces, AreThoseThatGitGoesToForMore) {
  struct Row {
    std::string_view text;
    SaidPlaces said;
  };
  const Row rows[] = {
      {"[core]\n\thooksPath = .githooks\n\tbare = false\n", {{{".githooks", hooks}}}},
      {"[core] hooksPath = hk # c\n", {{{"hk", hooks}}}},
      {"[Core]\nHOOKSPATH=\"a b\"\n[include]\n path = ../x\n[includeIf \"gitdir:~/w/\"]\npath=y\n",
       {{{"a b", hooks}, {"../x", config}, {"y", config}}}},
      {"[core]\nhooksPath = a\nhooksPath = b\n", {{{"a", hooks}, {"b", hooks}}}},
      {"[remote \"include\"]\npath = y\n[core]\nhooksPath =\n[include \"x\"]\npath = z\n", {}},
      {"[init]\ntemplateDir = t\n", {{{"t", hooks}}}},
      {"[core]\nworktree = ../../../sub\n", {{}, "../../../sub"}},
      {"[core]\nfsmonitor = ./f\n", {{{"./f", program}}}},
      {"[core]\nfsmonitor = true\npager = less -R\neditor = vim\n", {}},
      {"[core]\nsshCommand = tools/ssh -i key\n", {{{"tools/ssh", program}}}},
      {"[core]\nsshCommand = ssh -i /home/u/key\n", {}},
      {"[credential \"https://example.org\"]\nhelper = !/t/cred get\n", {{{"/t/cred", program}}}},
      {"[filter \"x\"]\nclean = \"\\\"a b/c\\\" %f\"\nsmudge = 'd e/f'\n",
       {{{"a b/c", program}, {"d e/f", program}}}},
      {"[diff]\nexternal = ./d;x\n[diff \"y\"]\ntextconv = ~/t\n", {{{"./d", program}, {"~/t", program}}}},
      {"[diff]\nexternal = A=1 B= exec env X=./no ./d\n[core]\npager = \"command  ./p\"\n",
       {{{"./d", program}, {"./p", program}}}},
      {"[diff]\nexternal = exec\n[core]\npager = a=b\n", {}},
      {"[alias]\nx = !./a b\nlog = log origin/main\n[pager]\nlog = ./p\n",
       {{{"./a", program}, {"./p", program}}}},
      {"[alias]\na = !./my\\\\ tools/f x\nb = !./t/\\\"h\\\"y\nc = !$PWD/t/g\nd = !${HOME}/x\ne = !'./q' z\n",
       {{{"./my tools/f", program},
         {"./t/hy", program},
         {"./t/g", program},
         {"~/x", program},
         {"./q", program}}}},
      {"[imap]\ntunnel = ./t/a\n[sendemail \"x\"]\nsendmailcmd = ./s\n[lfs \"customtransfer.x\"]\npath = "
       "./l\n",
       {{{"./t/a", program}, {"./s", program}, {"./l", program}}}},
      {"[commit]\ntemplate = ./t\n[blame]\nignoreRevsFile = a/b\n", {}},
      {std::string_view("[core]\nhooksPath = a\0b\n", 23), {{{"a", hooks}}}},
  };
  for (const auto& row : rows) EXPECT_EQ(places_said(row.text), row.said) << row.text;
}

TEST(GitPlaces, AsPaths) {
  struct Row {
    std::string_view path;
    std::string_view base;
    std::string_view home;
    std::string_view place;
  };
  const Row rows[] = {
      {"a/b", "/w", "/h", "/w/a/b"},
      {"/a", "/w", "/h", "/a"},
      {"~/a", "/w", "/h", "/h/a"},
      {"~", "/w", "/h", "/h"},
      {"~u/a", "/w", "/h", ""},
      {"~/a", "/w", "", ""},
      {"a", "", "/h", ""},
      {"", "/w", "/h", ""},
      {"%(prefix)/a", "/w", "/h", ""},
      {":(optional)a", "/w", "/h", "/w/a"},
  };
  for (const auto& row : rows) {
    const HomeOf home_of = [&](std::string_view user) { return user.empty() ? std::string(row.home) : ""; };
    EXPECT_EQ(place_from(row.path, row.base, home_of), row.place) << row.path;
  }
}

TEST(GitPlaces, OfAnotherUserAreInTheirHome) {
  constexpr std::string_view users =
      "root:x:0:0:root:/root:/bin/sh\nann:x:7:7::/home/ann:/bin/sh\nanna:x:8:8::/h:\nbad\nno:x";
  const HomeOf home_of = [&](std::string_view user) { return home_in_passwd(users, user); };
  EXPECT_EQ(place_from("~ann/hooks", "/w", home_of), "/home/ann/hooks");
  EXPECT_EQ(place_from("~anna", "/w", home_of), "/h");
  for (const char* nobody : {"~an/x", "~bad/x", "~no/x", "~annabel/x", "~x/x"})
    EXPECT_EQ(place_from(nobody, "/w", home_of), "") << nobody;
}

TEST(GitPlaces, APointerIsReadAsGitReadsIt) {
  using namespace std::string_literals;
  struct Row {
    std::string text;
    std::string_view key;
    const char* path;
  };
  const Row rows[] = {
      {"gitdir: /r/.git\n", "gitdir: ", "/r/.git"},
      {"gitdir: ../r/.git\r\n\n", "gitdir: ", "/base/../r/.git"},
      {"gitdir: /out\0/../base/in\n"s, "gitdir: ", "/out"},
      {"gitdir:/r", "gitdir: ", ""},
      {"gitdir: \n", "gitdir: ", ""},
      {"../..\n", "", "/base/../.."},
      {"/r/\nmore", "", "/r/\nmore"},
      {"", "", ""},
  };
  for (const auto& row : rows) EXPECT_EQ(pointer_in(row.text, row.key, "/base"), row.path) << row.text;
}

}  // namespace
}  // namespace cloche
