// What is said of a call's network: whose list it was, at which ports, and hints that help; and what of the
// operator's own flags does not go together with it.
#include <signal.h>

#include "egress/fixture.hpp"
#include "egress/processes.hpp"

namespace cloche::test {
namespace {

class NetworkWords : public Egress {
 protected:
  // Of the operator's own.
  std::string skill(const std::string& keys) {
    return scene().write("own/SKILL.md", "---\nname: small\ndescription: d\n" + keys + "\n---\nText.\n");
  }
  Command tool_call(const std::string& script, const Words& flags) {
    Command command;
    command.argv = {built("cloche"),
                    "call",
                    "run_script",
                    R"({"interpreter":"bash","code":")" + script + R"("})",
                    "--json",
                    "--autonomy",
                    "full",
                    "--commands",
                    "any"};
    command.argv.insert(command.argv.end(), flags.begin(), flags.end());
    command.as = as();
    command.cwd = workspace();
    command.env.emplace("XDG_STATE_HOME", state_home(as()));
    return command;
  }
};

TEST_P(NetworkWords, TheLimitsOfASkillHoldForACommandOfTheOperators) {
  const std::string keys =
      "needs_network: ['tool.cloche.test:7002']\nlimits: {net-bytes: 100K, timeout: 20s}";
  const Words pull = {"pull", "tool.cloche.test", "7002", "100000000000"};
  const Called called = client({}, pull, {"--skill", skill(keys), "--profile", "workspace-write"});
  EXPECT_TRUE(called.denied("the connection to tool.cloche.test:7002 was ended: too many bytes")) << called;
  EXPECT_TRUE(called.denied("--net-bytes by skill small")) << called;
  EXPECT_LE(called.use_of("tool.cloche.test:7002").bytes_in, 100 << 10) << called;
  const Called smaller =
      client({}, pull, {"--skill", skill(keys), "--profile", "workspace-write", "--net-bytes", "10K"});
  EXPECT_LE(smaller.use_of("tool.cloche.test:7002").bytes_in, 10 << 10) << "a skill gives no more\n"
                                                                        << smaller;
}

// A name alone would mean 80 and 443. Where there is no door the kernel refuses, and no process hears of it.
TEST_P(NetworkWords, AnUndeclaredPortIsTheKernelsRefusal) {
  const Called called = shell({"tool.cloche.test:7001"}, "getent hosts evil.cloche.test; " +
                                                             client_program() + " connect 198.18.1.0 7002; " +
                                                             client_program() + " connect 198.18.1.0 80");
  EXPECT_EQ(called.out, "ECONNREFUSED\nECONNREFUSED\n") << called;
  ASSERT_EQ(called.denials.size(), 1U) << called;
  EXPECT_TRUE(called.denied("refused: not declared (--net: [tool.cloche.test:7001])")) << called;
  const Called web = shell({"tool.cloche.test:443"}, "getent hosts evil.cloche.test");
  EXPECT_TRUE(web.denied("not declared (--net: [tool.cloche.test:443])")) << web;
}

TEST_P(NetworkWords, TheFlagForAnyNameIsCalledByItsName) {
  const Called any = shell({"net-any", "localhost:7001"}, "getent hosts _x.cloche.test");
  EXPECT_TRUE(any.denied("not declared (--net-any, --net: [localhost:7001])")) << any;
  const Ran unnamed = run(tool_call("getent hosts evil.cloche.test",
                                    {"--skill", skill("needs_network: true"), "--net", "tool.cloche.test"}));
  EXPECT_TRUE(contains(
      unnamed.out,
      "not declared (skill small, needs_network: true, with the operator's hosts: [tool.cloche.test])"))
      << unnamed.out << unnamed.err;
}

// That nothing changes by trying again is said of what was refused, not of what was cut off.
TEST_P(NetworkWords, AfterAKilledGateTryingAgainIsNotCalledUseless) {
  const size_t before = stage().source.accepted();
  Started call(tool_call(client_program() + " pull tool.cloche.test 7002 900000000000000",
                         {"--net", "tool.cloche.test:7002"}));
  int gate = 0;
  ASSERT_TRUE(soon([&] { return stage().source.accepted() > before; }));
  ASSERT_TRUE(soon([&] { return (gate = gate_of(call.pid())) > 0; }));
  kill(gate, SIGKILL);
  const Ran ran = call.finish();
  const auto json = parse_json(ran.out);
  ASSERT_TRUE(json) << ran.out << ran.err;
  const std::string result = (*json)["result"].string;
  EXPECT_TRUE(contains(result, "it has no network any more; run it again]")) << result;
  EXPECT_FALSE(contains(result, "trying again changes nothing")) << result;
}

// --net-host is for an operator's own command, and not in gVisor.
TEST_P(NetworkWords, HintsNameWhatCanBeHad) {
  for (const char* rung : {"subprocess", "namespace"}) {
    const Words box =
        std::string(rung) == "namespace" ? Words{"--backend", "bwrap"} : Words{"--isolation", rung};
    Words flags = {"--net", "tool.cloche.test"};
    flags.insert(flags.end(), box.begin(), box.end());
    const Ran ran = run(tool_call("true", flags));
    EXPECT_NE(ran.exit_code, 0) << rung;
    EXPECT_FALSE(contains(ran.out + ran.err, "--net-host")) << ran.out << ran.err;
  }
  const Ran runsc = cloche_run({"--net", "tool.cloche.test", "--backend", "runsc"}, {"true"});
  EXPECT_NE(runsc.exit_code, 0);
  EXPECT_FALSE(contains(runsc.err, "--net-host")) << runsc.err;
}

TEST_P(NetworkWords, TooFewDescriptorsAreNamedAsSuch) {
  Command command = under({"--net", "tool.cloche.test"}, {"getent", "hosts", "tool.cloche.test"});
  for (const char* most : {"18", "20", "22", "24", "26", "28", "30", "32"}) {
    Command limited = command;
    limited.argv.insert(limited.argv.begin(),
                        {"/bin/sh", "-c", "ulimit -n " + std::string(most) + "; exec \"$@\"", "sh"});
    const Ran ran = run(limited);
    EXPECT_FALSE(contains(ran.err, "belongs beside cloche")) << most << ": " << ran.err;
    EXPECT_TRUE(ran.exit_code == 0 || contains(ran.err, "open files") || contains(ran.err, "ulimit"))
        << most << ": " << ran.exit_code << " " << ran.err;
  }
}

TEST_P(NetworkWords, AGrantOverTheFilesOfNamesIsRefused) {
  for (const char* grant : {"/etc", "/etc/hosts", "/etc/hosts:/etc/resolv.conf"}) {
    const Ran ran = cloche_run({"--net", "tool.cloche.test", "--ro", grant}, {"true"});
    EXPECT_TRUE(refused(ran, {125}, {"--ro /etc", "so that no name would be found"})) << grant;
  }
  EXPECT_TRUE(printed(cloche_run({"--ro", "/etc/hosts"}, {"cat", "/etc/hosts"}), read_file("/etc/hosts")))
      << "without a network it is the operator's to show";
}

// Also where the view has files and links of its own in it.
TEST_P(NetworkWords, AGrantedDirectoryIsShownAsItIs) {
  EXPECT_TRUE(printed(cloche_run({"--ro", "/etc"}, {"cat", "/etc/passwd"}), read_file("/etc/passwd")));
  EXPECT_EQ(cloche_run({"--ro", "/var"}, {"test", "-d", "/var/lib"}).exit_code, 0);
}

FOR_EVERYONE(NetworkWords);

}  // namespace
}  // namespace cloche::test
