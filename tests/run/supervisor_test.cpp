// Who ends whom: signals to Cloche, deadlines with pipes held open or not read, several calls at once, and
// what is left on the host afterwards.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "everyday/conversation.hpp"
#include "run/fixture.hpp"

namespace cloche::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Waits for the end of a child without collecting it or reading what it says.
bool ends_within(int pid, seconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (std::chrono::steady_clock::now() < deadline) {
    siginfo_t info = {};
    if (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT | WNOHANG) == 0 && info.si_pid == pid)
      return true;
    std::this_thread::sleep_for(milliseconds(20));
  }
  return false;
}

class Supervisor : public Run {};
FOR_EVERYONE(Supervisor);

TEST_P(Supervisor, ASignalToClocheEndsTheWholeTree) {
  for (const auto& [number, code] : {std::pair{SIGINT, 130}, {SIGTERM, 143}, {SIGHUP, 129}}) {
    const auto marker = marker_seconds();
    Conversation talk(under({}, {"bash", "-c", "(setsid sleep $0 &); sleep $0 & echo ready; wait", marker}),
                      Over::pipes);
    ASSERT_TRUE(talk.hear("ready"));
    EXPECT_FALSE(processes_with(marker).empty());
    kill(talk.pid(), number);
    EXPECT_TRUE(exited(talk.finish(), code));
    EXPECT_TRUE(all_gone(marker)) << "after signal " << number;
  }
}

TEST_P(Supervisor, TheCommandMayCleanUpOnSigterm) {
  Conversation talk(
      under({}, {"bash", "-c",
                 "trap 'echo cleaned > done; exit 0' TERM; echo ready; while :; do sleep 0.05; done"}),
      Over::pipes);
  ASSERT_TRUE(talk.hear("ready"));
  kill(talk.pid(), SIGTERM);
  const Ran ran = talk.finish();
  EXPECT_FALSE(ran.timed_out);
  EXPECT_EQ(read_file(workspace() / "done"), "cleaned\n");
}

TEST_P(Supervisor, ACommandThatIgnoresSigtermIsKilledAfterAShortGrace) {
  const auto marker = marker_seconds();
  Conversation talk(
      under({}, {"bash", "-c", "trap '' TERM INT HUP; echo ready; while :; do sleep " + marker + "; done"}),
      Over::pipes);
  ASSERT_TRUE(talk.hear("ready"));
  kill(talk.pid(), SIGTERM);
  const Ran ran = talk.finish(seconds(12));
  EXPECT_TRUE(exited(ran, 143));
  EXPECT_TRUE(all_gone(marker));
}

TEST_P(Supervisor, KilledItselfLeavesNothingRunning) {
  const auto marker = marker_seconds();
  Conversation talk(under({}, {"bash", "-c",
                               "trap '' TERM INT HUP; (setsid sleep " + marker +
                                   " &); echo ready; while :; do sleep " + marker + "; done"}),
                    Over::pipes);
  ASSERT_TRUE(talk.hear("ready"));
  kill(talk.pid(), SIGKILL);
  EXPECT_EQ(talk.finish().signal, SIGKILL);
  EXPECT_TRUE(all_gone(marker));
}

TEST_P(Supervisor, TheDeadlineHoldsWhileAGrandchildHoldsStdout) {
  const auto marker = marker_seconds();
  const Ran ran = cloche_shell({"--timeout", "1s"},
                               "(setsid sleep " + marker + " &); trap '' TERM; echo out; sleep " + marker,
                               {.deadline = seconds(20)});
  EXPECT_TRUE(exited(ran, 124));
  EXPECT_EQ(ran.out, "out\n");
  EXPECT_LT(ran.seconds, 6);
  EXPECT_TRUE(all_gone(marker));
}

TEST_P(Supervisor, TheDeadlineHoldsForAStoppedCommand) {
  const Ran ran = cloche_shell({"--timeout", "1s"}, "kill -STOP $$", {.deadline = seconds(20)});
  EXPECT_TRUE(exited(ran, 124));
  EXPECT_LT(ran.seconds, 6);
}

TEST_P(Supervisor, TheDeadlineHoldsWhenTheCallerDoesNotRead) {
  Started started(under({"--timeout", "1s"}, {"yes"}));
  EXPECT_TRUE(ends_within(started.pid(), seconds(8)));
  EXPECT_TRUE(exited(started.finish(), 124));
}

TEST_P(Supervisor, TheDeadlineHoldsWhenTheCallerDoesNotWrite) {
  Conversation talk(under({"--timeout", "1s"}, {"cat"}), Over::pipes);
  EXPECT_TRUE(exited(talk.finish(seconds(8)), 124));
}

TEST_P(Supervisor, TheEndIsNoticedWhenTheCallerDoesNotRead) {
  Started started(
      under({}, {"sh", "-c", "head -c 1M /dev/zero & sleep 1; kill $!; exit 4"}, {.deadline = seconds(20)}));
  std::this_thread::sleep_for(seconds(2));
  const Ran ran = started.finish();
  EXPECT_TRUE(exited(ran, 4));
}

TEST_P(Supervisor, ASlowReaderGetsEverything) {
  Started started(under({}, {"sh", "-c", "seq 100000; exit 4"}));
  std::this_thread::sleep_for(seconds(1));
  const Ran ran = started.finish();
  EXPECT_TRUE(exited(ran, 4));
  EXPECT_EQ(last_line(ran.out), "100000");
  EXPECT_EQ(ran.out.size(), 588895U);
}

TEST_P(Supervisor, ConcurrentCallsHaveIdsOfTheirOwnThatAreNotRoots) {
  const auto first = marker_seconds();
  const auto second = marker_seconds();
  Conversation one(under({}, {"sh", "-c", "echo ready; exec sleep " + first}), Over::pipes);
  Conversation two(under({}, {"sh", "-c", "echo ready; exec sleep " + second}), Over::pipes);
  ASSERT_TRUE(one.hear("ready"));
  ASSERT_TRUE(two.hear("ready"));
  std::vector<std::string> ids;
  for (const auto& marker : {first, second}) {
    for (int i = 0; i < 100 && processes_with(marker).empty(); ++i)
      std::this_thread::sleep_for(milliseconds(20));
    const auto found = processes_with(marker);
    ASSERT_FALSE(found.empty());
    std::istringstream status(read_file("/proc/" + std::to_string(found.front()) + "/status"));
    std::string line;
    while (std::getline(status, line)) {
      if (line.rfind("Uid:", 0) == 0 || line.rfind("Gid:", 0) == 0) ids.push_back(line);
    }
  }
  ASSERT_EQ(ids.size(), 4U);
  for (const auto& line : ids) {
    std::istringstream numbers(line.substr(4));
    for (unsigned id = 0; numbers >> id;) {
      EXPECT_NE(id, 0U) << line;
      const unsigned own = as() == As::nobody ? nobody : geteuid();
      EXPECT_EQ(id == own, !is_root()) << line;
    }
  }
  if (is_root()) {
    EXPECT_NE(ids[0], ids[2]);
    EXPECT_NE(ids[1], ids[3]);
  }
}

TEST_P(Supervisor, EightAtOnce) {
  std::vector<std::unique_ptr<Started>> calls;
  calls.reserve(8);
  for (int i = 0; i < 8; ++i) {
    calls.push_back(std::make_unique<Started>(
        under({}, {"sh", "-c", "echo $0 > f$0; sleep 0.3; cat f$0; exit $0", std::to_string(i)})));
  }
  for (int i = 0; i < 8; ++i) {
    const Ran ran = calls[static_cast<size_t>(i)]->finish();
    EXPECT_TRUE(exited(ran, i));
    EXPECT_EQ(ran.out.rfind(std::to_string(i) + "\n", 0), 0U);
  }
}

TEST_P(Supervisor, FilesBelongToTheCallerAndAreNotSetUid) {
  const Ran ran = cloche_shell({},
                               "touch made; mkdir dir; cp /usr/bin/env program; ln -s made link; chmod u+s "
                               "program; chmod 6755 program; chmod g+s program;"
                               "install -m 4755 /usr/bin/env second; chmod 755 program; true");
  EXPECT_TRUE(exited(ran, 0));
  const std::string owner =
      as() == As::nobody ? "65534:65534" : std::to_string(geteuid()) + ":" + std::to_string(getegid());
  for (const auto& entry : fs::directory_iterator(workspace())) {
    struct stat seen = {};
    ASSERT_EQ(lstat(entry.path().c_str(), &seen), 0);
    EXPECT_EQ(std::to_string(seen.st_uid) + ":" + std::to_string(seen.st_gid), owner) << entry.path();
    EXPECT_EQ(seen.st_mode & (S_ISUID | S_ISGID), 0U) << entry.path();
  }
}

// Names that are not of `before`. Others use these directories too, tests among them, which name theirs by
// mkdtemp; what a call may have left has the name that the command below gave, or begins as a trial of
// Cloche's own.
std::set<std::string> traces(const std::string& tag, const std::set<std::string>& before = {}) {
  std::set<std::string> out;
  for (const char* folder : {"/tmp", "/var/tmp", "/dev/shm"}) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
      const std::string name = entry.path().filename();
      const bool may_be_ours = contains(name, tag) || name.starts_with("cloche-try-") ||
                               name.starts_with("cloche-new-") || name.starts_with(".cloche");
      if (may_be_ours && before.count(entry.path()) == 0) out.insert(entry.path());
    }
  }
  return out;
}

TEST_P(Supervisor, LeavesNothingBehind) {
  const std::string tag = "left-behind-" + std::to_string(getpid());
  EXPECT_TRUE(exited(cloche_run({}, {"true"}), 0));  // the first call may make what later calls keep
  const auto mounts = read_file("/proc/self/mountinfo");
  const auto before = traces(tag);
  EXPECT_TRUE(exited(cloche_shell({}, "for d in /tmp ~ /dev/shm; do touch $d/" + tag + "; done"), 0));
  EXPECT_TRUE(exited(cloche_shell({"--timeout", "1"}, "sleep 20"), 124));
  EXPECT_TRUE(exited(cloche_run({}, {"no-such-program"}), 127));
  EXPECT_TRUE(fs::is_empty(workspace()));
  EXPECT_EQ(mounts, read_file("/proc/self/mountinfo"));
  // A trial of another test's is gone soon: what counts is what stays.
  std::set<std::string> left = traces(tag, before);
  for (int tries = 0; tries < 30 && !left.empty(); ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const std::set<std::string> now = traces(tag, before);
    std::erase_if(left, [&](const std::string& path) { return now.count(path) == 0; });
  }
  EXPECT_EQ(left, std::set<std::string>());
}

TEST_P(Supervisor, TmpAndHomeAreFreshForEachCall) {
  EXPECT_TRUE(printed(
      cloche_shell({}, "echo x > /tmp/f; echo x > ~/f; echo x > /dev/shm/f; ls -A /tmp /dev/shm | grep -c f"),
      "2\n"));
  EXPECT_TRUE(printed(cloche_shell({}, "ls /tmp/f ~/f /dev/shm/f 2>/dev/null | wc -l"), "0\n"));
}

// What a caller may have set for itself: `script` runs first, in the shell that becomes cloche.
class OddCaller : public Run {
 protected:
  Ran after(const std::string& script, const std::vector<std::string>& argv) const {
    Command command = under({}, argv);
    std::vector<std::string> words = {"sh", "-c", script + "; exec \"$@\"", "sh"};
    words.insert(words.end(), command.argv.begin(), command.argv.end());
    command.argv = words;
    return run(command);
  }
};
FOR_EVERYONE(OddCaller);

TEST_P(OddCaller, IgnoresTheEndOfItsChildren) {
  const Ran ran = after("trap '' CHLD", {"sh", "-c", "true; exit 7"});
  EXPECT_EQ(ran.exit_code, 7) << ran.err;
  EXPECT_LT(ran.seconds, 5);
}

TEST_P(OddCaller, HasFewDescriptorsOrASmallStack) {
  for (const char* limit : {"ulimit -n 64", "ulimit -s 128"})
    EXPECT_TRUE(printed(after(limit, {"echo", "fine"}), "fine\n")) << limit;
}

class ManyAtOnce : public Run {
 protected:
  // Sixteen callers with twenty-five short calls each; none may fail.
  void expect_all_well(const std::vector<std::string>& flags, const Command& how = {}) {
    std::mutex mutex;
    std::vector<Ran> failures;
    std::vector<std::thread> callers;
    callers.reserve(16);
    for (int i = 0; i < 16; ++i) {
      callers.emplace_back([&] {
        for (int call = 0; call < 25; ++call) {
          Ran ran = cloche_run(flags, {"true"}, how);
          const std::lock_guard lock(mutex);
          if (ran.exit_code != 0) failures.push_back(std::move(ran));
        }
      });
    }
    for (auto& caller : callers) caller.join();
    ASSERT_TRUE(failures.empty()) << failures.size() << " of 400 failed; the first: " << failures[0].err;
  }
};
FOR_EVERYONE(ManyAtOnce);

TEST_P(ManyAtOnce, ShortCallsAllEndWell) { expect_all_well({}); }

// What others keep in the same file system as Cloche's state is not the sandbox's memory.
TEST_P(ManyAtOnce, ShortCallsAllEndWellWithTheStateInMemory) {
  std::string shelf = "/dev/shm/cloche-state-XXXXXX";
  ASSERT_NE(mkdtemp(shelf.data()), nullptr);
  const bool given = as() != As::nobody || chown(shelf.c_str(), nobody, nobody) == 0;
  std::ofstream(shelf + "/others") << std::string(200UL << 20, 'x');
  if (given) expect_all_well({"--memory", "64M"}, {.env = {{"XDG_STATE_HOME", shelf}}});
  fs::remove_all(shelf);
  EXPECT_TRUE(given);
}

}  // namespace
}  // namespace cloche::test
