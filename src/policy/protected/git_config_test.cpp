// Which configurations of a repository that a command made may stay.
#include "policy/protected/git_config.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

TEST(GitConfig, WhatGitItselfWritesStays) {
  const std::string_view rows[] = {
      "",
      "# nothing\n; nothing\n",
      "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n",
      "[remote \"origin\"]\n\turl = https://example.org/a.git\n\tfetch = "
      "+refs/heads/*:refs/remotes/origin/*\n",
      "[remote \"origin\"]\n\turl = git@example.org:a/b.git\n",
      "[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n",
      "[branch \"main\"]\n\tremote = .\n\tpushRemote = team/my-fork_2.x\n",
      "[user]\n\tname = A \"B\" C\n\temail = a@example.org\n",
      "[Core]\n\tBare = true\n",
      "[core]\n\tbare\n",
      "[core] bare = true # as some write it\n",
      "[submodule \"lib\"]\n\tactive = true\n\turl = https://example.org/lib\n",
      "[extensions]\n\tpartialClone = origin\n\tworktreeConfig = true\n",
      "[index]\n\tsparse = true\n",
      "[uploadpack]\n\tallowFilter = true\n",
      "[rebase]\n\tautosquash = true\n\tautostash = true\n[advice]\n\tdetachedHead = false\n",
      "[core]\n\tfsmonitor = false\n",
      "[core]\n\tFSMonitor = No\n",
      "[core]\n\tfsmonitor = OFF # here\n",
      "[core]\n\tfsmonitor = 0\n",
      "[core]\n\tfsmonitor =\n",
      "[core]\n\tfsmonitor = \"\"\n",
      "[core]\n\texcludesFile = tools/ignored\n",
  };
  for (const auto text : rows) EXPECT_EQ(danger_in_git_config(text, {}), std::nullopt) << text;
}

TEST(GitConfig, SaysHowObjectsAreNamed) {
  EXPECT_EQ(object_format(""), "sha1");
  EXPECT_EQ(object_format("[Extensions]\n\tobjectFormat = sha256\n"), "sha256");
  EXPECT_EQ(object_format("[extensions \"x\"]\n\tobjectFormat = sha256\n"), "sha1");
}

TEST(GitConfig, WhatRunsSomethingDoesNot) {
  const std::string_view rows[] = {
      "[core]\n\tfsmonitor = ./x\n",
      "[core]\n\tfsmonitor = true\n",
      "[core]\n\tfsmonitor = 1\n",
      "[core]\n\tfsmonitor\n",
      "[core]\n\tfsmonitor = falsee\n",
      "[core]\n\tfsmonitor = false x\n",
      "[core]\n\tfsmonitor = no/../x\n",
      "[core \"x\"]\n\tfsmonitor = false\n",
      "[core]\n\texcludesFile = /dev/watchdog\n",
      "[core]\n\texcludesFile = ~/.ignore\n",
      "[core]\n\texcludesFile = ../ignore\n",
      "[core]\n\texcludesFile = a/../../b\n",
      "[core]\n\texcludesFile = %(prefix)/x\n",
      "[core]\n\texcludesFile = :(optional)/dev/tty\n",
      "[core]\n\texcludesFile = .git/config\n",
      "[core]\n\texcludesFile\n",
      "[core]\n\thooksPath = ../hooks\n",
      "[CORE]\n\tFSMONITOR = ./x\n",
      "[core]\n\tsshCommand = x\n",
      "[core]\n\tpager = x\n",
      "[core]\n\teditor = x\n",
      "[core]\n\taskPass = x\n",
      "[core]\n\tgitProxy = x\n",
      "[core]\n\tworktree = /home/somebody\n",
      "[core]\n\tworktree = hooks\n",
      "[core]\n\tattributesFile = x\n",
      "[filter \"x\"]\n\tclean = x\n",
      "[filter \"x\"]\n\tprocess = x\n",
      "[diff \"x\"]\n\tcommand = x\n",
      "[diff \"x\"]\n\ttextconv = x\n",
      "[diff]\n\texternal = x\n",
      "[merge \"x\"]\n\tdriver = x\n",
      "[mergetool \"x\"]\n\tcmd = x\n",
      "[credential]\n\thelper = !x\n",
      "[credential \"https://example.org\"]\n\thelper = x\n",
      "[alias]\n\tst = !x\n",
      "[include]\n\tpath = ../x\n",
      "[includeIf \"gitdir:/\"]\n\tpath = ../x\n",
      "[gpg]\n\tprogram = x\n",
      "[gpg \"ssh\"]\n\tprogram = x\n",
      "[remote \"origin\"]\n\tuploadpack = x\n",
      "[remote \"origin\"]\n\treceivepack = x\n",
      "[remote \"origin\"]\n\tvcs = x\n",
      "[remote \"origin\"]\n\turl = ext::sh -c x\n",
      "[remote \"origin\"]\n\turl = \"ext::sh -c x\"\n",
      "[remote \"origin\"]\n\turl = ssh://-oProxyCommand=x/y\n",
      "[remote \"origin\"]\n\turl = ext://sh\n",
      "[branch \"main\"]\n\tremote = ext::sh -c x\n",
      "[branch \"main\"]\n\tremote = \"ext::sh -c x\"\n",
      "[branch \"main\"]\n\tremote = https://example.org/x\n",
      "[branch \"main\"]\n\tremote = /tmp/x\n",
      "[branch \"main\"]\n\tremote = ./x\n",
      "[branch \"main\"]\n\tremote = x/../../y\n",
      "[branch \"main\"]\n\tremote = -x\n",
      "[branch \"main\"]\n\tremote\n",
      "[branch \"main\"]\n\tPushRemote = git@example.org:x\n",
      "[remote]\n\tpushDefault = ext::x\n",
      "[remote \"origin\"]\n\tproxy = x\n",
      "[checkout]\n\tdefaultRemote = x\n",
      "[url \"ext::x \"]\n\tinsteadOf = https://\n",
      "[submodule \"lib\"]\n\tupdate = !x\n",
      "[protocol \"ext\"]\n\tallow = always\n",
      "[remote \"--upload-pack=x;git-upload-pack\"]\n\tpromisor = true\n",
      "[remote \"ext::sh -c x\"]\n\tpromisor = true\n",
      "[remote \"../x\"]\n\tfetch = x\n",
      "[branch \"-x\"]\n\tmerge = refs/heads/main\n",
      "[branch \"main\"]\n\tmerge = --upload-pack=x\n",
      "[submodule \"-x\"]\n\tactive = true\n",
      "[submodule \"x\"]\n\tbranch = -x\n",
      "[extensions]\n\tpartialClone = \"--upload-pack=x;git-upload-pack\"\n",
      "[extensions]\n\tpartialClone = /tmp/x\n",
      "[sequence]\n\teditor = x\n",
      "[interactive]\n\tdiffFilter = x\n",
      "[uploadpack]\n\tpackObjectsHook = x\n",
      "[trailer \"x\"]\n\tcommand = x\n",
      "[pager]\n\tstatus = x\n",
      "[made]\n\tup = 1\n",
  };
  for (const auto text : rows) EXPECT_NE(danger_in_git_config(text, {}), std::nullopt) << text;
}

TEST(GitConfig, WhatGitMightReadInAnotherWayDoesNot) {
  const std::string_view rows[] = {
      "[core] fsmonitor = x\n",                     // a key behind its section
      "[user]\n\tname = a\\\n[core]\n",             // a line that goes on
      "[user]\n\tname = a\r[core]\rfsmonitor=x\n",  // other ends of lines
      "[core.x]\n\tbare = true\n",
      "[remote \"a\\\"b\"]\n\turl = x\n",
      "[remote \"a]\n\turl = x\n",
      "bare = true\n",
      "[core\n",
      "[]\n",
      "[user]\n\tna me = x\n",
      "[user]\n\tname = \"\x01\"\n",
  };
  for (const auto text : rows) EXPECT_NE(danger_in_git_config(text, {}), std::nullopt) << text;
  EXPECT_NE(danger_in_git_config(std::string(max_git_config_bytes + 1, '\n'), {}), std::nullopt);
  EXPECT_NE(danger_in_git_config(std::string_view("[user]\n\tname = a\0b\n", 19), {}), std::nullopt);
}

TEST(GitConfig, AWorkingTreeIsTheCallersToJudge) {
  const char* const text = "[core]\n\tworktree = ../../../sub\n";
  EXPECT_TRUE(danger_in_git_config(text, {}).has_value());
  EXPECT_FALSE(
      danger_in_git_config(text, {}, [](std::string_view value) { return value == "../../../sub"; }));
  EXPECT_TRUE(danger_in_git_config(text, {}, [](std::string_view) { return false; }).has_value());
}

TEST(GitConfig, ModulesByWhatTheySay) {
  const auto is_harmless = [](const std::string& lines, const std::string& name = "a/b") {
    return !danger_in_gitmodules("[submodule \"" + name + "\"]\n" + lines).has_value();
  };
  EXPECT_TRUE(is_harmless("\tpath = a/b\n\turl = https://example.org/x.git\n\tbranch = main\n"));
  EXPECT_TRUE(is_harmless("\tpath = b\n\turl = ../x\n\tupdate = rebase\n\tshallow = true\n"));
  for (const char* lines : {"\turl = ext::sh -c x\n", "\turl = -x\n", "\tpath = ../x\n", "\tpath = /x\n",
                            "\tpath = -x\n", "\tpath = .git/hooks\n", "\tpath = a/.GIT\n", "\tupdate = !x\n",
                            "\tother = x\n", "\tpath = a\\\nb\n"})
    EXPECT_FALSE(is_harmless(lines)) << lines;
  EXPECT_FALSE(is_harmless("\tpath = a\n", "../x"));
  EXPECT_FALSE(is_harmless("\tpath = a\n", "-x"));
  EXPECT_TRUE(danger_in_gitmodules("[core]\n\tpager = x\n").has_value());
  EXPECT_TRUE(is_gitmodules(".GitModules"));
}

TEST(RebaseTodo, ExecLines) {
  for (const char* todo : {"exec make\n", "x make", "pick 1 a\n  exec make\n", "pick 1 a\n\tx\tmake\n", "x\n",
                           "exec\r\n", "# Rebase\n\nexec a\\\n"})
    EXPECT_TRUE(has_exec_line(todo)) << todo;
  for (const char* todo : {"", "\n\n", "pick 1 exec make\n", "# exec make\n", "#x\n", "p 1 x\nexecute\nxx\n",
                           "label exec\nreset exec\nmerge -C 1 x # exec\nupdate-ref refs/heads/x\nbreak\n"})
    EXPECT_FALSE(has_exec_line(todo)) << todo;
}

TEST(RebaseTodo, StrategiesByPath) {
  EXPECT_FALSE(is_strategy_by_path("ort\n"));
  EXPECT_TRUE(is_strategy_by_path("x/y\n"));
  for (const char* opts :
       {"[options]\n\tstrategy = x/y\n", "[options] Strategy=x/y", "[Options]\n\tSTRATEGY = \"x/y\"\n",
        "[options]\n\tstrategy-option = ours\n\tstrategy = x/y\n", "[options]\n\tstrategy = x\\\n/y\n"})
    EXPECT_TRUE(has_strategy_by_path(opts)) << opts;
  for (const char* opts : {"", "[options]\n\tstrategy = ort\n\tmainline = 1\n",
                           "[options]\n\tstrategy = ort\n\tstrategy-option = subtree=a/b\n"})
    EXPECT_FALSE(has_strategy_by_path(opts)) << opts;
}

}  // namespace

}  // namespace cloche
