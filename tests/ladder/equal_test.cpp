// What a box is made of must not show: a limit that is met while it is built, few descriptors, a profile
// without anything to write, files of no size, and signals mean the same on every rung.
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
