// Bad input gets a clear error and nothing half-done; odd but honest input arrives as it was.
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <regex>
#include <sstream>

#include "run/fixture.hpp"

namespace cloche::test {
namespace {

using std::chrono::seconds;

class Usage : public Run {};
FOR_EVERYONE(Usage);

TEST_P(Usage, AnUnknownFlagIsNamedWithAHint) {
  const Ran typo = words({"--memroy", "5M", "--", "touch", "ran"});
  EXPECT_TRUE(refused(typo, {2}, {"--memroy"}));
  EXPECT_TRUE(contains(typo.err, "--memory") || contains(typo.err, "--help")) << typo.err;
  for (const char* flag : {"--nonsense", "-z", "--"}) EXPECT_TRUE(exited(words({flag}), 2)) << flag;
  EXPECT_FALSE(fs::exists(workspace() / "ran"));
}

TEST_P(Usage, NoCommand) {
  EXPECT_TRUE(refused(words({}), {2}, {}));
  EXPECT_TRUE(refused(words({"--"}), {2}, {}));
  EXPECT_TRUE(refused(words({"--timeout", "5"}), {2}, {}));
  EXPECT_TRUE(refused(run({.argv = {cloche(), "no-such-command"}, .as = as()}), {2}, {"no-such-command"}));
}

// What a new user types first.
TEST_P(Usage, WordsThatAreNearlyRightSayWhatWasMeant) {
  const auto said = [&](std::vector<std::string> words) {
    words.insert(words.begin(), cloche());
    return run({.argv = std::move(words), .as = as()});
  };
  EXPECT_TRUE(refused(said({"rnu", "--", "ls"}), {2}, {"'rnu'", "did you mean run?"}));
  EXPECT_TRUE(refused(said({"run", "--worksapce", "."}), {2}, {"did you mean --workspace?"}));
  EXPECT_TRUE(refused(said({"changes", "aply"}), {2}, {"did you mean apply?"}));
  scene().write("config/cloche/config.json", R"({"autonmy": "full"})");
  const Command configured = {.env = {{"XDG_CONFIG_HOME", scene().root() / "config"}}};
  EXPECT_TRUE(refused(cloche_run({}, {"true"}, configured), {125},
                      {"config.json:1", "did you mean autonomy?", "docs/configuration.md lists the keys"}));
  EXPECT_TRUE(
      refused(cloche_run({}, {"ls -la"}), {127}, {"one word with a blank", "cloche run -- ls -la\n"}));
  EXPECT_TRUE(
      refused(cloche_run({}, {"ls | wc -l"}), {127}, {"one word", "cloche run -- sh -c 'ls | wc -l'\n"}));
}

TEST_P(Usage, HelpAndVersionByEveryName) {
  const auto said = [&](std::vector<std::string> words) {
    words.insert(words.begin(), cloche());
    return run({.argv = std::move(words), .as = as()});
  };
  const Ran help = said({"--help"});
  EXPECT_TRUE(exited(help, 0));
  for (const std::vector<std::string>& words : {std::vector<std::string>{}, {"help"}, {"-h"}}) {
    const Ran same = said(words);
    EXPECT_TRUE(exited(same, 0));
    EXPECT_EQ(same.out, help.out);
  }
  EXPECT_EQ(said({"help", "changes"}).out, said({"changes", "--help"}).out);
  EXPECT_EQ(said({"help", "run"}).out, said({"run", "--help"}).out);
  EXPECT_TRUE(refused(said({"help", "chagnes"}), {2}, {"did you mean changes?"}));
  for (const char* name : {"version", "-V"}) EXPECT_EQ(said({name}).out, said({"--version"}).out);
}

// The left column stands alone where there is no room beside it.
TEST_P(Usage, HelpFitsTheTerminal) {
  NEEDS("script");
  for (const int columns : {80, 40}) {
    const std::string width = std::to_string(columns);
    const Ran ran =
        run({.argv = {"script", "-qec", "stty cols " + width + "; " + cloche() + " --help", "/dev/null"},
             .as = as()});
    ASSERT_TRUE(exited(ran, 0));
    // A command line is there to be copied, and stays one line.
    for (auto rest = std::string_view(ran.out).substr(0, ran.out.find("Examples:")); !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      EXPECT_LE(line.size(), static_cast<size_t>(columns) + 1) << line;  // and a carriage return
    }
  }
}

// Every table, with colours.
TEST_P(Usage, TablesFitTheTerminal) {
  NEEDS("script");
  const Command how = {.env = {{"XDG_STATE_HOME", scene().root() / "state"}, {"TERM", "xterm"}}};
  ASSERT_TRUE(exited(cloche_run({}, {"sh", "-c", "echo a > a-file-with-a-name; echo b > .envrc"}, how), 0));
  ASSERT_TRUE(exited(cloche_run({"--timeout", "100ms"}, {"sleep", "20"}, how), 124));
  const std::string commands[] = {"log",
                                  "log show last",
                                  "log show last c-0001",
                                  "log show --denied",
                                  "changes",
                                  "changes show last",
                                  "tools",
                                  "profiles",
                                  "profiles show readonly",
                                  "explain run -- sh -c 'a line that is longer than forty columns are'",
                                  "doctor -v"};
  for (const int columns : {80, 40}) {
    std::string line = "stty cols " + std::to_string(columns);
    for (const auto& command : commands) line += "; '" + cloche() + "' " + command;
    Command shell = under({}, {}, how);
    shell.argv = {"script", "-qec", line, "/dev/null"};
    const Ran ran = run(shell);
    EXPECT_TRUE(contains(ran.out, "\x1b[31mwithheld\x1b[m")) << ran.out;
    EXPECT_TRUE(contains(ran.out, "\x1b[32mallow\x1b[m")) << ran.out;
    EXPECT_TRUE(contains(ran.out, "\x1b[32mholds\x1b[m")) << ran.out;
    std::istringstream lines(ran.out);
    for (std::string shown; std::getline(lines, shown);) {
      while (shown.ends_with('\r')) shown.pop_back();
      const std::regex colour("\x1b\\[[0-9;]*m");
      EXPECT_LE(std::regex_replace(shown, colour, "").size(), static_cast<size_t>(columns)) << shown;
    }
    Command plain = shell;
    plain.env["NO_COLOR"] = "1";
    EXPECT_FALSE(contains(run(plain).out, "\x1b["));
  }
}

TEST_P(Usage, TimesAreThoseOfTheCaller) {
  const std::string state = scene().root() / "state";
  ASSERT_TRUE(exited(cloche_run({}, {"true"}, {.env = {{"XDG_STATE_HOME", state}}}), 0));
  const auto log = [&](const char* zone) {
    Command how = under({}, {}, {.env = {{"XDG_STATE_HOME", state}, {"TZ", zone}}});
    how.argv = {cloche(), "log", "show", "last"};
    const Ran ran = run(how);
    const size_t at = ran.out.find("c-0001  ");
    return at == std::string::npos ? ran.out : ran.out.substr(at + 8, 19);
  };
  const std::string here = log("UTC0");
  const std::string east = log("XST-1");
  EXPECT_EQ(here.size(), 19U) << here;
  EXPECT_EQ(here.substr(13), east.substr(13)) << "minutes and seconds";
  EXPECT_NE(here.substr(0, 13), east.substr(0, 13)) << "not the hour";
}

TEST_P(Usage, WhatIsNotHereIsRefusedByName) {
  for (const char* rung : {"permissive", "microvm", "nonsense", ""}) {
    EXPECT_TRUE(refused(cloche_run({"--isolation", rung}, {"touch", "ran"}), {2, 125}, {rung})) << rung;
  }
  EXPECT_TRUE(refused(cloche_run({"--view", "nonsense"}, {"touch", "ran"}), {2, 125}, {"nonsense"}));
  EXPECT_TRUE(refused(cloche_run({"--toolchains", "nonsense"}, {"touch", "ran"}), {2, 125}, {"nonsense"}));
  EXPECT_TRUE(refused(cloche_run({"--backend", "nonsense"}, {"touch", "ran"}), {2, 125}, {"nonsense"}));
  EXPECT_FALSE(fs::exists(workspace() / "ran"));
}

class Program : public Run {};
FOR_EVERYONE(Program);

TEST_P(Program, Missing) {
  EXPECT_TRUE(refused(cloche_run({}, {"no-such-program"}), {127}, {"no-such-program"}));
  EXPECT_TRUE(refused(cloche_run({}, {"./no-such-program"}), {127}, {"./no-such-program"}));
  EXPECT_TRUE(refused(cloche_run({}, {"/no/such/program"}), {127}, {"/no/such/program"}));
  EXPECT_TRUE(refused(cloche_run({}, {""}), {127}, {"the command is empty"}));
}

TEST_P(Program, OutsideTheViewIsSaidWithTheFlagThatShowsIt) {
  const auto tool = scene().write("outside/tool.sh", "#!/bin/sh\necho ran\n", 0755);
  EXPECT_TRUE(refused(cloche_run({}, {tool}), {127}, {tool, "--ro"}));
  const auto [json, ran] = answer({}, {tool});
  EXPECT_EQ(json["outcome"].string, "not_found");
  EXPECT_TRUE(contains(json["reason"].string, "--ro")) << json["reason"].string;
  EXPECT_TRUE(printed(cloche_run({"--ro", tool}, {tool}), "ran\n"));
  const Command own_path = {.env = {{"PATH", tool.parent_path().string() + ":/usr/bin:/bin"}}};
  EXPECT_TRUE(refused(cloche_run({}, {"tool.sh"}, own_path), {127}, {"tool.sh", tool, "--ro"}));
}

TEST_P(Program, NotExecutable) {
  file("plain", "#!/bin/sh\necho ran\n");
  file("no-mark", "echo ran\n", 0755);
  file("garbage", std::string("\x7f") + "ELFgarbage", 0755);
  file("empty", "", 0755);
  fs::create_directory(workspace() / "folder");
  for (const char* program :
       {"./plain", "./no-mark", "./garbage", "./empty", "./folder", "/tmp", "/etc/passwd"}) {
    const Ran ran = cloche_run({}, {program});
    EXPECT_TRUE(refused(ran, {126}, {program})) << program;
    EXPECT_EQ(ran.out, "") << program;
  }
}

TEST_P(Program, WithAMissingInterpreter) {
  file("script", "#!/no/such/interpreter\n", 0755);
  const Ran ran = cloche_run({}, {"./script"});
  EXPECT_TRUE(refused(ran, {126, 127}, {"./script", "interpreter"}));
}

TEST_P(Program, ThatIsOnNoPathInside) {
  const Ran off_path = cloche_run({"-e", "PATH=/nonexist"}, {"sh", "-c", "true"});
  EXPECT_TRUE(refused(off_path, {127}, {"not on the PATH inside", "/nonexist", "it is there as "}));
  scene().write("empty/file", "");
  const std::string empty = scene().root() / "empty";
  const Ran covered = cloche_run({"--ro", empty + ":/usr/bin"}, {"true"});
  EXPECT_TRUE(refused(covered, {127}, {"not on the PATH inside", "/usr/bin there is " + empty}));
  for (const Ran& ran : {off_path, covered}) EXPECT_FALSE(contains(ran.err, "interpreter")) << ran.err;
}

class Arguments : public Run {
 protected:
  static std::string counting() {
    return "import sys; print(len(sys.argv) - 1, sum(map(len, sys.argv[1:])))";
  }
};
FOR_EVERYONE(Arguments);

TEST_P(Arguments, ArriveAsTheyWere) {
  const std::vector<std::string> odd = {"",   " ",      "a b", "new\nline", "quo\"te's",   "$HOME `x` *",
                                        "--", "--json", "-e",  "☂",         "back\\slash", "\x01\x1b"};
  std::vector<std::string> argv = {"/usr/bin/python3", "-c", "import sys; print(ascii(sys.argv[1:]))"};
  argv.insert(argv.end(), odd.begin(), odd.end());
  const Ran bare_run = run({.argv = argv, .as = as()});
  EXPECT_TRUE(printed(cloche_run({}, argv), bare_run.out));
  EXPECT_TRUE(printed(cloche_run({}, {"/usr/bin/python3", "-c",
                                      "import os, sys; print(os.fsencode(sys.argv[1]))", "\xff\xfe"}),
                      "b'\\xff\\xfe'\n"));
}

TEST_P(Arguments, AHundredThousandSmallOnes) {
  std::vector<std::string> argv = {"/usr/bin/python3", "-c", counting()};
  argv.insert(argv.end(), 100'000, "xy");
  EXPECT_TRUE(printed(cloche_run({}, argv), "100000 200000\n"));
}

TEST_P(Arguments, TheLongestThatTheKernelTakes) {
  EXPECT_TRUE(printed(cloche_run({}, {"/usr/bin/python3", "-c", counting(), std::string(131'071, 'x')}),
                      "1 131071\n"));
}

TEST_P(Arguments, TwoMegabytesWorkOrAreRefusedClearly) {
  rlimit before = {};
  getrlimit(RLIMIT_STACK, &before);
  // The room for arguments is a quarter of the stack's; with more of it the test can hand over more than a
  // command gets.
  const rlimit more = {before.rlim_max == RLIM_INFINITY ? 64U << 20 : before.rlim_max, before.rlim_max};
  setrlimit(RLIMIT_STACK, &more);
  std::vector<std::string> argv = {"/usr/bin/python3", "-c", counting()};
  argv.insert(argv.end(), 20, std::string(100'000, 'x'));
  const Ran two = cloche_run({}, argv);
  argv.insert(argv.end(), 38, std::string(100'000, 'x'));
  const Ran most = cloche_run({}, argv);
  setrlimit(RLIMIT_STACK, &before);
  for (const Ran* ran : {&two, &most}) {
    if (ran->exit_code == 0) {
      EXPECT_TRUE(ran->out == "20 2000000\n" || ran->out == "58 5800000\n") << ran->out;
    } else {
      EXPECT_TRUE(refused(*ran, {125, 126}, {"argument"}));
      EXPECT_EQ(ran->out, "");
    }
  }
}

class Environment : public Run {};
FOR_EVERYONE(Environment);

TEST_P(Environment, OfTheCallerIsNotInside) {
  const Command how = {.env = {{"MY_SETTING", "callers-1"},
                               {"AWS_SECRET_ACCESS_KEY", "callers-2"},
                               {"SSH_AUTH_SOCK", "callers-3"},
                               {"BASH_ENV", "callers-4"},
                               {"PYTHONPATH", "callers-5"},
                               {"GIT_DIR", "callers-6"},
                               {"XDG_RUNTIME_DIR", "callers-7"},
                               {"NODE_OPTIONS", "callers-8"},
                               {"http_proxy", "callers-9"},
                               {"LD_LIBRARY_PATH", "callers-10"}}};
  const Ran ran =
      cloche_shell({}, "env; tr '\\0' '\\n' < /proc/1/environ; cat /proc/*/environ | tr '\\0' '\\n'", how);
  EXPECT_FALSE(contains(ran.out, "callers-")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "HOME=/")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "PATH=/")) << ran.out;
}

TEST_P(Environment, IsPassedByName) {
  const Command how = {.env = {{"MY_SETTING", "callers"}, {"OTHER", "other"}, {"EMPTY", ""}}};
  EXPECT_TRUE(printed(cloche_shell({"-e", "MY_SETTING"}, "echo $MY_SETTING$OTHER", how), "callers\n"));
  EXPECT_TRUE(printed(cloche_shell({"-e", "MY_SETTING=mine"}, "echo $MY_SETTING", how), "mine\n"));
  EXPECT_TRUE(printed(cloche_shell({"-e", "A=b=c d", "-e", "EMPTY", "-e", "BLANK="},
                                   "echo \"$A\" ${EMPTY-unset} ${BLANK-unset}", how),
                      "b=c d\n"));
  EXPECT_TRUE(printed(cloche_shell({"-e", "A=1", "-e", "A=2"}, "echo $A"), "2\n"));
  EXPECT_TRUE(printed(cloche_shell({"-e", "NOT_SET_ANYWHERE"}, "echo ${NOT_SET_ANYWHERE-unset}"), "unset\n"));
  EXPECT_TRUE(printed(cloche_run({"-e", "PATH=/usr/bin"}, {"sh", "-c", "echo $PATH"}), "/usr/bin\n"));
  EXPECT_TRUE(printed(cloche_shell({"-e", "TEXT=line\nline ☂"}, "echo \"$TEXT\""), "line\nline ☂\n"));
}

TEST_P(Environment, ASecretIsNotPassedByItsNameAlone) {
  const Command how = {.env = {{"GITHUB_TOKEN", "callers-1"}, {"db_password", "callers-2"}, {"PLAIN", "x"}}};
  const Ran ran =
      cloche_shell({"-e", "GITHUB_TOKEN", "-e", "db_password", "--env=GITHUB_TOKEN", "-e", "PLAIN"},
                   "echo ${GITHUB_TOKEN-unset} ${db_password-unset} $PLAIN", how);
  EXPECT_EQ(ran.out, "unset unset x\n");
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_EQ(ran.err,
            "cloche: GITHUB_TOKEN is left out: it looks like a secret; --secret GITHUB_TOKEN gives it "
            "to cloche run knowingly\n"
            "cloche: db_password is left out: it looks like a secret; --secret db_password gives it "
            "to cloche run knowingly\n");
  EXPECT_TRUE(printed(cloche_shell({"-e", "GITHUB_TOKEN=mine"}, "echo $GITHUB_TOKEN", how), "mine\n"));
  const Ran given = cloche_shell({"-e", "GITHUB_TOKEN=mine", "--json"}, "true", how);
  EXPECT_TRUE(contains(given.out, "\"denials\":[]")) << given.out;
}

TEST_P(Environment, ASecretThatWasLeftOutIsADenial) {
  const Command how = {.env = {{"GITHUB_TOKEN", "callers-1"}}};
  const Ran ran = cloche_shell({"--json", "-e", "GITHUB_TOKEN"}, "echo ${GITHUB_TOKEN-unset}", how);
  EXPECT_TRUE(contains(ran.out, "\"stdout\":\"unset\\n\"")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "\"denials\":[{\"by\":\"env\",\"what\":\"GITHUB_TOKEN is left out"))
      << ran.out;
  EXPECT_EQ(ran.err, "");
}

TEST_P(Environment, NamesMustBeNames) {
  for (const char* name : {"", "=", "=x"})
    EXPECT_TRUE(refused(cloche_run({"-e", name}, {"touch", "ran"}), {2}, {"-e"})) << name;
  EXPECT_FALSE(fs::exists(workspace() / "ran"));
}

TEST_P(Environment, UmaskAndDirectoryOfTheCaller) {
  const Ran ran =
      run({.argv = {"bash", "-c",
                    "umask 027; exec '" + cloche() + "' run -- sh -c 'umask; touch made; mkdir dir'"},
           .as = as(),
           .cwd = workspace()});
  EXPECT_TRUE(printed(ran, "0027\n"));
  EXPECT_TRUE(printed(outside("stat -c %a made dir"), "640\n750\n"));
}

class Descriptors : public Run {
 protected:
  // `cloche run -- sh -c SCRIPT` with the caller's redirections.
  Ran redirected(const std::string& script, const std::string& redirections) {
    file("inner.sh", script);
    return run({.argv = {"bash", "-c", "exec '" + cloche() + "' run -- sh inner.sh " + redirections},
                .as = as(),
                .cwd = workspace(),
                .deadline = seconds(20)});
  }
};
FOR_EVERYONE(Descriptors);

TEST_P(Descriptors, ClosedStdinIsEmpty) {
  EXPECT_TRUE(printed(cloche_run({}, {"wc", "-c"}, {.closed = {0}}), "0\n"));
  EXPECT_TRUE(printed(cloche_shell({}, "cat; echo end", {.closed = {0}}), "end\n"));
}

TEST_P(Descriptors, ClosedOutputsNeverHangNorGoElsewhere) {
  file("kept", "kept\n");
  for (const std::vector<int>& closed : {std::vector<int>{1}, {2}, {1, 2}, {0, 1}, {0, 1, 2}}) {
    const Ran ran = cloche_shell({}, "echo to-out; echo to-err >&2; cat kept > copy",
                                 {.deadline = seconds(15), .closed = closed});
    EXPECT_FALSE(ran.timed_out);
    EXPECT_EQ(ran.signal, 0);
    const bool has_out = std::find(closed.begin(), closed.end(), 1) == closed.end();
    const bool has_err = std::find(closed.begin(), closed.end(), 2) == closed.end();
    EXPECT_FALSE(contains(ran.err, "to-out"));
    EXPECT_FALSE(contains(ran.out, "to-err"));
    EXPECT_EQ(ran.out, has_out && ran.exit_code == 0 ? "to-out\n" : "");
    EXPECT_EQ(ran.err.empty(), !has_err) << "either the command's words or the reason why it was not run";
    EXPECT_EQ(read_file(workspace() / "kept"), "kept\n");
  }
}

TEST_P(Descriptors, AFullDiskBehindStdoutIsNotASuccess) {
  const Ran ran = redirected("echo lost", "> /dev/full");
  EXPECT_FALSE(ran.timed_out);
  EXPECT_NE(ran.exit_code, 0) << "the output was lost";
  EXPECT_FALSE(ran.err.empty());
  const Ran much = redirected("head -c 10M /dev/zero", "> /dev/full");
  EXPECT_FALSE(much.timed_out);
  EXPECT_NE(much.exit_code, 0);
}

TEST_P(Descriptors, StdoutThatCannotBeWritten) {
  const Ran ran = redirected("echo lost", "1< /dev/null");
  EXPECT_FALSE(ran.timed_out);
  EXPECT_NE(ran.exit_code, 0);
}

TEST_P(Descriptors, StdinThatCannotBeRead) {
  const Ran folder = redirected("cat; echo end", "< /");
  EXPECT_FALSE(folder.timed_out);
  const Ran written = redirected("cat; echo end", "0> /dev/null");
  EXPECT_FALSE(written.timed_out);
}

TEST_P(Descriptors, FilesAreRelayedNotHandedOver) {
  file("in", "typed\n");
  const Ran ran =
      redirected("readlink /proc/self/fd/0 /proc/self/fd/2 >&2; readlink /proc/self/fd/1; cat", "< in > out");
  EXPECT_TRUE(exited(ran, 0));
  const std::string out = read_file(workspace() / "out");
  EXPECT_EQ(out.rfind("pipe:", 0), 0U) << out;
  EXPECT_EQ(last_line(out), "typed");
  EXPECT_EQ(ran.err.rfind("pipe:", 0), 0U) << ran.err;
}

TEST_P(Descriptors, AppendingToAFileAppends) {
  file("out", "before\n");
  EXPECT_TRUE(exited(redirected("echo after", ">> out"), 0));
  EXPECT_EQ(read_file(workspace() / "out"), "before\nafter\n");
  EXPECT_TRUE(exited(redirected("echo one; echo two >&2; sleep 0.1; echo three", "> both 2>&1"), 0));
  const std::string both = read_file(workspace() / "both");
  EXPECT_EQ(both.size(), 14U) << both;
  EXPECT_TRUE(contains(both, "one\n") && contains(both, "two\n") && contains(both, "three\n")) << both;
}

TEST_P(Descriptors, OthersOfTheCallerAreNotInside) {
  file("open-file", "open\n");
  const Ran ran = redirected("ls /proc/self/fd | tr '\\n' ' '; cat <&7 2>/dev/null || echo closed",
                             "7< open-file 200< open-file");
  EXPECT_TRUE(printed(ran, "0 1 2 3 closed\n"));
}

}  // namespace
}  // namespace cloche::test
