// `cloche wrap`: what it prints is run here by the sandboxes that it is for, and must keep what the plan
// says.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "run/fixture.hpp"

namespace cloche::test {
namespace {

using Words = std::vector<std::string>;

class Wrap : public Run {
 protected:
  Ran wrap(const Words& flags, const Words& argv) const {
    Command command = under({}, {});
    command.argv = {cloche(), "wrap"};
    command.argv.insert(command.argv.end(), flags.begin(), flags.end());
    command.argv.emplace_back("--");
    command.argv.insert(command.argv.end(), argv.begin(), argv.end());
    command.env["HOME"] = scene().root() / "home";
    return run(command);
  }
  const Scene& scene() const { return const_cast<Wrap*>(this)->Run::scene(); }
  using Run::scene;

  // What was printed, as a person would run it.
  Ran paste(const std::string& text) const { return outside(text); }

  Ran pasted(const Words& flags, const std::string& script) const {
    Words all = {"--backend", "bwrap", "--toolchains", "none"};
    all.insert(all.end(), flags.begin(), flags.end());
    const Ran printed = wrap(all, {"sh", "-c", script});
    EXPECT_TRUE(exited(printed, 0));
    return paste(printed.out);
  }

  Json json_of(const Words& flags, const Words& argv) const {
    Words all = flags;
    all.emplace_back("--json");
    const Ran ran = wrap(all, argv);
    EXPECT_TRUE(exited(ran, 0));
    return parse_json(ran.out).value_or(Json{});
  }

  static Words words_of(const Json& list) {
    Words words;
    for (const auto& item : list.array) words.push_back(item.string);
    return words;
  }

  // The manifest of a tool with these capabilities, beside the workspace.
  std::string manifest(const std::string& capabilities) {
    scene().write("tools/notes/tool.py", "import os\nprint(sorted(os.listdir('.')))\n");
    return scene().write(
        "tools/notes/manifest.json",
        R"({"name": "notes", "description": "d", "input_schema": {"type": "object"}, "code": "tool.py",
                             "capabilities": )" +
            capabilities + "}");
  }

  Words of_executor(const std::string& capabilities, const Words& flags = {}) {
    Words all = {"--backend", "bwrap", "--toolchains", "none", "--executor", manifest(capabilities)};
    all.insert(all.end(), flags.begin(), flags.end());
    return words_of(json_of(all, {"python3", "tool.py"})["argv"]);
  }
};
FOR_EVERYONE(Wrap);

bool has(const Words& words, const Words& wanted) {
  return std::search(words.begin(), words.end(), wanted.begin(), wanted.end()) != words.end();
}

TEST_P(Wrap, APastedCommandKeepsThePlan) {
  NEEDS("bwrap");
  const std::string secret_file = secret();
  const Ran ran = pasted({}, "cd " + workspace().string() + R"( && echo made > file && cat file
cat )" + secret_file + R"( 2>/dev/null || echo hidden
grep -c . /etc/passwd; touch /etc/x /usr/x /x /dev/x 2>/dev/null && echo writable
grep -E '^(Seccomp|NoNewPrivs|CapBnd):' /proc/self/status | tr -d '\t'
cp /bin/true /tmp/t && /tmp/t && echo runs in /tmp
cp /bin/true /dev/shm/t && /dev/shm/t 2>/dev/null || echo not in /dev/shm
grep -c : /proc/net/dev; ls -d /proc/[0-9]* | wc -l | grep -qE '^[0-9]$' && echo few processes
exit 9)");
  EXPECT_TRUE(exited(ran, 9));
  EXPECT_EQ(ran.out, "made\nhidden\n" + std::string(as() == As::nobody ? "2" : "3") +
                         "\nCapBnd:0000000000000000\nNoNewPrivs:1\nSeccomp:2\nruns in /tmp\nnot in "
                         "/dev/shm\n1\nfew processes\n")
      << ran.err;
  EXPECT_EQ(read_file(workspace() / "file"), "made\n");
}

TEST_P(Wrap, HelpNeedsNothingElse) {
  for (const char* word : {"--help", "-h"}) {
    const Ran ran = run({.argv = {cloche(), "wrap", word}, .as = as(), .cwd = workspace()});
    EXPECT_TRUE(exited(ran, 0));
    EXPECT_TRUE(contains(ran.out, "cloche wrap --backend")) << ran.out;
  }
  const Ran ran = run({.argv = {cloche(), "wrap", "--backend", "bwrap", "--", "ls", "--help"},
                       .as = as(),
                       .cwd = workspace(),
                       .env = {{"XDG_STATE_HOME", state_home(as())}}});
  EXPECT_TRUE(contains(ran.out, "ls --help\n")) << "it is the command's: " << ran.out << ran.err;
}

TEST_P(Wrap, ReadonlyStaysReadonly) {
  NEEDS("bwrap");
  const Ran ran = pasted({"--profile", "readonly"}, "touch file /tmp/file ~/file 2>/dev/null || echo no");
  EXPECT_TRUE(printed(ran, "no\n"));
  EXPECT_FALSE(fs::exists(workspace() / "file"));
}

TEST_P(Wrap, GrantsAreShownWhereTheyAreAskedFor) {
  NEEDS("bwrap");
  scene().write("data/a.txt", "data\n");
  scene().write("out/old", "");
  const std::string root = scene().root();
  const Ran ran = pasted({"--ro", root + "/data:/data", "--rw", root + "/out"},
                         "cat /data/a.txt; touch /data/b 2>/dev/null || echo kept; touch " + root +
                             "/out/new; ls -A " + root + "/out | tr '\\n' ' '");
  EXPECT_TRUE(printed(ran, "data\nkept\nnew old "));
}

TEST_P(Wrap, AMountOfTheHostsInTheWorkspaceIsCovered) {
  NEEDS("bwrap");
  if (::geteuid() != 0) GTEST_SKIP() << "skipped: only root can mount";
  file("mnt/below", "");
  const Ran ran = with_own_mounts(
      "mount -t tmpfs none mnt; echo secret > mnt/key; chmod 644 mnt/key; export XDG_STATE_HOME=" +
      state_home(as()) + "; AS=\"${RUN%" + cloche() + " run}\"; $AS " + cloche() +
      " wrap --backend bwrap --toolchains none -- sh -c 'ls -A mnt; echo end' "
      "2>/dev/null > line; $AS sh line");
  EXPECT_TRUE(printed(ran, "end\n"));
}

TEST_P(Wrap, MakesNothingInTheWorkspaceAndKeepsTextsToItself) {
  const fs::path data = scene().write("data/a.txt", "data\n");
  EXPECT_TRUE(exited(wrap({"--backend", "bwrap"}, {"true"}), 0));
  EXPECT_TRUE(refused(
      wrap({"--backend", "bwrap", "--ro", data.string() + ":" + workspace().string() + "/ghost"}, {"true"}),
      {125}, {"ghost", "does not exist"}));
  EXPECT_TRUE(fs::is_empty(workspace()));
  size_t texts = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(state_home(as())) / "cloche/texts")) {
    struct stat seen {};
    ASSERT_EQ(::stat(entry.path().c_str(), &seen), 0);
    EXPECT_EQ(seen.st_mode & 0777, 0600U) << entry.path();
    ++texts;
  }
  EXPECT_GE(texts, 5U);
}

TEST_P(Wrap, JsonHasTheSameWords) {
  const Json json = json_of({"--backend", "bwrap"}, {"echo", "a  b", "it's"});
  const Words words = words_of(json["argv"]);
  ASSERT_FALSE(words.empty());
  EXPECT_EQ(words.front(), "bwrap");
  EXPECT_TRUE(has(words, {"--", "echo", "a  b", "it's"}));
  const auto& missing = json["missing"].array;
  const bool by_root = as() == As::self && is_root();
  ASSERT_EQ(missing.size(), by_root ? 3U : 1U);
  for (const auto& layer : missing) {
    EXPECT_FALSE(layer["layer"].string.empty());
    EXPECT_FALSE(layer["fix"].string.empty());
  }
}

TEST_P(Wrap, AnExecutorHasItsFolderAndNothingElse) {
  NEEDS("bwrap");
  const std::string folder = scene().root() / "tools/notes";
  const Words words = of_executor("[]");
  EXPECT_TRUE(has(words, {"--ro-bind", folder, folder}));
  EXPECT_TRUE(has(words, {"--unshare-net"}));
  EXPECT_FALSE(has(words, {"--bind"}));
  const Ran ran = run({.argv = words, .as = as(), .cwd = workspace()});
  EXPECT_TRUE(printed(ran, "['manifest.json', 'tool.py']\n"));
}

TEST_P(Wrap, HintsOfAnExecutorBecomeBinds) {
  const std::string home = scene().root() / "home";
  scene().write("home/notes/a.md", "");
  scene().write("home/out/b.md", "");
  const std::string notes = home + "/notes";
  const std::string out = home + "/out";
  const Words strings = of_executor(
      R"(["fs:read:~/notes/**", "fs:read:~/notes/*.md", "fs:write:~/out/**/*.md", "fs:read:~/absent/**", "mail:send"])");
  EXPECT_TRUE(has(strings, {"--ro-bind", notes, notes}));
  EXPECT_TRUE(has(strings, {"--bind", out, out}));
  EXPECT_EQ(std::count(strings.begin(), strings.end(), notes), 2) << "once as source, once as target";
  EXPECT_FALSE(has(strings, {home + "/absent"}));
  EXPECT_TRUE(has(strings, {"--unshare-net"}));
  const Words objects = of_executor(
      R"([{"kind": "fs", "mode": "read", "hints": ["~/notes/**"]}, {"kind": "fs", "mode": "write", "hints": ["~/out/**/*.md"]}])");
  EXPECT_EQ(objects, strings) << "strings and objects say the same";
}

TEST_P(Wrap, ANetworkCapabilityLeavesTheNetworkUnlessTheProfileHasNone) {
  const std::string capabilities = R"(["network:https:api.example.org"])";
  EXPECT_FALSE(has(of_executor(capabilities), {"--unshare-net"}));
  EXPECT_TRUE(has(of_executor(capabilities, {"--profile", "workspace-write-no-network"}), {"--unshare-net"}));
  const Ran ran = wrap({"--backend", "bwrap", "--executor", manifest(capabilities)}, {"true"});
  EXPECT_TRUE(contains(ran.err, "net-namespace")) << ran.err;
}

// For every caller: what a tool declares is no answer to that.
TEST_P(Wrap, AConfiguredProfileWithoutNetworkIsKept) {
  const std::string capabilities = R"(["network:https:api.example.org"])";
  const char* configurations[] = {R"({"rules": [{"tool": "*", "profile": "readonly"}]})",
                                  R"({"rules": [{"tool": "notes", "profile": "readonly"}]})",
                                  R"({"rules": [{"tool": "run_shell", "profile": "readonly"}]})",
                                  R"({"default_profile": "workspace-write-no-network"})"};
  for (const char* file : {"home/.config/cloche/config.json", "workspace/.cloche/config.json"}) {
    for (const char* configuration : configurations) {
      scene().write(file, configuration);
      EXPECT_TRUE(has(of_executor(capabilities), {"--unshare-net"})) << file << configuration;
      const Ran bundle = wrap({"--backend", "oci", "--executor", manifest(capabilities)}, {"true"});
      EXPECT_TRUE(contains(bundle.out, R"("type": "network")")) << file << configuration;
      EXPECT_TRUE(contains(bundle.err, "the sandbox profile has no network: ")) << bundle.err;
    }
    fs::remove(scene().root() / file);
  }
  EXPECT_FALSE(has(of_executor(capabilities), {"--unshare-net"}));
}

// As `cloche run --skill` has it.
TEST_P(Wrap, ASkillHasTheNetworkThatTheProfileGives) {
  const std::string skill = scene().write(
      "skills/SKILL.md", "---\nname: fetch\ndescription: d\nneeds_network: [api.example.org]\n---\n");
  const Words flags = {"--backend", "bwrap", "--skill", skill};
  const Ran closed = wrap(flags, {"true"});
  EXPECT_TRUE(contains(closed.out, " --unshare-net ")) << closed.out;
  EXPECT_TRUE(contains(closed.err, "the sandbox profile has no network: api.example.org cannot be reached"))
      << closed.err;
  Words open = flags;
  open.insert(open.end(), {"--profile", "workspace-write"});
  EXPECT_FALSE(contains(wrap(open, {"true"}).out, " --unshare-net "));
  scene().write("home/.config/cloche/config.json", R"({"rules": [{"tool": "*", "profile": "readonly"}]})");
  EXPECT_TRUE(contains(wrap(open, {"true"}).out, " --unshare-net "));
  EXPECT_TRUE(exited(cloche_run({"--profile", "workspace-write", "--skill", skill}, {"true"},
                                {.env = {{"HOME", scene().root() / "home"}}}),
                     0))
      << "left out there as well, with the same note";
}

TEST_P(Wrap, ABoxOfRunscHasNoNetworkOut) {
  const std::string capabilities = R"(["network:https:api.example.org"])";
  const Ran bundle =
      wrap({"--backend", "oci", "--runtime", "runsc", "--executor", manifest(capabilities)}, {"true"});
  EXPECT_TRUE(contains(bundle.out, R"("type": "network")")) << bundle.out;
  EXPECT_TRUE(contains(bundle.err, "a box of runsc has no network out")) << bundle.err;
}

TEST_P(Wrap, ABundleRunsByRunc) {
  NEEDS("runc");
  const std::string bundle = scene().root() / "bundle";
  const Ran made = wrap({"--backend", "oci", "--toolchains", "none", "--bundle", bundle},
                        {"sh", "-c",
                         "echo made > file; cat file; touch /x /dev/x 2>/dev/null || echo kept; "
                         "grep Seccomp: /proc/self/status | tr -d '\\t'; exit 7"});
  ASSERT_TRUE(exited(made, 0));
  EXPECT_EQ(read_file(bundle + "/config.json"), made.out);
  const Ran ran = paste("runc --root " + scene().root().string() + "/runc run -b " + bundle + " box" +
                        std::to_string(::getpid()));
  if (contains(ran.err, "runc run failed")) GTEST_SKIP() << "skipped: runc does not work here: " << ran.err;
  EXPECT_TRUE(exited(ran, 7));
  EXPECT_EQ(ran.out, "made\nkept\nSeccomp:2\n");
}

// Configured is not enforced: a bundle of root's has a limit that the kernel does not hold against root.
TEST_P(Wrap, TheProcessLimitOfABundleHoldsOrIsNamed) {
  NEEDS("runc");
  const std::string bundle = scene().root() / "bundle";
  const Ran made =
      wrap({"--backend", "oci", "--toolchains", "none", "--pids", "5", "--bundle", bundle},
           {"python3", "-c",
            "import os, time\ncount = 0\ntry:\n  while count < 20:\n    if os.fork() == 0: time.sleep(5); "
            "os._exit(0)\n    count += 1\nexcept OSError: pass\nprint(count, flush=True)"});
  ASSERT_TRUE(exited(made, 0));
  const Ran ran = paste("runc --root " + scene().root().string() + "/runc run -b " + bundle + " pids" +
                        std::to_string(::getpid()));
  if (contains(ran.err, "runc run failed")) GTEST_SKIP() << "skipped: runc does not work here: " << ran.err;
  const bool named = contains(made.err, "not enforced: process-limit");
  EXPECT_EQ(named, as() != As::nobody) << made.err;
  EXPECT_EQ(ran.out == "20\n", named) << ran.out << ran.err;
}

TEST_P(Wrap, WordsThatJsonCannotCarryAreRefusedThere) {
  for (const char* backend : {"bwrap", "seatbelt"}) {
    const Ran json = wrap({"--backend", backend, "--json"}, {"rm", "k\xff"});
    EXPECT_EQ(json.exit_code, 125) << json.out;
    EXPECT_TRUE(contains(json.err, "is not UTF-8")) << json.err;
    const Ran line = wrap({"--backend", backend}, {"rm", "k\xff"});
    EXPECT_TRUE(exited(line, 0));
    EXPECT_TRUE(contains(outside("printf '%s\\n' " + line.out).out, "k\xff")) << line.out;
  }
}

TEST_P(Wrap, SeatbeltPrintsItsProfile) {
  const Words words = words_of(json_of({"--backend", "seatbelt"}, {"make", "test"})["argv"]);
  ASSERT_GE(words.size(), 6U);
  EXPECT_EQ(words[0], "sandbox-exec");
  EXPECT_TRUE(words[2].starts_with("(version 1)\n(deny default)\n"));
  EXPECT_TRUE(contains(words[2], "(allow file-write* (subpath \"" + workspace().string() + "\"))"));
  EXPECT_TRUE(has(words, {"make", "test"}));
}

TEST_P(Wrap, AnswersByTheTableOfExitCodes) {
  EXPECT_TRUE(refused(wrap({"--backend", "docker"}, {"ls"}), {2}, {"no such backend"}));
  EXPECT_TRUE(
      refused(wrap({"--backend", "bwrap", "--ro", "/no/such/file"}, {"ls"}), {125}, {"no such file"}));
  EXPECT_TRUE(refused(wrap({"--backend", "bwrap", "--executor", "/no/such/manifest.json"}, {"ls"}), {125},
                      {"manifest"}));
  const Ran said = wrap({"--backend", "bwrap", "--json", "--ro", "/no/such/file"}, {"ls"});
  const auto json = parse_json(said.out);
  ASSERT_TRUE(json) << said.out;
  EXPECT_TRUE(contains((*json)["reason"].string, "no such file"));
  file(".cloche/config.json",
       R"({"permissions": {"rules": [{"tool": "run_shell", "args": {"cmd": "^ls"}, "action": "deny",
    "reason": "no listing", "match": ["ls"], "not_match": ["cat"]}]}})");
  EXPECT_TRUE(refused(wrap({"--backend", "bwrap"}, {"ls"}), {126}, {"rules", "no listing"}));
}

// A caller who required more is never handed less, whichever source said it; in the words of `cloche run`.
TEST_P(Wrap, ABoxBelowTheRequiredLevelIsRefused) {
  const Words bwrap = {"--backend", "bwrap"};
  const Words runc = {"--backend", "oci"};
  const Words gvisor = {"--backend", "oci", "--runtime", "runsc"};
  const auto with = [](Words flags, const Words& more) {
    flags.insert(flags.end(), more.begin(), more.end());
    return flags;
  };
  const auto expect_gvisor_alone = [&](const Words& flags, int code, const char* on_bwrap,
                                       const char* on_runc) {
    EXPECT_TRUE(refused(wrap(with(bwrap, flags), {"true"}), {code}, {"gvisor", on_bwrap}));
    EXPECT_TRUE(refused(wrap(with(runc, flags), {"true"}), {code}, {"gvisor", on_runc}));
    EXPECT_TRUE(exited(wrap(with(gvisor, flags), {"true"}), 0));
  };
  expect_gvisor_alone({"--isolation", "gvisor"}, 2, "has the isolation level namespace, not",
                      "has the isolation level container, not");
  expect_gvisor_alone(
      {"--executor", manifest(R"([], "isolation": "gvisor")")}, 125,
      "the executor notes requires the isolation level gvisor, and the backend bwrap is not on it",
      "the backend runc is not on it");
  file(".cloche/config.json", R"({"isolation": "gvisor"})");
  expect_gvisor_alone({}, 125, "requires the isolation level gvisor, and the backend bwrap is not on it",
                      "the backend runc is not on it");
  file(".cloche/config.json", R"({"isolation": "container"})");
  EXPECT_TRUE(refused(wrap(bwrap, {"true"}), {125}, {"requires the isolation level container"}));
  EXPECT_TRUE(exited(wrap(runc, {"true"}), 0));
}

// Whoever runs the words by hand has no look afterwards.
TEST_P(Wrap, SaysWhatNobodyDoesByHand) {
  for (const char* backend : {"bwrap", "oci", "seatbelt"}) {
    const Ran ran = wrap({"--backend", backend, "--toolchains", "none"}, {"true"});
    EXPECT_TRUE(contains(ran.err, "neither quarantined nor undone afterwards")) << ran.err;
    const Ran still = wrap({"--backend", backend, "--toolchains", "none", "--profile", "readonly"}, {"true"});
    EXPECT_FALSE(contains(still.err, "quarantined")) << still.err;
  }
}

}  // namespace
}  // namespace cloche::test
