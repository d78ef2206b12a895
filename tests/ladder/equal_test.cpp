// What a box is made of must not show: a limit that is met while it is built, few descriptors, a profile
// without anything to write, files of no size, and signals mean the same at every isolation level.
#include <signal.h>

#include "everyday/conversation.hpp"
#include "ladder/rungs.hpp"

namespace cloche::test {
namespace {

class Equal : public Rungs {
 protected:
  void TearDown() override { EXPECT_EQ(orphans_left(2), ""); }
  bool has_box() const { return backend() != "subprocess"; }
  Ran held(const std::vector<std::string>& flags, const std::vector<std::string>& argv) {
    return run(on_rung(flags, argv));
  }
};
INSTANTIATE_TEST_SUITE_P(Rung, Equal, ::testing::ValuesIn(seats()),
                         [](const auto& param) { return name_of(param); });

// Too little for gVisor itself, which meets it before there is a command.
TEST_P(Equal, AMemoryLimitThatABoxMeetsWhileItIsBuiltIsNamed) {
  const Ran ran = held({"--memory", "8M"},
                       {"python3", "-c", "import time; x = bytearray(b'x') * (64 << 20); time.sleep(5)"});
  EXPECT_EQ(ran.exit_code, 137) << ran.err;
  EXPECT_TRUE(contains(ran.err, "the memory limit of 8M was reached")) << ran.err;
}

TEST_P(Equal, FewDescriptorsAreTheCommandsOwnLimitAlone) {
  EXPECT_TRUE(printed(held({"--nofile", "20"}, {"sh", "-c", "ulimit -n; ulimit -Hn"}), "20\n20\n"));
}

TEST_P(Equal, AReadOnlyProfileHasAHomeAndSharedMemoryThatCanBeRead) {
  if (!has_box()) GTEST_SKIP() << "skipped: without a box the home is on disk";
  const char* look =
      "import os\nfor p in (os.environ['HOME'], '/dev/shm', '/tmp'):\n  print(os.listdir(p))\n"
      "  try: open(p + '/made', 'w'); print('made')\n  except OSError: pass\n";
  EXPECT_TRUE(printed(held({"--profile", "readonly"}, {"python3", "-c", look}), "[]\n[]\n[]\n"));
}

// Files without content take memory of the kernel's alone.
TEST_P(Equal, ManyFilesOfNoSizeMeetALimit) {
  if (!has_box() || backend() == "runsc") GTEST_SKIP() << "skipped: its files are on disk or the sentry's";
  const char* make_files =
      "import os\nfor i in range(400000):\n"
      "  try: os.close(os.open('/tmp/f%d' % i, os.O_CREAT | os.O_WRONLY))\n"
      "  except OSError as e: print(e.strerror); break\n"
      "else: print('made all')\n";
  const Ran ran = held({"--memory", "64M", "--tmp", "4M"}, {"python3", "-c", make_files});
  const bool counted = ran.exit_code == 137 && contains(ran.err, "the memory limit of 64M was reached");
  EXPECT_TRUE(counted || printed(ran, "No space left on device\n")) << ran.out << ran.err;
}

// Our own proof looks whether it is absent, where no caller has asked for it.
TEST_P(Equal, TheKernelsOwnFilesCanBeShown) {
  if (as() == As::self && has_box()) GTEST_SKIP() << "skipped: the kernel maps no ids for /sys";
  EXPECT_TRUE(printed(held({"--ro", "/sys"}, {"sh", "-c", "test -d /sys/kernel && echo shown"}), "shown\n"));
}

TEST_P(Equal, NothingOfTheKernelsOwnFilesIsShownUnasked) {
  if (!has_box()) GTEST_SKIP() << "skipped: without a box the view is the host's, and Landlock closes it";
  const char* look =
      "import os\nfor p in ('/sys', '/sys/devices', '/sys/devices/system', '/dev/net'):\n"
      "  print(sorted(os.listdir(p)) if os.path.exists(p) else [])\n";
  // What programs read of processors, and nothing else; gVisor has a /sys of its own, which stays empty.
  const char* expected =
      backend() == "runsc" ? "[]\n[]\n[]\n[]\n" : "['devices']\n['system']\n['cpu', 'node']\n[]\n";
  EXPECT_TRUE(printed(held({}, {"python3", "-c", look}), expected));
}

// Where no page table that is looked at first shows it.
TEST_P(Equal, MemoryCountsWhereverItIs) {
  if (backend() == "runsc") GTEST_SKIP() << "skipped: its threads are the sentry's";
  const std::pair<const char*, const char*> rows[] = {
      {"undumpable",
       "import ctypes, time\nctypes.CDLL(None).prctl(4, 0, 0, 0, 0)\nx = b'x' * (300 << 20)\n"
       "time.sleep(5)\n"},
      {"first thread ended",
       "import ctypes, os, threading, time\ndef rest():\n  time.sleep(0.5)\n  x = b'x' * (300 << 20)\n"
       "  time.sleep(5)\n  os._exit(0)\nthreading.Thread(target=rest).start()\n"
       "ctypes.CDLL(None).syscall(60 if os.uname().machine == 'x86_64' else 93, 0)\n"},
  };
  for (const auto& [what, text] : rows) {
    const Ran ran = held({"--memory", "64M"}, {"python3", "-c", text});
    EXPECT_EQ(ran.exit_code, 137) << what << ran.err;
    EXPECT_TRUE(contains(ran.err, "the memory limit of 64M was reached")) << what << ran.err;
  }
}

// In the buffers of pairs of sockets, of which there is no network to be asked; slowly, and much more than
// the limit, because the kernel may still keep for itself what the call before had there, and gives that out
// first.
TEST_P(Equal, MemoryBehindPairsCountsWithoutABox) {
  if (has_box()) GTEST_SKIP() << "skipped: its network is asked for them";
  const std::string fill =
      "import socket, time\nc, d = socket.socketpair()\nkept, total, count = [c, d], 0, 0\n"
      "while total < 2 << 30:\n"
      "  a, b = socket.socketpair()\n  a.setsockopt(1, 7, 4 << 20)\n  a.setblocking(False)\n"
      "  try:\n    while True: total += a.send(bytes(65536))\n  except BlockingIOError: pass\n"
      "  time.sleep(0.005)\n";
  const std::pair<const char*, const char*> rows[] = {
      {"held", "  kept += [a, b]\n"},
      {"on their way",
       "  socket.send_fds(c, [b'x'], [b.fileno()])\n"
       "  count += 1\n"
       "  if count % 100 == 0: c, d = socket.socketpair(); kept += [c, d]\n"}};
  for (const auto& [what, keep] : rows) {
    const Ran ran = held({"--memory", "64M", "--nofile", "4096"}, {"python3", "-c", fill + keep});
    EXPECT_EQ(ran.exit_code, 137) << what << ran.err;
    EXPECT_TRUE(contains(ran.err, "the memory limit of 64M was reached")) << what << ran.err;
  }
}

// Its own runtime must not answer in the command's place.
TEST_P(Equal, ASignalThatEndsACallSaysNothingInTheCommandsName) {
  for (const int number : {SIGQUIT, SIGTERM, SIGINT, SIGHUP}) {
    Conversation talk(on_rung({}, {"sh", "-c", "ulimit -c 0; echo ready; sleep 30"}), Over::pipes);
    ASSERT_TRUE(talk.hear("ready"));
    kill(talk.pid(), number);
    const Ran ran = talk.finish();
    EXPECT_EQ(ran.exit_code, 128 + number) << ran.err;
    EXPECT_FALSE(contains(ran.err, "goroutine")) << ran.err.substr(0, 200);
  }
}

}  // namespace
}  // namespace cloche::test
