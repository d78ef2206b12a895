// What cannot be had on the kernel of the day is met by a knob that only test builds have: an older Landlock.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include "harness/harness.hpp"

namespace cloche::test {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A kernel that offers this Landlock, and what a command gets there.
class OldLandlock : public ::testing::TestWithParam<As> {
 protected:
  As as() const { return GetParam(); }
  Scene& scene() { return scene_; }

  Ran run_with(const char* abi, const std::vector<std::string>& flags, const std::vector<std::string>& argv,
               const std::string& configuration = "{}") {
    std::vector<std::string> all = {"--workspace", scene_.workspace()};
    all.insert(all.end(), flags.begin(), flags.end());
    scene_.write("config/cloche/config.json", configuration, 0600);
    return run({.argv = under_cloche(all, argv),
                .as = as(),
                .cwd = scene_.workspace(),
                .env = {{"CLOCHE_TEST_LANDLOCK_ABI", abi},
                        {"XDG_STATE_HOME", state_home(as())},
                        {"XDG_CONFIG_HOME", scene_.root() / "config"}}});
  }
  Ran alone(const char* abi, const std::string& python) {
    return run_with(abi, {"--isolation", "subprocess"}, {"python3", "-c", python});
  }

 private:
  Scene scene_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(As, OldLandlock, ::testing::ValuesIn(identities()),
                         [](const ::testing::TestParamInfo<As>& who) {
                           return std::string(name_of(who.param));
                         });

const char* const below_namespace[] = {"-1", "0", "1"};
const char* const with_alone[] = {"1", "2", "3", "4", "5", "6"};

// ---- the level namespace ----

TEST_P(OldLandlock, IsRefusedByName) {
  for (const char* abi : below_namespace) {
    const Ran ran = run_with(abi, {}, {"/bin/true"});
    EXPECT_EQ(ran.exit_code, 125) << abi << ran.err;
    EXPECT_TRUE(contains(ran.err, "missing layer landlock")) << ran.err;
    EXPECT_TRUE(contains(ran.err, "lsm=")) << "the fix is missing: " << ran.err;
  }
}

TEST_P(OldLandlock, TheLeastThatIsSafeRuns) {
  for (const char* abi : {"2", "3", "5"}) {
    const Ran ran = run_with(abi, {}, {"/bin/true"});
    EXPECT_EQ(ran.exit_code, 0) << abi << ran.err;
  }
}

TEST_P(OldLandlock, TheOperatorMayDoWithoutItAndIsToldEachTime) {
  for (const char* word : {R"({"landlock": "optional"})", R"({"missing": "degrade"})"}) {
    for (const char* abi : below_namespace) {
      const Ran ran =
          run_with(abi, {"--json"}, {"sh", "-c", "mkdir a b; echo x > a/x; mv a/x b/x; cat b/x"}, word);
      EXPECT_EQ(ran.exit_code, 0) << word << abi << ran.err;
      EXPECT_TRUE(contains(ran.out, "\"backend\":\"native\"")) << ran.out;
      EXPECT_FALSE(contains(ran.out, "landlock-abi")) << "a layer is claimed: " << ran.out;
      EXPECT_TRUE(contains(ran.out + ran.err, "the layer landlock is missing here")) << ran.out << ran.err;
    }
  }
  // A device 0:0 takes no capability, and Landlock alone would refuse it.
  const Ran marked = run_with("0", {"--writes", "live"}, {"sh", "-c", "mkfifo pipe && mknod mark c 0 0"},
                              R"({"landlock": "optional"})");
  EXPECT_EQ(marked.exit_code, 1) << marked.err;
  EXPECT_TRUE(fs::exists(scene().workspace() / "pipe"));
  EXPECT_FALSE(fs::exists(scene().workspace() / "mark"));
  const Ran ran = run_with("2", {"--json"}, {"/bin/true"}, R"({"landlock": "optional"})");
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_TRUE(contains(ran.out, "landlock-abi2")) << "where it is, it holds: " << ran.out;
}

TEST_P(OldLandlock, ARequiredSandboxIsNoneWithout) {
  scene().write("config/cloche/config.json", R"({"landlock": "optional"})", 0600);
  const Ran ran = run({.argv = under_cloche({"--workspace", scene().workspace()}, {"/bin/true"}),
                       .as = as(),
                       .env = {{"CLOCHE_TEST_LANDLOCK_ABI", "0"},
                               {"CLOCHE_REQUIRE_SANDBOX", "1"},
                               {"XDG_STATE_HOME", state_home(as())},
                               {"XDG_CONFIG_HOME", scene().root() / "config"}}});
  EXPECT_EQ(ran.exit_code, 125) << ran.err;
  EXPECT_TRUE(contains(ran.err, "missing layer landlock")) << ran.err;
}

// ---- the level subprocess ----

TEST_P(OldLandlock, WithoutItThereIsNoLevelWithoutABox) {
  for (const char* word : {"{}", R"({"landlock": "optional"})", R"({"missing": "degrade"})"}) {
    for (const char* abi : {"-1", "0"}) {
      const Ran ran = run_with(abi, {"--isolation", "subprocess"}, {"/bin/true"}, word);
      EXPECT_EQ(ran.exit_code, 125) << word << abi << ran.err;
      EXPECT_TRUE(contains(ran.err, "missing layer landlock: ") || contains(ran.err, "without a box"))
          << ran.err;
    }
  }
}

TEST_P(OldLandlock, EveryVersionIsAWallWithoutABox) {
  const std::string secret = scene().write("elsewhere/secret.txt", "secret\n", 0644);
  for (const char* abi : with_alone) {
    const Ran ran = run_with(abi, {"--isolation", "subprocess", "--json"},
                             {"sh", "-c", "echo in > f; cat f; cat " + secret});
    EXPECT_EQ(ran.exit_code, 1) << abi << ran.err;
    EXPECT_TRUE(contains(ran.out, "in\\n")) << abi << ran.out;
    EXPECT_TRUE(contains(ran.out, std::string("landlock-abi") + abi)) << ran.out;
    EXPECT_TRUE(contains(ran.out, "landlock-scope")) << ran.out;
    EXPECT_FALSE(contains(ran.out, "secret\\n")) << abi << ran.out;
  }
}

TEST_P(OldLandlock, NothingOutsideIsEmptied) {
  // Readable and, by its mode, writable; the tree is shown read-only.
  const fs::path kept = scene().write("shown/kept.txt", "kept\n", 0666);
  const std::string attempts = R"(
import errno, os, ctypes
libc = ctypes.CDLL(None, use_errno=True)
mine = ')" + kept.string() + R"('
def tried(action):
    try: action(); print('done')
    except OSError as error: print('refused' if error.errno in (errno.EPERM, errno.EACCES) else error)
print(open(mine).read().strip())
tried(lambda: os.open(mine, os.O_RDONLY | os.O_TRUNC))
tried(lambda: os.open(mine, 3 | os.O_TRUNC))
tried(lambda: os.truncate(mine, 0))
tried(lambda: open(mine, 'w'))
def raw(*words):
    if libc.syscall(*words) < 0: raise OSError(ctypes.get_errno(), '')
tried(lambda: raw(2, mine.encode(), os.O_TRUNC, 0))
tried(lambda: raw(76, mine.encode(), 0))
open('own', 'w').write('abc'); os.ftruncate(os.open('own', os.O_RDWR), 1); print(open('own').read())
)";
  for (const char* abi : with_alone) {
    const Ran ran = run_with(abi, {"--isolation", "subprocess", "--ro", scene().root() / "shown"},
                             {"python3", "-c", attempts});
    EXPECT_EQ(ran.out, "kept\nrefused\nrefused\nrefused\nrefused\nrefused\nrefused\na\n") << abi << ran.err;
    EXPECT_EQ(read_file(kept), "kept\n") << abi;
  }
}

TEST_P(OldLandlock, SignalsReachTheCallsOwnProcessesAndNoOthers) {
  // Its number is known, and it is of the same user.
  Started victim({.argv = {"sleep", "60"}, .as = as()});
  const std::string script = R"(
import errno, fcntl, os, signal, subprocess, threading, time
victim, warden = )" + std::to_string(victim.pid()) +
                             R"(, os.getppid()
def tried(action):
    try: action(); print('sent')
    except OSError as error: print(errno.errorcode[error.errno])
for other in (victim, warden): tried(lambda: os.kill(other, signal.SIGKILL))
# With none: this group has the tests in it.
tried(lambda: os.kill(victim, 0))
tried(lambda: os.killpg(os.getpgid(victim), 0))
read, write = os.pipe()
fcntl.fcntl(read, fcntl.F_SETFL, os.O_ASYNC)
try:
    fcntl.fcntl(read, fcntl.F_SETOWN, victim); fcntl.fcntl(read, 10, signal.SIGKILL); os.write(write, b'x')
except OSError: pass
try: signal.pidfd_send_signal(os.pidfd_open(victim), signal.SIGKILL)
except OSError: pass
# What is its own.
heard = []
signal.signal(signal.SIGUSR1, lambda number, frame: heard.append(number))
os.kill(os.getpid(), signal.SIGUSR1)
signal.raise_signal(signal.SIGUSR1)
signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)
print(len(heard))
for group in (os.getpgrp(), 0):
    os.kill(-group, signal.SIGUSR1)
    for wait in range(200):
        if len(heard) == (4 if group else 5): break
        time.sleep(0.01)
print(len(heard))
# The kernel would take a group by its number later, when another thread may have left it to others.
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
os.killpg(os.getpgrp(), signal.SIGUSR2)
print('by', 'warden' if signal.sigtimedwait([signal.SIGUSR2], 5).si_pid == warden else 'itself')
child = subprocess.Popen(['sleep', '60']); child.kill(); print(child.wait())
group = subprocess.Popen(['sh', '-c', 'sleep 60 & sleep 60; :'], start_new_session=True)
time.sleep(0.2); os.killpg(group.pid, signal.SIGTERM); print(group.wait())
orphan = int(subprocess.run(['sh', '-c', 'sleep 60 > /dev/null & echo $!'], stdout=subprocess.PIPE).stdout)
os.kill(orphan, signal.SIGKILL); print('ended')
print(subprocess.run(['timeout', '0.1', 'sleep', '60']).returncode)
)";
  for (const char* abi : {"1", "2", "5", "6"}) {
    const Ran ran = alone(abi, script);
    const std::string sender = std::string(abi) == "6" ? "itself" : "warden";
    EXPECT_EQ(ran.out, "EPERM\nEPERM\nEPERM\nEPERM\n3\n5\nby " + sender + "\n-9\n-15\nended\n124\n")
        << abi << ran.err;
    EXPECT_EQ(::kill(victim.pid(), 0), 0) << abi;
    int status = 0;
    EXPECT_EQ(::waitpid(victim.pid(), &status, WNOHANG), 0) << "the victim was ended, ABI " << abi;
  }
  ::kill(victim.pid(), SIGKILL);
  victim.finish();
}

TEST_P(OldLandlock, BelowTheSixthNoSignalGoesToEverybody) {
  const Ran ran = alone("5", "import os; os.kill(-1, 0)");
  EXPECT_EQ(ran.exit_code, 1) << ran.out;
  EXPECT_TRUE(contains(ran.err, "PermissionError")) << ran.err;
}

TEST_P(OldLandlock, FilesMoveBetweenDirectoriesFromTheSecondOn) {
  const char* const script = R"(
import errno, os
os.makedirs('a', exist_ok=True); os.makedirs('b', exist_ok=True); open('a/x', 'w').close()
try: os.rename('a/x', 'b/x'); print('moved')
except OSError as error: print(errno.errorcode[error.errno])
os.rename('a/x' if os.path.exists('a/x') else 'b/x', 'a/y' if os.path.exists('a/x') else 'b/y')
)";
  EXPECT_EQ(alone("1", script).out, "EXDEV\n");
  EXPECT_EQ(alone("2", script).out, "moved\n");
}

}  // namespace
}  // namespace cloche::test
