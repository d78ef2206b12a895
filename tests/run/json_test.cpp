// The JSON that others rely on: `run --json`, `run --dry-run --json`, `--status-fd`.
#include "run/fixture.hpp"

namespace cloche::test {
namespace {

using Kind = Json::Kind;

class RunJson : public Run {};
FOR_EVERYONE(RunJson);

bool is_digest(const Json& value) {
  return value.string.size() == 71 && value.string.rfind("sha256:", 0) == 0 &&
         value.string.find_first_not_of("0123456789abcdef", 7) == std::string::npos;
}

// Every promised key, with its type, whatever the outcome.
void expect_contract(const Json& json) {
  EXPECT_TRUE(json["outcome"].is(Kind::string));
  EXPECT_TRUE(json["exit_code"].is(Kind::number));
  for (const char* key : {"signal", "limit"}) EXPECT_TRUE(json.has(key)) << key;
  for (const char* key : {"stdout", "stderr", "backend", "plan_digest"})
    EXPECT_TRUE(json[key].is(Kind::string)) << key;
  for (const char* key : {"stdout_bytes", "stderr_bytes"}) EXPECT_TRUE(json[key].is(Kind::number)) << key;
  EXPECT_TRUE(json["truncated"].is(Kind::boolean));
  for (const char* key : {"wall_ms", "cpu_ms", "max_rss_bytes"})
    EXPECT_TRUE(json["usage"][key].is(Kind::number)) << key;
  EXPECT_TRUE(json["layers"].is(Kind::array));
  EXPECT_TRUE(json["denials"].is(Kind::array));
  EXPECT_TRUE(json.has("reason"));
  EXPECT_TRUE(is_digest(json["plan_digest"])) << json["plan_digest"].string;
}

TEST_P(RunJson, OfAnOrdinaryEnd) {
  const auto [json, ran] = answer({}, {"sh", "-c", "echo out; echo err >&2; exit 3"});
  EXPECT_TRUE(exited(ran, 3));
  expect_contract(json);
  EXPECT_EQ(json["outcome"].string, "exited");
  EXPECT_EQ(json["exit_code"].number, 3);
  EXPECT_TRUE(json["signal"].is(Kind::null) || json["signal"].number == 0);
  EXPECT_TRUE(json["limit"].is(Kind::null));
  EXPECT_EQ(json["stdout"].string, "out\n");
  EXPECT_EQ(json["stderr"].string, "err\n");
  EXPECT_EQ(json["stdout_bytes"].number, 4);
  EXPECT_EQ(json["stderr_bytes"].number, 4);
  EXPECT_FALSE(json["truncated"].boolean);
  EXPECT_TRUE(json["denials"].array.empty());
  EXPECT_EQ(ran.err, "") << "the command's stderr is in the JSON";
}

TEST_P(RunJson, NamesTheLayersThatHeldAndByWhat) {
  const auto [json, ran] = answer({}, {"true"});
  EXPECT_TRUE(exited(ran, 0));
  EXPECT_FALSE(json["backend"].string.empty());
  std::map<std::string, std::string> layers;
  for (const auto& layer : json["layers"].array) layers[layer["name"].string] = layer["by"].string;
  for (const char* name :
       {"user-ids", "mount-view", "pid-namespace", "net-namespace", "ipc-namespace", "uts-namespace",
        "cgroup-namespace", "syscall-filter", "landlock", "no-new-privileges", "no-capabilities",
        "session-keyring", "memory-limit", "process-limit"}) {
    EXPECT_FALSE(layers[name].empty()) << name;
  }
}

TEST_P(RunJson, OfASignal) {
  const auto [json, ran] = answer({}, {"sh", "-c", "kill -TERM $$; sleep 5"});
  EXPECT_TRUE(exited(ran, 143));
  expect_contract(json);
  EXPECT_EQ(json["outcome"].string, "signaled");
  EXPECT_EQ(json["signal"].number, 15);
  EXPECT_EQ(json["exit_code"].number, 143);
}

TEST_P(RunJson, TellsATimeoutFromACommandThatExits124) {
  const auto by_itself = answer({"--timeout", "20s"}, {"sh", "-c", "exit 124"});
  EXPECT_TRUE(exited(by_itself.ran, 124));
  EXPECT_EQ(by_itself.json["outcome"].string, "exited");
  const auto by_us = answer({"--timeout", "1s"}, {"sh", "-c", "echo before; sleep 30"});
  EXPECT_TRUE(exited(by_us.ran, 124));
  expect_contract(by_us.json);
  EXPECT_EQ(by_us.json["outcome"].string, "timeout");
  EXPECT_EQ(by_us.json["stdout"].string, "before\n");
  EXPECT_TRUE(contains(by_us.json["reason"].string, "--timeout")) << by_us.json["reason"].string;
  EXPECT_GE(by_us.json["usage"]["wall_ms"].number, 900);
  EXPECT_LT(by_us.json["usage"]["wall_ms"].number, 5000);
}

TEST_P(RunJson, OfAMissingAndOfANotExecutableProgram) {
  file("plain.txt", "no program\n");
  const auto missing = answer({}, {"no-such-program-anywhere"});
  EXPECT_TRUE(exited(missing.ran, 127));
  expect_contract(missing.json);
  EXPECT_EQ(missing.json["outcome"].string, "not_found");
  EXPECT_TRUE(contains(missing.json["reason"].string, "no-such-program-anywhere"));
  const auto plain = answer({}, {"./plain.txt"});
  EXPECT_TRUE(exited(plain.ran, 126));
  expect_contract(plain.json);
  EXPECT_EQ(plain.json["outcome"].string, "not_executable");
}

TEST_P(RunJson, OfARefusedWorkspaceIsJsonToo) {
  const auto [json, ran] = answer({"--workspace", "/usr"}, {"true"});
  EXPECT_NE(ran.exit_code, 0);
  EXPECT_EQ(json["exit_code"].number, ran.exit_code);
  EXPECT_TRUE(json["outcome"].string == "refused" || json["outcome"].string == "failed")
      << json["outcome"].string;
  EXPECT_TRUE(contains(json["reason"].string, "/usr")) << json["reason"].string;
}

TEST_P(RunJson, CountsWhatWasUsed) {
  const auto [json, ran] = answer({}, {"/usr/bin/python3", "-c",
                                       "import time\nx = bytearray(80 << 20)\n"
                                       "end = time.process_time() + 0.5\n"
                                       "while time.process_time() < end: pass"});
  EXPECT_TRUE(exited(ran, 0));
  EXPECT_GE(json["usage"]["cpu_ms"].number, 400);
  EXPECT_LT(json["usage"]["cpu_ms"].number, 5000);
  EXPECT_GE(json["usage"]["max_rss_bytes"].number, 80 << 20);
  EXPECT_LT(json["usage"]["max_rss_bytes"].number, 400 << 20);
}

TEST_P(RunJson, StaysJsonWhateverTheCommandPrints) {
  const auto [json, ran] = answer({}, {"printf", R"(a\000\001\033"\\\377\303\050\355\240\200\342\230\202)"});
  EXPECT_TRUE(exited(ran, 0));
  EXPECT_EQ(json["stdout_bytes"].number, 15);
  EXPECT_TRUE(contains(json["stdout"].string, "\xE2\x98\x82"));
  const auto quoted = answer({}, {"printf", "%s", "{\"outcome\": \"exited\"}\n\t\"\\"});
  EXPECT_EQ(quoted.json["stdout"].string, "{\"outcome\": \"exited\"}\n\t\"\\");
}

class DryRun : public Run {};
FOR_EVERYONE(DryRun);

TEST_P(DryRun, ExplainsAndRunsNothing) {
  const auto [json, ran] = answer({"--dry-run"}, {"touch", "made"});
  EXPECT_TRUE(exited(ran, 0));
  EXPECT_EQ(json["decision"].string, "allow");
  ASSERT_TRUE(json["gates"].is(Kind::array));  // which there are is the gates' own business
  for (const auto& gate : json["gates"].array) {
    for (const char* key : {"gate", "decision", "reason", "rule", "fix"}) EXPECT_TRUE(gate.has(key)) << key;
    EXPECT_TRUE(gate["decision"].string == "allow" || gate["decision"].string == "ask")
        << gate["gate"].string;
  }
  EXPECT_TRUE(json["plan"].is(Kind::object));
  EXPECT_TRUE(is_digest(json["plan_digest"]));
  EXPECT_FALSE(fs::exists(workspace() / "made"));
  EXPECT_TRUE(fs::is_empty(workspace()));
}

TEST_P(DryRun, WithoutJsonIsForPeople) {
  const Ran ran = cloche_run({"--dry-run"}, {"touch", "made"});
  EXPECT_TRUE(exited(ran, 0));
  EXPECT_TRUE(contains(ran.out + ran.err, "touch")) << ran.out << ran.err;
  EXPECT_FALSE(fs::exists(workspace() / "made"));
}

TEST_P(DryRun, TheDigestIsThatOfThePlan) {
  const auto digest = [this](const std::vector<std::string>& flags, const std::vector<std::string>& argv) {
    std::vector<std::string> dry = flags;
    dry.emplace_back("--dry-run");
    return answer(dry, argv).json["plan_digest"].string;
  };
  const std::string plain = digest({}, {"echo", "a b"});
  EXPECT_EQ(plain, digest({}, {"echo", "a b"}));
  EXPECT_NE(plain, digest({}, {"echo", "a", "b"}));
  EXPECT_NE(plain, digest({}, {"echo", "a", "b", ""}));
  EXPECT_NE(plain, digest({"--memory", "1G"}, {"echo", "a b"}));
  EXPECT_NE(plain, digest({"-e", "NAME=value"}, {"echo", "a b"}));
  EXPECT_NE(plain, digest({"--profile", "readonly"}, {"echo", "a b"}));
  EXPECT_EQ(plain, answer({}, {"echo", "a b"}).json["plan_digest"].string)
      << "what was explained is what runs";
}

TEST_P(DryRun, TellsBytesThatPrintAlikeApart) {
  const auto one = answer({"--dry-run"}, {"echo", "\xff"}).json["plan_digest"].string;
  const auto other = answer({"--dry-run"}, {"echo", "\xfe"}).json["plan_digest"].string;
  EXPECT_NE(one, other);
}

TEST_P(DryRun, RefusesWhatTheRunWouldRefuse) {
  EXPECT_TRUE(refused(cloche_run({"--dry-run", "--workspace", "/usr"}, {"true"}), {2, 125, 126}, {"/usr"}));
}

class StatusFd : public Run {};
FOR_EVERYONE(StatusFd);

TEST_P(StatusFd, CarriesTheOutcomeBesideTheOutput) {
  const std::string line =
      "exec '" + cloche() + "' run --status-fd 3 -- sh -c 'echo out; ls /proc/self/fd; exit 3' 3> status";
  const Ran ran = run({.argv = {"bash", "-c", line}, .as = as(), .cwd = workspace()});
  EXPECT_TRUE(exited(ran, 3));
  EXPECT_EQ(ran.out, "out\n0\n1\n2\n3\n") << "3 is ls's own look at the directory";
  const auto json = parse_json(read_file(workspace() / "status"));
  ASSERT_TRUE(json) << read_file(workspace() / "status");
  EXPECT_EQ((*json)["outcome"].string, "exited");
  EXPECT_EQ((*json)["exit_code"].number, 3);
}

TEST_P(StatusFd, MustBeAnOpenDescriptor) {
  EXPECT_TRUE(refused(cloche_run({"--status-fd", "77"}, {"touch", "made"}), {2, 125}, {"77"}));
  EXPECT_TRUE(refused(cloche_run({"--status-fd", "x"}, {"touch", "made"}), {2}, {"--status-fd"}));
  EXPECT_TRUE(refused(cloche_run({"--status-fd", "-1"}, {"touch", "made"}), {2}, {"--status-fd"}));
  EXPECT_FALSE(fs::exists(workspace() / "made"));
}

}  // namespace
}  // namespace cloche::test
