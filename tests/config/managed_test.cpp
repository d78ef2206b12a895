// The managed file, /etc/cloche/config.json, over everything else. Shown to the commands of a test by a mount
// namespace of its own, in which /etc is a copy with such a file; it ends with the command.
#include <unistd.h>

#include "config/fixture.hpp"

namespace cloche::test {
namespace {

class Managed : public Configured {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "skipped: only root can show another /etc";
  }
  // A script in which $CLOCHE is Cloche as the identity, under this managed file.
  Ran under(const std::string& managed, const std::string& script) {
    scene().write("managed.json", managed);
    const std::string etc = (root() / "etc").string();
    const std::string become =
        as() == As::nobody ? "setpriv --reuid 65534 --regid 65534 --clear-groups " : "";
    return run(
        {.argv = {"unshare", "-m", "sh", "-c",
                  "set -e; cp -a /etc '" + etc + "'; mkdir -p '" + etc + "/cloche'; cp '" +
                      (root() / "managed.json").string() + "' '" + etc + "/cloche/config.json'; " +
                      "chown -R 0:0 '" + etc + "/cloche'; mount --bind '" + etc + "' /etc; " +
                      "set +e; CLOCHE='" + become + cloche() + "'; " + script},
         .cwd = workspace(),
         .env = {{"XDG_CONFIG_HOME", (root() / "config").string()}, {"XDG_STATE_HOME", state_home(as())}}});
  }
};
FOR_EVERYONE(Managed);

TEST_P(Managed, NoFlagAndNoUserGoesBeyondIt) {
  user_file(R"({"autonomy": "full", "default_profile": "workspace-write", "limits": {"pids": 400}})");
  const Ran ran = under(
      R"({"autonomy": "readonly", "default_profile": "readonly", "limits": {"timeout": "1s", "pids": 100}})",
      "$CLOCHE run --timeout 30s --profile workspace-write -- sh -c 'touch made; sleep 20'; echo $?\n"
      "$CLOCHE call write_artifact '{\"path\": \"a\", \"content\": \"b\"}' --autonomy full; echo $?\n"
      "$CLOCHE config --pids 200 --autonomy full");
  EXPECT_TRUE(contains(ran.out, "124\n")) << ran.out << ran.err;
  EXPECT_TRUE(contains(ran.err, "Read-only file system")) << ran.err;
  EXPECT_TRUE(contains(ran.out, "autonomy readonly writes nothing")) << ran.out << ran.err;
  EXPECT_TRUE(
      contains(ran.out, "autonomy            \"readonly\"                    /etc/cloche/config.json:1"))
      << ran.out;
  EXPECT_TRUE(
      contains(ran.out, "limits.pids         \"100\"                         /etc/cloche/config.json:1"))
      << ran.out;
  EXPECT_TRUE(contains(ran.out, "overruled: \"full\" of " + user_path() + ":1")) << ran.out;
  EXPECT_FALSE(fs::exists(workspace() / "made"));
}

TEST_P(Managed, WhatItDoesNotForbidTheUserMay) {
  user_file(R"({"limits": {"timeout": "20s"}})");
  const Ran ran = under(R"({"limits": {"timeout": "30s"}, "durable": true})",
                        "$CLOCHE run -- sh -c 'touch made'; echo $?; $CLOCHE config");
  EXPECT_TRUE(contains(ran.out, "0\n")) << ran.out << ran.err;
  EXPECT_TRUE(contains(ran.out, "limits.timeout      \"20s\"")) << ran.out;
  EXPECT_TRUE(
      contains(ran.out, "durable             true                          /etc/cloche/config.json:1"))
      << ran.out;
  EXPECT_TRUE(fs::exists(workspace() / "made"));
}

TEST_P(Managed, ABackgroundCommandHasNoMoreThanItGives) {
  user_file(R"({"background": "live"})");
  const Ran ran = under(R"({"background": "commit"})", "$CLOCHE config");
  EXPECT_TRUE(contains(ran.out,
                       "background          \"commit\"                      /etc/cloche/config.json:1\n"
                       "                    overruled: \"live\" of " +
                           user_path() + ":1\n"))
      << ran.out << ran.err;
}

TEST_P(Managed, OneThatCannotBeReadRefusesEverything) {
  const Ran ran = under("{\n\"autonomy\": 1}", "$CLOCHE run -- touch made; echo $?");
  EXPECT_EQ(ran.out, "125\n");
  EXPECT_TRUE(contains(ran.err, "/etc/cloche/config.json:2: autonomy is not")) << ran.err;
  EXPECT_FALSE(fs::exists(workspace() / "made"));
}

// Who can write there can take the file away: that it is gone says nothing then.
TEST_P(Managed, ADirectoryThatOthersCanWriteRefusesEverything) {
  const Ran ran = under("{}",
                        "chmod 0777 /etc/cloche; $CLOCHE run -- touch made; echo $?\n"
                        "rm /etc/cloche/config.json; $CLOCHE run -- touch made; echo $?\n"
                        "$CLOCHE doctor");
  EXPECT_TRUE(ran.out.starts_with("125\n125\n")) << ran.out << ran.err;
  EXPECT_TRUE(contains(ran.err, "/etc/cloche can be written by every user")) << ran.err;
  EXPECT_TRUE(contains(ran.out, "/etc/cloche can be written by every user")) << ran.out;
  EXPECT_FALSE(fs::exists(workspace() / "made"));
}

// A link leads to root's own file, in a directory where another user can put another in its place.
TEST_P(Managed, NorMayALinkLeadToWhereOthersCanWrite) {
  const Ran ran =
      under("{}",
            "mkdir ../other; mv /etc/cloche/config.json ../other/; chown 65534 ../other; "
            "ln -s \"${PWD%/*}/other/config.json\" /etc/cloche/; $CLOCHE run -- touch made; echo $?\n");
  EXPECT_EQ(ran.out, "125\n");
  EXPECT_TRUE(contains(ran.err, "/other belongs to another user")) << ran.err;
}

TEST_P(Managed, NoVariableSwitchesOffWhatItSwitchesOn) {
  const Ran ran = under(R"({"enabled": true})",
                        "export CLOCHE_SANDBOX=off; $CLOCHE run -- grep Seccomp: /proc/self/status\n"
                        "$CLOCHE mcp </dev/null");
  EXPECT_EQ(ran.out, "Seccomp:\t2\n") << ran.err;
  const std::string note = "note: CLOCHE_SANDBOX=off is not honoured: the managed file says enabled\n";
  const size_t first = ran.err.find(note);
  ASSERT_NE(first, std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find(note, first + 1), std::string::npos) << "from mcp too: " << ran.err;
}

}  // namespace
}  // namespace cloche::test
