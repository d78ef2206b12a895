// Calls in sandboxes that were prepared before them: as any other call, each in one of its own, and whatever
// is done to one that waits costs no more than a start from nothing.
#include <sstream>

#include "tools/fixture.hpp"

namespace cloche::test {
namespace {

class Pool : public Tools {
 protected:
  std::vector<Answer> calls(const std::vector<Call>& calls, const char* bound, const Words& flags = {},
                            const Words& around = {}) {
    Command command = session_command(calls, flags);
    command.argv.insert(command.argv.begin(), around.begin(), around.end());
    command.env["TOOLS_SESSION_POOL"] = bound;
    const Ran ran = run(command);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    std::vector<Answer> answers;
    std::istringstream lines(ran.out);
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("{")) {
        counts_.push_back(line);
        continue;
      }
      auto json = parse_json(line);
      EXPECT_TRUE(json) << line;
      answers.push_back({json ? *std::move(json) : Json(), ran});
    }
    return answers;
  }

  std::vector<std::string> counts_;
};

bool is_pooled(const Answer& answer) { return answer.text("start") == "pooled"; }

std::string layers_of(const Answer& answer) {
  std::string text;
  for (const auto& layer : answer.json["layers"].array)
    text += layer["name"].string + "=" + layer["by"].string + " ";
  return text;
}

TEST_P(Pool, APooledCallIsLikeAColdOne) {
  const Call shows = {
      "run_script",
      script(
          "id -u; pwd; cat /proc/mounts | cut -d' ' -f2- | sort | sed 's/[a-z]*dir=[^,]*//g;"
          "s/uid=[0-9]*//g;s/gid=[0-9]*//g'; ls / /dev /etc; env | sort; ulimit -a; echo to > new; exit 3")};
  for (const Words& flags : {Words{}, Words{"--writes", "live"}, Words{"--writes", "stage"}}) {
    const auto cold = calls({shows, shows}, "0", flags);
    const auto warm = calls({shows, shows}, "1", flags);
    ASSERT_EQ(cold.size(), 2U);
    ASSERT_EQ(warm.size(), 2U);
    EXPECT_FALSE(is_pooled(cold[1]));
    EXPECT_FALSE(is_pooled(warm[0]));
    ASSERT_TRUE(is_pooled(warm[1])) << warm[1].result();
    EXPECT_EQ(warm[1].exit_code(), 3);
    EXPECT_EQ(warm[1].result(), cold[1].result());
    EXPECT_EQ(warm[1].text("plan_digest"), cold[1].text("plan_digest"));
    EXPECT_EQ(layers_of(warm[1]), layers_of(cold[1]));
    EXPECT_FALSE(warm[1].text("proof").empty());
  }
}

TEST_P(Pool, WhateverHappensToASandboxThatWaitsTheCallIsMade) {
  const Call says = {"run_script", script("echo here; echo once >> said")};
  for (const char* signal : {"9", "19", "11"}) {
    const auto answers = calls({says, {"signal", signal}, says, says}, "1");
    ASSERT_EQ(answers.size(), 3U);
    for (const auto& answer : answers) EXPECT_EQ(answer.exit_code(), 0) << signal << answer.result();
    EXPECT_FALSE(is_pooled(answers[1])) << signal;
    EXPECT_TRUE(is_pooled(answers[2])) << signal;
  }
  const auto lines = calls({{"run_script", script("cat said")}}, "0");
  ASSERT_EQ(lines.size(), 1U);
  std::string nine;
  for (int i = 0; i < 9; ++i) nine += "once\n";
  EXPECT_TRUE(contains(lines[0].result(), nine + "\n") && !contains(lines[0].result(), nine + "once"))
      << lines[0].result();
}

TEST_P(Pool, GarbageOnItsSocketCostsAColdStart) {
  const Call says = {"run_script", script("echo here")};
  const auto answers = calls({says, {"garbage"}, says, says}, "1");
  ASSERT_EQ(answers.size(), 3U);
  for (const auto& answer : answers) EXPECT_EQ(answer.exit_code(), 0) << answer.result();
  EXPECT_EQ(answers[1].text("start"), "cold");
  EXPECT_TRUE(is_pooled(answers[2]));
}

// In mounts of the test's own.
TEST_P(Pool, WhatTheUserMountedHeCanUnmount) {
  const std::string place = scene_root() / "mounted";
  fs::create_directory(place);
  fs::permissions(place, fs::perms::all);
  const Call says = {"run_script", script("echo here")};
  const Words in_own_mounts = is_root()
                                  ? Words{"/usr/bin/unshare", "-m"}
                                  : Words{"/usr/bin/unshare", "-Um", "--map-current-user", "--keep-caps"};
  const auto answers =
      calls({says, {"mount", place}, says, {"umount", place}, says, says}, "2", {}, in_own_mounts);
  ASSERT_EQ(answers.size(), 4U);
  for (const auto& answer : answers) EXPECT_EQ(answer.exit_code(), 0) << answer.result();
  EXPECT_FALSE(contains(answers[0].ran.err, "mount:")) << answers[0].ran.err;
  ASSERT_EQ(counts_.size(), 2U);
  EXPECT_EQ(counts_[1], "pins=0") << "after it was unmounted, and " << counts_[0] << " before";
  EXPECT_TRUE(is_pooled(answers[3]));
}

TEST_P(Pool, DoctorSaysWhatWaitsAndWhatItWasGoodFor) {
  const Call says = {"run_script", script("echo here")};
  const auto answers = calls({says, says, says, {"doctor"}}, "2");
  ASSERT_EQ(answers.size(), 3U);
  std::string said;
  for (const auto& line : counts_) said += line;
  EXPECT_TRUE(contains(said, "2 of 2 sandboxes wait, with ")) << said;
  EXPECT_TRUE(contains(said, "2 calls began in one, 1 found none")) << said;
}

TEST_P(Pool, TheCommandHasNoSocketOfItsSandbox) {
  const Call looks = {"run_script", script("ls -l /proc/self/fd | grep -c socket; ls /proc/self/fd | wc -l")};
  const auto answers = calls({looks, looks}, "1");
  ASSERT_EQ(answers.size(), 2U);
  ASSERT_TRUE(is_pooled(answers[1]));
  EXPECT_EQ(answers[1].result(), answers[0].result());
  EXPECT_TRUE(contains(answers[1].result(), "stdout: 0\n")) << answers[1].result();
}

// The limit on time is no part of a sandbox that waits.
TEST_P(Pool, ACallWithAnotherTimeLimitFindsOne) {
  const auto answers =
      calls({{"run_shell", R"({"cmd": "ls"})"}, {"run_shell", R"({"cmd": "ls", "timeout_s": 9})"}}, "1");
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_TRUE(is_pooled(answers[1])) << answers[1].text("start");
}

TEST_P(Pool, NothingOfOneCallIsInTheNext) {
  const std::string leaves =
      "echo left > /tmp/left; echo left > /dev/shm/left; echo left > ~/left; export LEFT=1; exec "
      "9</etc/passwd; "
      "sleep 1000 & python3 -c 'import socket, time, ctypes; s = socket.socket(socket.AF_UNIX); "
      "s.bind(\"\\0left\"); print(ctypes.CDLL(None).shmget(77, 4096, 0o1666) >= 0)'; echo $$";
  const std::string looks =
      "ls -A /tmp /dev/shm ~; echo LEFT=$LEFT; ls /proc/self/fd | wc -l; "
      "python3 -c 'import socket, ctypes; s = socket.socket(socket.AF_UNIX); s.bind(\"\\0left\"); "
      "print(ctypes.CDLL(None).shmget(77, 4096, 0))'; cat /proc/net/unix | wc -l; cat /proc/self/cgroup | wc "
      "-l; "
      "echo $$";
  const std::vector<Call> both = {
      {"run_script", script(leaves)}, {"run_script", script(leaves)}, {"run_script", script(looks)}};
  const auto cold = calls({both.back(), both.back(), both.back()}, "0");
  const auto warm = calls(both, "1");
  ASSERT_EQ(warm.size(), 3U);
  ASSERT_EQ(cold.size(), 3U);
  EXPECT_TRUE(contains(warm[1].result(), "True")) << warm[1].result();
  EXPECT_TRUE(is_pooled(warm[1]) && is_pooled(warm[2]));
  EXPECT_EQ(warm[2].result(), cold[2].result());
}

// The views of these differ in what can be prepared: a sandbox that was prepared for the one never serves the
// other.
TEST_P(Pool, EachKindOfCallHasItsOwnKindOfSandbox) {
  const Call writes = {"run_script", script("echo x > /tmp/run && chmod 700 /tmp/run && echo wrote")};
  const Call reads = {"run_shell", R"({"cmd": "ls"})"};
  const auto cold = calls({writes, reads}, "0");
  const auto warm = calls({writes, reads, writes, reads, writes, reads}, "2");
  ASSERT_EQ(cold.size(), 2U);
  ASSERT_EQ(warm.size(), 6U);
  for (size_t i = 0; i < warm.size(); ++i) {
    EXPECT_EQ(warm[i].text("plan_digest"), cold[i % 2].text("plan_digest")) << i;
    EXPECT_EQ(warm[i].exit_code(), 0) << i << warm[i].result();
  }
  EXPECT_TRUE(is_pooled(warm[4]) && is_pooled(warm[5]));
}

// Those of the escape suite that need no stage around them. It runs them cold, with a control.
TEST_P(Pool, HoldsAttacksOnTheKernelAndItsMounts) {
  const std::string program = workspace() / "escape-attacks";
  fs::copy_file(built("escape-attacks"), program);
  fs::permissions(program, fs::perms(0755));
  const std::string mounts = fs::read_symlink("/proc/self/ns/mnt");
  std::vector<Words> attacks;
  for (const char* name :
       {"mount-tmpfs", "mount-bind", "remount-writable", "unmount", "pivot-root", "open-file-system",
        "clone-tree", "clone-tree-with-attributes", "move-tree", "set-mount-attributes"})
    attacks.push_back({name, mounts});
  for (const char* kind : {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup", "time"}) {
    attacks.push_back({"unshare-namespace", kind});
    attacks.push_back({"clone3-namespace", kind});
  }
  for (const char* name : {"open-every-family",
                           "open-every-internet-protocol",
                           "open-every-netlink",
                           "see-interfaces",
                           "find-route-out",
                           "change-root",
                           "become-another-user",
                           "become-another-group",
                           "join-groups",
                           "hold-capabilities",
                           "gain-privileges-by-exec",
                           "use-securebits",
                           "raise-limits",
                           "make-device",
                           "call-bpf",
                           "call-perf",
                           "call-keyctl",
                           "call-add-key",
                           "call-request-key",
                           "call-userfaultfd",
                           "call-io-uring",
                           "call-personality",
                           "call-personality-with-high-bits",
                           "call-modify-ldt",
                           "call-iopl",
                           "call-fanotify",
                           "call-kcmp",
                           "trace-own-child",
                           "read-own-child",
                           "execute-memory-file",
                           "call-x32",
                           "call-by-int80",
                           "call-unknown-numbers"})
    attacks.push_back({name});
  std::vector<Call> made = {{"run_shell", R"({"cmd": "true"})"}};
  for (const Words& attack : attacks) {
    std::string argv = quoted(program);
    for (const std::string& word : attack) argv += ", " + quoted(word);
    made.push_back({"run_shell", "{\"argv\": [" + argv + "]}"});
  }
  const auto answers = calls(made, "2", {"--commands", "any"});
  ASSERT_EQ(answers.size(), made.size());
  constexpr int held = 20;
  size_t pooled = 0;
  for (size_t i = 1; i < answers.size(); ++i) {
    EXPECT_EQ(answers[i].exit_code(), held) << attacks[i - 1][0] << ": " << answers[i].result();
    if (is_pooled(answers[i])) ++pooled;
  }
  EXPECT_GT(pooled, attacks.size() / 2) << "the host's mounts may have changed before some";
}

TEST_P(Pool, ManyCallsLeaveNothingBehind) {
  std::vector<Call> many(4, Call{"run_shell", R"({"cmd": "ls"})"});
  many.push_back({"count"});
  for (int i = 0; i < 40; ++i) many.push_back({"run_shell", R"({"cmd": "ls"})"});
  many.push_back({"count"});
  const auto answers = calls(many, "2");
  ASSERT_EQ(answers.size(), 44U);
  for (const auto& answer : answers) EXPECT_EQ(answer.exit_code(), 0);
  EXPECT_TRUE(is_pooled(answers.back()));
  ASSERT_EQ(counts_.size(), 2U);
  EXPECT_EQ(counts_[0], counts_[1]);
}

FOR_EVERYONE(Pool);

}  // namespace
}  // namespace cloche::test
