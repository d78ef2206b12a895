// The words of `cloche run`, by table: what is asked for, or which sentence.
#include "doors/cli/arguments.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace cloche {
namespace {

using Words = std::vector<std::string>;

Result<RunArguments> parse(const Words& words) {
  Words copies = words;
  std::vector<char*> argv;
  for (auto& word : copies) argv.push_back(word.data());
  return parse_run(argv);
}

RunArguments parsed(const Words& words) {
  auto result = parse(words);
  EXPECT_TRUE(result.ok()) << result.error().what;
  return result.ok() ? std::move(result).value() : RunArguments{};
}

struct CommandCase {
  Words words;
  Words argv;
};

TEST(Arguments, TheCommandBeginsAtTheFirstWordThatIsNoFlag) {
  const CommandCase rows[] = {
      {{"--", "ls", "-l"}, {"ls", "-l"}},
      {{"ls", "-l"}, {"ls", "-l"}},
      {{"ls", "--json"}, {"ls", "--json"}},
      {{"--json", "--", "ls"}, {"ls"}},
      {{"--", "--json"}, {"--json"}},
      {{"--", "--", "x"}, {"--", "x"}},
      {{"--json", "ls", "--", "x"}, {"ls", "--", "x"}},
      {{"-", "x"}, {"-", "x"}},
      {{"", "x"}, {"", "x"}},
      {{"--", ""}, {""}},
      {{"-e", "--json", "ls"}, {"ls"}},
      {{"--workspace", "--", "ls"}, {"ls"}},
  };
  for (const auto& [words, argv] : rows) EXPECT_EQ(parsed(words).request.argv, argv) << words[0];
}

struct Asked {
  Words flags;
  std::function<bool(const RunArguments&)> holds;
};

TEST(Arguments, EachFlagAsksForOneThing) {
  const Asked rows[] = {
      {{"--allow-protected", ".envrc", "--allow-protected=a"},
       [](const auto& a) {
         return a.request.allow_protected == std::vector<std::string>{".envrc", "a"};
       }},
      {{}, [](const auto& a) { return !a.json && !a.dry_run && !a.raw && !a.help && a.status_fd == -1; }},
      {{},
       [](const auto& a) {
         return a.request.profile == Profile::workspace_write_no_network && a.request.view == View::curated;
       }},
      {{},
       [](const auto& a) {
         return !a.request.workspace && !a.request.directory && a.request.toolchains == "auto" &&
                !a.request.debugging;
       }},
      {{"--json"}, [](const auto& a) { return a.json; }},
      {{"--dry-run"}, [](const auto& a) { return a.dry_run; }},
      {{"--raw"}, [](const auto& a) { return a.raw; }},
      {{"--profile", "readonly"}, [](const auto& a) { return a.request.profile == Profile::readonly; }},
      {{"--profile=readonly"}, [](const auto& a) { return a.request.profile == Profile::readonly; }},
      {{"--profile=workspace-write"},
       [](const auto& a) { return a.request.profile == Profile::workspace_write; }},
      {{"--profile=mine"}, [](const auto& a) { return a.request.profile_name == "mine"; }},
      {{"--memory=1G"}, [](const auto& a) { return a.request.said_limits == std::vector{LimitId::memory}; }},
      {{"--net-host"},
       [](const auto& a) {
         return a.request.network == Network::of_host && a.request.profile == Profile::workspace_write;
       }},
      {{"--net-host", "--profile", "readonly"},
       [](const auto& a) { return a.request.profile == Profile::readonly; }},
      {{"--profile", "readonly", "--profile", "workspace-write-no-network"},
       [](const auto& a) { return a.request.profile == Profile::workspace_write_no_network; }},
      {{"--workspace", "dir"}, [](const auto& a) { return a.request.workspace == "dir"; }},
      {{"--workspace=a=b"}, [](const auto& a) { return a.request.workspace == "a=b"; }},
      {{"--workspace="}, [](const auto& a) { return a.request.workspace == ""; }},
      {{"-C", "sub"}, [](const auto& a) { return a.request.directory == "sub"; }},
      {{"--view", "host"}, [](const auto& a) { return a.request.view == View::host; }},
      {{"--view", "curated"}, [](const auto& a) { return a.request.view == View::curated; }},
      {{"--toolchains", "go,cargo"}, [](const auto& a) { return a.request.toolchains == "go,cargo"; }},
      {{"--grant", "debug"}, [](const auto& a) { return a.request.debugging; }},
      {{"--isolation", "namespace"}, [](const auto&) { return true; }},
      {{"--backend", "native"}, [](const auto&) { return true; }},
      {{"--status-fd", "3"}, [](const auto& a) { return a.status_fd == 3; }},
      {{"--timeout", "30s"}, [](const auto& a) { return a.request.limits.wall_ms == 30'000; }},
      {{"--cpu", "2m"}, [](const auto& a) { return a.request.limits.cpu_s == 120; }},
      {{"--memory", "512M"}, [](const auto& a) { return a.request.limits.memory_bytes == 512ULL << 20; }},
      {{"--pids", "64"}, [](const auto& a) { return a.request.limits.processes == 64; }},
      {{"--nofile=99"}, [](const auto& a) { return a.request.limits.open_files == 99; }},
      {{"--fsize", "1K"}, [](const auto& a) { return a.request.limits.file_bytes == 1024; }},
      {{"--disk", "1G"}, [](const auto& a) { return a.request.limits.disk_bytes == 1ULL << 30; }},
      {{"--files", "10"}, [](const auto& a) { return a.request.limits.new_files == 10; }},
      {{"--tmp", "1M"}, [](const auto& a) { return a.request.limits.tmp_bytes == 1ULL << 20; }},
      {{"--output", "1M"}, [](const auto& a) { return a.request.limits.output_bytes == 1ULL << 20; }},
  };
  for (const auto& row : rows) {
    Words words = row.flags;
    words.insert(words.end(), {"--", "ls"});
    EXPECT_TRUE(row.holds(parsed(words))) << (row.flags.empty() ? "defaults" : row.flags[0]);
  }
}

struct GrantCase {
  const char* text;
  const char* source;
  const char* target;
};

TEST(Arguments, GrantsAreSourceAndTarget) {
  const GrantCase rows[] = {
      {"data", "data", ""},      {"/a:/b", "/a", "/b"},     {"a:b:c", "a", "b:c"},
      {"a\\:b", "a:b", ""},      {"a\\:b:/c", "a:b", "/c"}, {"a:/b\\:c", "a", "/b:c"},
      {"a\\\\:/b", "a\\", "/b"}, {"a\\b", "a\\b", ""},      {"with space", "with space", ""},
      {"a\\", "a\\", ""},
  };
  for (const auto& [text, source, target] : rows) {
    for (bool writable : {false, true}) {
      const auto arguments = parsed({writable ? "--rw" : "--ro", text, "--", "ls"});
      ASSERT_EQ(arguments.request.grants.size(), 1U);
      EXPECT_EQ(arguments.request.grants[0].source, source) << text;
      EXPECT_EQ(arguments.request.grants[0].target, target) << text;
      EXPECT_EQ(arguments.request.grants[0].writable, writable) << text;
    }
  }
  const auto three = parsed({"--ro", "a", "--rw", "b", "--ro=c", "ls"}).request.grants;
  ASSERT_EQ(three.size(), 3U);
  EXPECT_EQ(three[1].source, "b");
  EXPECT_TRUE(three[1].writable && !three[0].writable && !three[2].writable);
}

TEST(Arguments, VariablesHaveAValueOrAreTheCallers) {
  const auto given = parsed({"-e", "A=1", "-e", "B", "--env", "C=", "--env=D=x=y", "ls"}).request.environment;
  ASSERT_EQ(given.size(), 4U);
  EXPECT_EQ(given[0].name, "A");
  EXPECT_EQ(given[0].value, "1");
  EXPECT_EQ(given[1].name, "B");
  EXPECT_EQ(given[1].value, std::nullopt);
  EXPECT_EQ(given[2].value, "");
  EXPECT_EQ(given[3].name, "D");
  EXPECT_EQ(given[3].value, "x=y");
}

struct Refused {
  Words words;
  Cause cause;
  const char* complaint;
};

TEST(Arguments, RefusesWithTheFlagByName) {
  const Refused rows[] = {
      {{}, Cause::usage, "no command"},
      {{"--"}, Cause::usage, "no command"},
      {{"--json"}, Cause::usage, "no command"},
      {{"--unknown", "--", "ls"}, Cause::usage, "unknown flag --unknown"},
      {{"--unknown=3", "ls"}, Cause::usage, "unknown flag --unknown"},
      {{"--jso", "ls"}, Cause::usage, "unknown flag --jso"},
      {{"-x", "ls"}, Cause::usage, "unknown flag -x"},
      {{"-Cdir", "ls"}, Cause::usage, "unknown flag -Cdir"},
      {{"-e=A", "ls"}, Cause::usage, "unknown flag -e=A"},
      {{"--json=1", "ls"}, Cause::usage, "--json takes no value"},
      {{"--workspace"}, Cause::usage, "--workspace needs a value"},
      {{"-e"}, Cause::usage, "-e needs a value"},
      {{"-e", "=x", "ls"}, Cause::usage, "-e =x is not NAME or NAME=VALUE"},
      {{"-e", "", "ls"}, Cause::usage, "is not NAME or NAME=VALUE"},
      {{"--allow-protected", "", "ls"}, Cause::usage, "needs a path"},
      {{"--ro", "", "ls"}, Cause::usage, "is not SRC or SRC:DST"},
      {{"--ro", ":", "ls"}, Cause::usage, "is not SRC or SRC:DST"},
      {{"--ro", ":/x", "ls"}, Cause::usage, "is not SRC or SRC:DST"},
      {{"--rw", "x:", "ls"}, Cause::usage, "--rw x: is not SRC or SRC:DST"},
      {{"--timeout", "0", "ls"}, Cause::usage, "--timeout 0"},
      {{"--timeout", "-1", "ls"}, Cause::usage, "--timeout -1"},
      {{"--memory", "lots", "ls"}, Cause::usage, "--memory lots"},
      {{"--memory", "99999999T", "ls"}, Cause::usage, "--memory 99999999T is too large"},
      {{"--pids", "1.5", "ls"}, Cause::usage, "--pids 1.5"},
      {{"--status-fd", "0", "ls"}, Cause::usage, "--status-fd 0"},
      {{"--status-fd", "-1", "ls"}, Cause::usage, "--status-fd -1"},
      {{"--status-fd", "3x", "ls"}, Cause::usage, "--status-fd 3x"},
      {{"--status-fd", "", "ls"}, Cause::usage, "--status-fd "},
      {{"--status-fd", "99999999999", "ls"}, Cause::usage, "--status-fd 99999999999"},
      {{"--profile", "a/b", "ls"}, Cause::usage, "is not the name of a profile"},
      {{"--profile", "", "ls"}, Cause::usage, "is not the name of a profile"},
      {{"--view", "all", "ls"}, Cause::usage, "no such view"},
      {{"--grant", "root", "ls"}, Cause::usage, "no such grant"},
      {{"--isolation", "none", "ls"}, Cause::usage, "no such isolation level"},
      {{"--isolation", "permissive", "ls"}, Cause::configuration, "never runs a program"},
      {{"--isolation", "microvm", "ls"},
       Cause::configuration,
       "the isolation level microvm is not part of this build"},
      {{"--backend", "none", "ls"}, Cause::usage, "no such backend"},
      {{"--backend", "bwrap", "--isolation", "gvisor", "ls"},
       Cause::usage,
       "has the isolation level namespace, not gvisor"},
      {{"--isolation", "namespace", "--backend", "oci", "ls"},
       Cause::usage,
       "has the isolation level container"},
      {{"--backend", "docker", "ls"}, Cause::usage, "no such backend"},
      {{"--net", "1.2.3.4", "ls"}, Cause::usage, "1.2.3.4"},
      {{"--net", "localhost", "ls"}, Cause::usage, "localhost"},
      {{"--net", "", "ls"}, Cause::usage, "declares no host"},
      {{"--net-connections", "0", "ls"}, Cause::usage, "zero is not a limit"},
  };
  for (const auto& row : rows) {
    const auto result = parse(row.words);
    ASSERT_FALSE(result.ok()) << row.complaint;
    EXPECT_EQ(result.error().cause, row.cause) << result.error().what;
    EXPECT_NE(result.error().what.text().find(row.complaint), std::string::npos) << result.error().what;
  }
}

TEST(Arguments, AWrongValueIsAnsweredWithTheRightOnes) {
  struct Row {
    const char* flag;
    std::vector<const char*> known;
  };
  const Row rows[] = {
      {"--view", {"curated", "host"}},
      {"--grant", {"debug"}},
      {"--isolation", {"permissive", "subprocess", "namespace", "container", "gvisor", "microvm"}},
      {"--backend", {"native", "bwrap", "oci"}},
  };
  for (const auto& row : rows) {
    const auto result = parse({row.flag, "bogus", "ls"});
    ASSERT_FALSE(result.ok()) << row.flag;
    EXPECT_EQ(result.error().cause, Cause::usage) << row.flag;
    for (const char* known : row.known)
      EXPECT_NE(result.error().fix.text().find(known), std::string::npos) << result.error().fix;
  }
}

TEST(Arguments, HelpNeedsNoCommand) {
  EXPECT_TRUE(parsed({"--help"}).help);
  EXPECT_TRUE(parsed({"-h"}).help);
  EXPECT_TRUE(parsed({"--json", "--help", "--"}).help);
  EXPECT_FALSE(parsed({"--", "--help"}).help) << "the command's own";
}

}  // namespace
}  // namespace cloche
