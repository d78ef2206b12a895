// Each limit of `cloche run` is enforced, says so in one sentence, and cannot be nonsense.
#include "run/fixture.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

namespace cloche::test {
namespace {

using std::chrono::seconds;
constexpr uint64_t mib = 1UL << 20;

class Limit : public Run {
 protected:
  // The limit ended the command, and stderr has one sentence: the value, and the flag that raises it.
  void expect_ended(const std::string& flag, const std::string& value, const std::vector<std::string>& argv,
                    const std::string& name, int code = 137) {
    const Ran ran = cloche_run({flag, value}, argv, {.deadline = seconds(40)});
    EXPECT_TRUE(refused(ran, {code}, {flag, value}));
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
    EXPECT_LT(ran.seconds, 20);
    const auto [json, again] = answer({flag, value}, argv, {.deadline = seconds(40)});
    EXPECT_TRUE(exited(again, code));
    EXPECT_EQ(json["outcome"].string, code == 124 ? "timeout" : "limit");
    EXPECT_EQ(json["limit"].string, name);
    EXPECT_TRUE(contains(json["reason"].string, flag)) << json["reason"].string;
    EXPECT_FALSE(json["denials"].array.empty());
  }
  std::vector<std::string> script(const std::string& text) {
    return {"/usr/bin/python3", file("script.py", text)};
  }
};
FOR_EVERYONE(Limit);

TEST_P(Limit, Timeout) { expect_ended("--timeout", "1s", {"sleep", "30"}, "timeout", 124); }

TEST_P(Limit, TimeoutInEveryNotation) {
  for (const char* value : {"1", "1s"}) {
    const Ran ran = cloche_run({"--timeout", value}, {"sleep", "30"});
    EXPECT_TRUE(exited(ran, 124)) << value;
    EXPECT_LT(ran.seconds, 5) << value;
  }
  for (const char* value : {"5m", "3600"})
    EXPECT_TRUE(exited(cloche_run({"--timeout", value}, {"true"}), 0)) << value;
}

TEST_P(Limit, CpuOfOneProcess) { expect_ended("--cpu", "1s", {"sh", "-c", "while :; do :; done"}, "cpu"); }

// Nobody waits for what is killed, and its usage is known all the same.
TEST_P(Limit, WhatWasUsedIsSaidWhenALimitEndsIt) {
  const struct {
    const char* flag;
    const char* value;
    double least_cpu_ms;  // of a wall clock's second a busy machine gives little
  } rows[] = {{"--timeout", "3s", 50}, {"--cpu", "1s", 900}};
  for (const auto& row : rows) {
    const auto [json, ran] =
        answer({row.flag, row.value}, script("x = b'x' * (40 << 20)\nwhile True: pass\n"),
               {.deadline = seconds(40)});
    EXPECT_GE(json["usage"]["cpu_ms"].number, row.least_cpu_ms) << row.flag;
    EXPECT_GE(json["usage"]["max_rss_bytes"].number, 40.0 * mib) << row.flag;
  }
}

TEST_P(Limit, CpuOfTheWholeTree) {
  const Ran ran =
      cloche_run({"--cpu", "2"}, {"bash", "-c", "for i in 1 2 3 4; do (while :; do :; done) & done; wait"},
                 {.deadline = seconds(30)});
  EXPECT_TRUE(refused(ran, {137}, {"--cpu"}));
  EXPECT_LT(ran.seconds, 10);
}

TEST_P(Limit, CpuOfManyShortProcesses) {
  const Ran ran = cloche_run(
      {"--cpu", "1"},
      {"bash", "-c", "while :; do bash -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'; done"},
      {.deadline = seconds(30)});
  EXPECT_TRUE(refused(ran, {137}, {"--cpu"}));
  EXPECT_LT(ran.seconds, 15);
}

TEST_P(Limit, MemoryOfOneProcess) {
  expect_ended("--memory", "64M",
               script("import time\nx = bytearray(600 << 20)\ntime.sleep(15)\nprint('survived')\n"),
               "memory");
}

TEST_P(Limit, MemoryOfTheWholeTree) {
  expect_ended("--memory", "128M", script(R"(
import os, time
for _ in range(10):
    if os.fork() == 0:
        x = bytearray(40 << 20)
        time.sleep(15)
        os._exit(0)
time.sleep(15)
)"),
               "memory");
}

TEST_P(Limit, MemoryOfFilesInTmp) {
  const Ran ran = cloche_shell({"--memory", "64M", "--tmp", "400M"},
                               "head -c 300M /dev/zero > /tmp/big; sleep 10; echo survived");
  EXPECT_FALSE(contains(ran.out, "survived"));
  EXPECT_TRUE(refused(ran, {137}, {"--memory", "64M"}));
}

// A process that made itself undumpable is closed to an ordinary user, and a file without a name is in no
// directory. In a layer only the command can have it.
TEST_P(Limit, DiskBehindADescriptorThatNobodyShows) {
  const Ran ran = cloche_run({"--disk", "20M"}, script(R"(
import ctypes, os, time
ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
file = os.open('gone', os.O_CREAT | os.O_RDWR)
os.unlink('gone')
for _ in range(120): os.write(file, os.urandom(1 << 20))
time.sleep(15)
print('survived')
)"));
  EXPECT_TRUE(refused(ran, {137}, {"--disk", "20M"})) << ran.out;
}

TEST_P(Limit, DiskOfAFileThatIsDeletedAndStillOpen) {
  for (const char* writes : {"commit", "live"}) {
    const Ran ran = cloche_run({"--disk", "20M", "--writes", writes}, script(R"(
import os, time
file = os.open('gone', os.O_CREAT | os.O_RDWR)
os.unlink('gone')
for _ in range(120): os.write(file, os.urandom(1 << 20))
time.sleep(15)
print('survived')
)"));
    EXPECT_TRUE(refused(ran, {137}, {"--disk", "20M"})) << writes << ran.out;
  }
}

// Another process writes to the same disk meanwhile, and the tree holds what no watcher can look at: that is
// deeper than one goes down.
TEST_P(Limit, DiskThatOthersFill) {
  std::string deep = "deep";
  for (int i = 0; i < 250; ++i) deep += "/d";
  fs::create_directories(workspace() / deep);
  const struct {
    const char* flag;
    const char* value;
  } rows[] = {{"--writes", "commit"}, {"--writes", "live"}, {"--isolation", "subprocess"}};
  for (const auto& row : rows) {
    Started call(
        under({"--disk", "8M", row.flag, row.value}, {"sh", "-c", "echo > own; sleep 1; echo fine"}));
    const fs::path beside = scene().root() / "beside";
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    std::ofstream(beside) << std::string(64 * mib, 'x');
    const Ran ran = call.finish();
    fs::remove(beside);
    EXPECT_TRUE(printed(ran, "fine\n")) << row.value;
  }
}

// What a runtime needs beyond its heap's bound it says itself, and is not killed for it.
TEST_P(Limit, JavaThatFillsItsHeapHasAnOutOfMemoryError) {
  NEEDS("javac");
  file("Fill.java", R"(
public class Fill {
  public static void main(String[] words) {
    var held = new java.util.ArrayList<byte[]>();
    try { while (true) held.add(new byte[1 << 20]); }
    catch (OutOfMemoryError e) { int some = held.size(); held = null; System.out.println(some > 32); }
  }
}
)");
  ASSERT_TRUE(exited(outside("javac Fill.java"), 0));
  EXPECT_TRUE(printed(cloche_run({"--memory", "256M"}, {"java", "Fill"}), "true\n"));
}

TEST_P(Limit, NodeThatFillsItsHeapSaysSo) {
  NEEDS("node");
  const Ran ran = cloche_run(
      {"--memory", "256M"},
      {"node", "-e", "const held = []; for (;;) held.push(new Array(1e5).fill(held.length + 0.5))"},
      {.deadline = seconds(40)});
  EXPECT_TRUE(exited(ran, 128 + 6));
  EXPECT_TRUE(contains(ran.err, "heap out of memory")) << ran.err;
}

TEST_P(Limit, RuntimesAreToldOfTheMemoryLimit) {
  const std::string show = "echo $JDK_JAVA_OPTIONS; echo $NODE_OPTIONS; echo $GOMEMLIMIT";
  EXPECT_TRUE(
      printed(cloche_shell({"--memory", "1G"}, show),
              "-XX:MaxRAM=1073741824 -XX:MaxRAMPercentage=75\n--max-old-space-size=768\n966367638\n"));
  EXPECT_TRUE(printed(
      cloche_shell({"-e", "JAVA_TOOL_OPTIONS=-Xmx1m", "-e", "NODE_OPTIONS=", "-e", "GOMEMLIMIT=off"}, show),
      "\n\noff\n"));
}

TEST_P(Limit, MemoryThatIsEnoughIsNotInTheWay) {
  EXPECT_TRUE(printed(
      cloche_run({"--memory", "512M"}, script("x = bytearray(200 << 20)\nprint(len(x) >> 20)\n")), "200\n"));
}

TEST_P(Limit, Processes) {
  const Ran ran = cloche_run({"--pids", "20"}, script(R"(
import errno, os, signal, time
children = []
try:
    for _ in range(200):
        pid = os.fork()
        if pid == 0:
            time.sleep(20)
            os._exit(0)
        children.append(pid)
except OSError as e:
    print(errno.errorcode[e.errno], 10 <= len(children) <= 20)
for pid in children: os.kill(pid, signal.SIGKILL)
)"));
  EXPECT_TRUE(printed(ran, "EAGAIN True\n"));
}

TEST_P(Limit, ProcessesCountThreads) {
  const Ran ran = cloche_run({"--pids", "20"}, script(R"(
import threading, time, os
n = 0
try:
    for _ in range(200):
        threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
        n += 1
except RuntimeError:
    print(10 <= n <= 20, flush=True)
os._exit(0)
)"));
  EXPECT_TRUE(printed(ran, "True\n"));
}

TEST_P(Limit, ProcessesAreCountedForEachCallAlone) {
  const auto hungry =
      under({"--pids", "30"}, {"bash", "-c", "for i in {1..20}; do sleep 1.5 & done; echo started; wait"});
  Started first(hungry);
  Started second(hungry);
  const Ran one = first.finish();
  const Ran two = second.finish();
  EXPECT_TRUE(printed(one, "started\n"));
  EXPECT_TRUE(printed(two, "started\n"));
}

TEST_P(Limit, OpenFiles) {
  const Ran ran = cloche_run({"--nofile", "32"}, script(R"(
import errno
files = []
try:
    while True: files.append(open('/dev/null'))
except OSError as e:
    print(errno.errorcode[e.errno], 20 <= len(files) < 32)
)"));
  EXPECT_TRUE(printed(ran, "EMFILE True\n"));
}

TEST_P(Limit, FileSize) {
  const Ran ran = cloche_run({"--fsize", "1M"}, script(R"(
import errno
f = open('big', 'wb', buffering=0)
try:
    for _ in range(40): f.write(b'x' * 65536)
except OSError as e:
    print(errno.errorcode[e.errno])
)"));
  EXPECT_TRUE(printed(ran, "EFBIG\n"));
  EXPECT_EQ(fs::file_size(workspace() / "big"), mib);
  const Ran killed = cloche_shell({"--fsize", "1M"}, "exec head -c 2M /dev/zero > big2");
  EXPECT_TRUE(exited(killed, 128 + 25));  // SIGXFSZ
  EXPECT_EQ(fs::file_size(workspace() / "big2"), mib);
}

TEST_P(Limit, FileSizeDoesNotCutTheOutput) {
  const Ran ran = cloche_run({"--fsize", "64K"}, {"head", "-c", "1M", "/dev/zero"});
  EXPECT_TRUE(exited(ran, 0));
  EXPECT_EQ(ran.out.size(), mib);
}

TEST_P(Limit, Disk) {
  expect_ended(
      "--disk", "32M",
      {"bash", "-c", "for i in {1..10000}; do head -c 4M /dev/zero > f$RANDOM$i; done; echo survived"},
      "disk");
  uint64_t total = 0;
  for (const auto& entry : fs::recursive_directory_iterator(workspace())) {
    if (entry.is_regular_file()) total += entry.file_size();
  }
  EXPECT_LT(total, (2UL * 288) * mib);  // two calls, each with the watcher's worst delay
}

TEST_P(Limit, DiskThatIsEnoughIsNotInTheWay) {
  file("already.here", std::string(40 * mib, 'x'));
  EXPECT_TRUE(printed(
      cloche_shell({"--disk", "32M"}, "head -c 8M /dev/zero > new; sleep 0.3; rm already.here; echo fine"),
      "fine\n"));
}

TEST_P(Limit, NewFiles) {
  expect_ended("--files", "200",
               script("import os, time\nfor i in range(20000):\n    open(f'f{os.getpid()}-{i}', "
                      "'w').close()\n    time.sleep(0.0005)\n"),
               "files");
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(workspace())) ++count;
  EXPECT_LT(count, 12000U);
}

TEST_P(Limit, Tmp) {
  const Ran ran =
      cloche_shell({"--tmp", "8M"}, "head -c 32M /dev/zero > /tmp/big; echo $?; stat -c %s /tmp/big");
  EXPECT_TRUE(printed(ran, "1\n8388608\n"));
  EXPECT_TRUE(contains(ran.err, "No space left")) << ran.err;
  const Ran home =
      cloche_shell({"--tmp", "8M"},
                   "head -c 32M /dev/zero > ~/big; echo $?; head -c 32M /dev/zero > /dev/shm/big; echo $?");
  EXPECT_TRUE(printed(home, "1\n1\n"));
}

// The command lives with it, and the operator reads why it could not write: also when it has tidied up.
TEST_P(Limit, MemoryFileSystemsThatWereFullAreDenials) {
  for (const std::string place : {"/tmp", "/home/cloche", "/dev/shm"}) {
    const std::string fill =
        "head -c 32M /dev/zero > " + place + "/big 2>/dev/null; sleep 0.3; rm " + place + "/big";
    const auto [json, ran] = answer({"--tmp", "8M"}, {"sh", "-c", fill});
    EXPECT_TRUE(exited(ran, 0));
    ASSERT_EQ(json["denials"].array.size(), 1U) << ran.out;
    const Json& denial = json["denials"].array[0];
    EXPECT_EQ(denial["by"].string, "limit");
    EXPECT_EQ(denial["what"].string, place + " was full: the tmp limit of 8M was met; raise it with --tmp");
    const Ran said = cloche_run({"--tmp", "8M"}, {"sh", "-c", fill});
    EXPECT_TRUE(exited(said, 0));
    EXPECT_EQ(said.err, "cloche: " + denial["what"].string + "\n");
  }
}

// Where a cgroup counts; without one no kernel object tells of a fork that it refused.
TEST_P(Limit, ForksThatACgroupRefusedAreADenial) {
  const auto [json, ran] = answer({"--pids", "20"}, {"bash", "-c", "for i in {1..40}; do sleep 1 & done"});
  std::string by;
  for (const Json& layer : json["layers"].array)
    if (layer["name"].string == "process-limit") by = layer["by"].string;
  if (!contains(by, "cgroup")) {
    EXPECT_TRUE(json["denials"].array.empty()) << ran.out;
    return;
  }
  ASSERT_EQ(json["denials"].array.size(), 1U) << ran.out;
  const std::string what = json["denials"].array[0]["what"].string;
  EXPECT_TRUE(contains(what, "the pids limit of 20 refused a new process")) << what;
  EXPECT_TRUE(contains(what, "--pids")) << what;
}

TEST_P(Limit, AFileThatBecameTooLargeIsADenial) {
  const auto [json, ran] = answer({"--fsize", "1M"}, {"dd", "if=/dev/zero", "of=big", "bs=2M", "count=2"});
  EXPECT_TRUE(exited(ran, 128 + 25));
  ASSERT_EQ(json["denials"].array.size(), 1U) << ran.out;
  EXPECT_EQ(json["denials"].array[0]["what"].string,
            "a file met the fsize limit of 1M; raise it with --fsize");
  const Ran said = cloche_run({"--fsize", "1M"}, {"dd", "if=/dev/zero", "of=big", "bs=2M", "count=2"});
  EXPECT_TRUE(contains(said.err, "a file met the fsize limit of 1M; raise it with --fsize\n")) << said.err;
  EXPECT_EQ(std::count(said.err.begin(), said.err.end(), '\n'), 1) << said.err;
}

TEST_P(Limit, Output) {
  expect_ended("--output", "1M", {"yes"}, "output");
  const Ran ran = cloche_run({"--output", "1M"}, {"yes"});
  EXPECT_LE(ran.out.size(), mib);
  EXPECT_GE(ran.out.size(), mib / 2);
  const auto [json, again] = answer({"--output", "1K"}, {"yes"});
  EXPECT_TRUE(json["truncated"].boolean);
  EXPECT_LE(json["stdout"].string.size(), 1024U);
}

TEST_P(Limit, OutputOfExactlyTheLimitIsNotBeyondIt) {
  EXPECT_TRUE(printed(cloche_run({"--output", "5"}, {"printf", "hello"}), "hello"));
  EXPECT_TRUE(refused(cloche_run({"--output", "5"}, {"printf", "hello!"}), {137}, {"--output"}));
}

TEST_P(Limit, TooSmallForTheJailItselfIsAUsageError) {
  EXPECT_TRUE(refused(cloche_run({"--nofile", "8"}, {"true"}), {2}, {"--nofile", "16"}));
  EXPECT_TRUE(refused(cloche_run({"--memory", "1K"}, {"true"}), {2}, {"--memory", "1M"}));
}

TEST_P(Limit, OutputCountsBothStreams) {
  const Ran ran = cloche_shell({"--output", "100K"}, "yes >&2");
  EXPECT_TRUE(refused(ran, {137}, {"--output", "100K"}));
  EXPECT_LE(ran.err.size(), 110'000U);
}

// What Cloche does for itself before the command (its self-proof) is not measured by the command's limits.
TEST_P(Limit, SmallOnesAreEnoughForASmallCommand) {
  const std::pair<const char*, const char*> cases[] = {
      {"--timeout", "2s"}, {"--cpu", "1"},  {"--memory", "8M"}, {"--pids", "4"},  {"--fsize", "1"},
      {"--nofile", "16"},  {"--disk", "1"}, {"--files", "1"},   {"--tmp", "64K"}, {"--output", "16"}};
  for (const auto& [flag, value] : cases) {
    const Command how = {.env = {{"XDG_STATE_HOME", scene().root() / "state" / flag}}};
    EXPECT_TRUE(printed(cloche_run({flag, value}, {"echo", "fine"}, how), "fine\n")) << flag << " " << value;
  }
}

TEST_P(Limit, NonsenseIsRefusedBeforeAnythingRuns) {
  const std::pair<const char*, std::vector<const char*>> cases[] = {
      {"--timeout",
       {"0", "0s", "-1", "", "abc", "5x", "s", "1e3", "99999999999999999999", "99999999999999999h"}},
      {"--cpu", {"0", "-1", "", "abc", "5x", "99999999999999999999"}},
      {"--memory",
       {"0", "0M", "-1", "-64M", "", "abc", "10Q", "M", "0x10", "64 M", "99999999999999999999",
        "99999999999T", "16777216T"}},
      {"--pids", {"0", "-1", "", "abc", "5x", "64M", "99999999999999999999"}},
      {"--fsize", {"0", "-1", "", "abc", "10Q"}},
      {"--nofile", {"0", "-1", "", "abc", "99999999999999999999"}},
      {"--disk", {"0", "-1", "", "abc", "10Q"}},
      {"--files", {"0", "-1", "", "abc", "10Q"}},
      {"--tmp", {"0", "-1", "", "abc", "10Q"}},
      {"--output", {"0", "-1", "", "abc", "10Q"}},
  };
  for (const auto& [flag, values] : cases) {
    for (const char* value : values) {
      EXPECT_TRUE(refused(cloche_run({flag, value}, {"touch", "ran"}), {2}, {flag}))
          << flag << " '" << value << "'";
    }
    EXPECT_TRUE(refused(words({flag}), {2}, {flag})) << flag << " without a value";
  }
  EXPECT_FALSE(fs::exists(workspace() / "ran"));
}

TEST_P(Limit, HelpNamesEachWithItsDefault) {
  const Ran ran = words({"--help"});
  ASSERT_TRUE(exited(ran, 0));
  for (const char* flag : {"--timeout", "--cpu", "--memory", "--pids", "--fsize", "--nofile", "--disk",
                           "--files", "--tmp", "--output"}) {
    const auto at = ran.out.find(flag);
    ASSERT_NE(at, std::string::npos) << flag;
  }
  EXPECT_TRUE(contains(ran.out, "default")) << ran.out;
}

}  // namespace
}  // namespace cloche::test
