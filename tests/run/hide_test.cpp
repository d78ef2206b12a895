// `--hide`: what a command can neither read nor change, by any name and on every backend with mounts.
#include <signal.h>

#include <thread>

#include "run/fixture.hpp"

namespace cloche::test {
namespace {

class Hide : public Run {
 protected:
  void SetUp() override {
    Run::SetUp();
    file(".env", "SECRET=one\n");
    file("sub/.env", "SECRET=two\n");
    file("keys/deep/a.key", "SECRET=three\n");
    file("plain", "text\n");
  }
  Answer hidden(const std::string& script, std::vector<std::string> flags = {}) const {
    flags.insert(flags.end(), {"--hide", "**/.env", "--hide", "keys"});
    return answer(std::move(flags), {"bash", "-c", script});
  }
  void expect_as_it_was() const {
    EXPECT_EQ(read_file(workspace() / ".env"), "SECRET=one\n");
    EXPECT_EQ(read_file(workspace() / "sub/.env"), "SECRET=two\n");
    EXPECT_EQ(read_file(workspace() / "keys/deep/a.key"), "SECRET=three\n");
  }
};
FOR_EVERYONE(Hide);

constexpr const char* read_all_ways = R"(
cat .env sub/.env keys/deep/a.key; grep -rs SECRET .; cat /proc/self/root$PWD/.env /proc/self/cwd/sub/.env
ln .env second && cat second; ln -s .env link; cat link; cp .env copy; cat copy; dd if=sub/.env; tar c . | grep -a SECRET
chmod 777 .env keys; cat .env; ls keys; mv .env moved; cat moved; mv keys moved-keys && cat moved-keys/deep/a.key
mv sub moved-sub; cat moved-sub/.env; rm -f .env; cat .env; umount .env; cat .env; echo new > .env
find . -name .env -o -name keys | sort; cat plain; true)";

TEST_P(Hide, NothingOfItCanBeReadOnAnyBackend) {
  for (const char* backend : {"native", "bwrap", "runc", "crun", "runsc"}) {
    if (std::string(backend) != "native" && !installed(backend)) continue;
    for (const char* writes : {"commit", "live"}) {
      const std::string name = std::string(backend) + " " + writes;
      const Answer ran = hidden(read_all_ways, {"--backend", backend, "--writes", writes});
      EXPECT_EQ(ran.json["exit_code"].number, 0) << name << ran.ran.out << ran.ran.err;
      EXPECT_FALSE(contains(ran.json["stdout"].string, "SECRET")) << name << ran.ran.out;
      EXPECT_TRUE(contains(ran.json["stdout"].string, "./.env\n./keys\n")) << name << ran.ran.out;
      EXPECT_TRUE(contains(ran.json["stdout"].string, "text\n")) << name << ran.ran.out;
      EXPECT_TRUE(fs::exists(workspace() / ".env")) << name;
      // What an ordinary cp made of it may be there; the hidden files are as they were.
      ASSERT_TRUE(exited(outside("test -d sub || mv moved-sub sub; rm -rf copy link moved-sub"), 0));
      expect_as_it_was();
    }
  }
  // The control: without the flag each of them is read.
  const Answer shown = answer({"--writes", "commit"}, {"cat", ".env", "sub/.env", "keys/deep/a.key"});
  EXPECT_EQ(shown.json["stdout"].string, "SECRET=one\nSECRET=two\nSECRET=three\n");
}

TEST_P(Hide, AnotherGrantOrViewDoesNotShowIt) {
  const std::string here = workspace();
  for (const std::vector<std::string>& flags :
       std::vector<std::vector<std::string>>{{"--ro", here + ":/mnt/again"},
                                             {"--ro", here + "/sub:/mnt/again"},
                                             {"--view", "host"},
                                             {"--profile", "readonly"}}) {
    const Answer ran = hidden("cat /mnt/again/.env /mnt/again/sub/.env .env sub/.env; true", flags);
    EXPECT_EQ(ran.json["stdout"].string, "") << flags.back() << ran.ran.out;
    EXPECT_EQ(ran.json["exit_code"].number, 0) << flags.back() << ran.ran.out << ran.ran.err;
  }
  for (const char* grant : {"/.env", "/keys", "/keys/deep"}) {
    const Ran ran = cloche_run({"--hide", "**/.env", "--hide", "keys", "--ro", here + grant}, {"true"});
    EXPECT_TRUE(refused(ran, {125, 126}, {"is to be hidden"})) << grant;
  }
}

TEST_P(Hide, ALinkHidesWhatItLeadsTo) {
  ASSERT_TRUE(
      exited(outside("mkdir real; echo SECRET > real/key; ln -s real config; ln -s real/key direct"), 0));
  const char* reads = "cat config/key real/key direct; true";
  for (const char* link : {"config/key", "direct"}) {
    const std::vector<std::string> both = {"--hide", link, "--hide", "real/key"};
    EXPECT_EQ(answer(both, {"bash", "-c", reads}).json["stdout"].string, "");
    // By the link alone a call could remove that, and the next one would read it.
    EXPECT_TRUE(refused(cloche_run({"--hide", link}, {"true"}), {125, 126}, {"only by way of the link"}));
  }
  EXPECT_EQ(answer({"--hide", "other"}, {"bash", "-c", reads}).json["stdout"].string,
            "SECRET\nSECRET\nSECRET\n");
}

TEST_P(Hide, ANameThatIsNewIsWithheld) {
  const Answer ran = answer({"--writes", "commit", "--hide", "**/.npmrc", "--hide", "vault"},
                            {"bash", "-c",
                             "mkdir -p a vault; echo x > a/.npmrc; echo x > .NPMRC; echo x > "
                             "vault/x; echo x > fine"});
  EXPECT_TRUE(fs::exists(workspace() / "fine")) << ran.ran.out;
  EXPECT_FALSE(fs::exists(workspace() / "a/.npmrc") || fs::exists(workspace() / ".NPMRC") ||
               fs::exists(workspace() / "vault"))
      << ran.ran.out;
  size_t withheld = 0;
  for (const auto& path : ran.json["changes"]["paths"].array)
    if (contains(path["reason"].string, "hidden")) ++withheld;
  EXPECT_GE(withheld, 3U) << ran.ran.out;
}

TEST_P(Hide, AnotherNameOfTheFileIsRefused) {
  ASSERT_TRUE(exited(outside("ln .env second"), 0));
  const Ran ran = cloche_run({"--hide", ".env"}, {"cat", "second"});
  EXPECT_TRUE(refused(ran, {125, 126}, {"another name (a hard link)"}));
  EXPECT_FALSE(contains(ran.out, "SECRET"));
}

// Between two calls: where the first one could move a directory, the second would not find the file.
TEST_P(Hide, NoCallMovesItOutOfItsPattern) {
  for (const char* writes : {"commit", "live"}) {
    const std::vector<std::string> flags = {"--writes", writes, "--hide", "sub/.env"};
    answer(flags, {"bash", "-c", "mv sub gone; chmod 0 sub; true"});
    const Answer ran = answer(flags, {"bash", "-c", "chmod 755 sub; cat sub/.env gone/.env; true"});
    EXPECT_FALSE(contains(ran.json["stdout"].string, "SECRET")) << writes << ran.ran.out;
    ASSERT_TRUE(exited(outside("chmod 755 sub; rm -rf gone; cat sub/.env"), 0)) << writes;
    expect_as_it_was();
  }
}

// An ordinary user cannot look into it, and a command could open it again.
TEST_P(Hide, ADirectoryThatACallClosedIsHiddenFromTheNextOne) {
  for (const char* writes : {"commit", "live"}) {
    const std::vector<std::string> flags = {"--writes", writes, "--hide", "**/.env"};
    ASSERT_TRUE(exited(outside("chmod 0 sub"), 0));
    const Answer ran =
        answer(flags, {"bash", "-c", "chmod 755 sub; cat sub/.env; mv sub gone; cat gone/.env; cat plain"});
    EXPECT_EQ(ran.json["stdout"].string, "text\n") << writes << ran.ran.out;
    EXPECT_EQ(contains(ran.ran.out, "is hidden as a whole"), !is_root()) << writes << ran.ran.out;
    ASSERT_TRUE(exited(outside("chmod 755 sub"), 0));
    expect_as_it_was();
  }
}

TEST_P(Hide, ADirectoryThatIsTooDeepIsHiddenAsAWhole) {
  const char* go_down = "for i in $(seq 120); do cd -P d || exit 3; done; cat .env";
  ASSERT_TRUE(
      exited(outside("p=d; for i in $(seq 119); do p=$p/d; done; mkdir -p $p; echo SECRET > $p/.env"), 0));
  for (const char* writes : {"commit", "live"}) {
    const Answer ran = answer({"--writes", writes, "--hide", "**/.env"}, {"bash", "-c", go_down});
    EXPECT_EQ(ran.json["exit_code"].number, 3) << writes << ran.ran.out;
    EXPECT_TRUE(contains(ran.ran.out, "is hidden as a whole")) << writes << ran.ran.out;
  }
  const Answer shown = answer({"--hide", ".env"}, {"bash", "-c", go_down});
  EXPECT_EQ(shown.json["stdout"].string, "SECRET\n") << shown.ran.out;
}

TEST_P(Hide, APatternThatMatchesNothingIsSaid) {
  const Ran ran = cloche_run({"--hide", ".env", "--hide", "*/absent"}, {"true"});
  EXPECT_TRUE(exited(ran, 0));
  EXPECT_TRUE(contains(ran.err, "hide */absent: nothing matches it; quote a pattern")) << ran.err;
  EXPECT_FALSE(contains(ran.err, "hide .env")) << ran.err;
  const Ran explained = words({"--dry-run", "--hide", "*/absent", "--", "true"});
  EXPECT_TRUE(contains(explained.out + explained.err, "nothing matches it"))
      << explained.out << explained.err;
  // A configuration file is for many workspaces.
  scene().write("config/cloche/config.json", R"({"hide": ["vault"]})");
  const Ran configured = cloche_run({}, {"true"}, {.env = {{"XDG_CONFIG_HOME", scene().root() / "config"}}});
  EXPECT_FALSE(contains(configured.err, "nothing matches")) << configured.err;
}

TEST_P(Hide, WithoutMountsItIsRefused) {
  const Ran ran = cloche_run({"--isolation", "subprocess", "--hide", ".env"}, {"cat", ".env"});
  EXPECT_TRUE(refused(ran, {125, 126}, {"hidden by the operator"}));
  EXPECT_FALSE(contains(ran.out, "SECRET"));
}

TEST_P(Hide, AMemberOfTheProtectedSetAsWell) {
  file(".envrc", "export SECRET=four\n");
  file(".vscode/tasks.json", "SECRET\n");
  for (const char* writes : {"commit", "live"}) {
    const Answer ran = answer({"--writes", writes, "--hide", ".envrc", "--hide", ".vscode"},
                              {"bash", "-c", "cat .envrc .vscode/tasks.json; cat plain"});
    EXPECT_EQ(ran.json["stdout"].string, "text\n") << writes << ran.ran.out;
  }
}

TEST_P(Hide, ADirectoryWrittenLiveIsHiddenAsWell) {
  scene().write("config/cloche/config.json",
                R"({"live_paths": ["keys", "sub"], "hide": ["keys", "sub/.env"]})");
  const Answer ran = answer({"--writes", "commit"}, {"bash", "-c", "cat keys/deep/a.key sub/.env; true"},
                            {.env = {{"XDG_CONFIG_HOME", scene().root() / "config"}}});
  EXPECT_FALSE(contains(ran.json["stdout"].string, "SECRET")) << ran.ran.out;
  EXPECT_EQ(ran.json["exit_code"].number, 0) << ran.ran.out << ran.ran.err;
}

// The host saves a new file under the name while a command runs.
TEST_P(Hide, WhatTheHostPutsInItsPlaceIsNotSeenThroughALayer) {
  Started running(under({"--writes", "commit", "--hide", ".env"},
                        {"bash", "-c", "echo > up; until [ -e plain2 ]; do sleep 0.02; cat .env; done"},
                        {.input = ""}));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  ASSERT_TRUE(exited(outside("echo SECRET=new > .env.new; mv .env.new .env"), 0));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  ASSERT_TRUE(exited(outside("echo > plain2"), 0));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  ::kill(running.pid(), SIGTERM);
  const Ran ran = running.finish();
  EXPECT_FALSE(contains(ran.out, "SECRET")) << ran.out;
  EXPECT_TRUE(contains(ran.err, "Permission denied")) << ran.err;
}

TEST_P(Hide, ProjectsMayAddToIt) {
  file(".cloche/config.json", R"({"hide": [".env"]})");
  scene().write("config/cloche/config.json", R"({"hide": ["sub/.env"]})");
  const Command how{.env = {{"XDG_CONFIG_HOME", scene().root() / "config"}}};
  const Answer ran =
      answer({"--hide", "keys"}, {"bash", "-c", "cat .env sub/.env keys/deep/a.key; cat plain"}, how);
  EXPECT_EQ(ran.json["stdout"].string, "text\n") << ran.ran.out;
}

TEST_P(Hide, ExplainSaysWhatAndAtWhatPrice) {
  const Ran ran = words({"--dry-run", "--hide", "**/.env", "--", "true"});
  EXPECT_TRUE(contains(ran.out + ran.err, "hidden: 2 paths, ")) << ran.out << ran.err;
  EXPECT_TRUE(contains(ran.out + ran.err, "each call searches all directories")) << ran.out << ran.err;
}

}  // namespace
}  // namespace cloche::test
