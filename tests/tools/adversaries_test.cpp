// Hostile programs as executors: each is contained with an outcome of its own, leaves nothing running, and
// the next call of the same Gateway works. Each is run outside first, where it must succeed at what it tries.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "tools/fixture.hpp"

namespace cloche::test {
namespace {

class Adversaries : public Tools {
 protected:
  // The answers to the hostile call, and that an honest one after it is answered in the same session.
  Answer survived(const std::string& name, const Words& more = {}) {
    executor("honest", "import json, sys\njson.dump({'got': json.load(sys.stdin)}, sys.stdout)\n");
    Words flags = with_executors();
    flags.insert(flags.end(), more.begin(), more.end());
    auto answers = session({{name}, {"honest", R"({"n": 1})"}}, flags);
    EXPECT_TRUE(ended(answers[1], "exited"));
    EXPECT_EQ(answers[1].result(), R"({"got": {"n": 1}})");
    return answers[0];
  }

  // The same program without Cloche, for at most `seconds`.
  Ran control(const std::string& name, double seconds = 1) const {
    Command command{
        .argv = {"/usr/bin/python3", executors() / name / "tool.py"}, .as = as(), .cwd = workspace()};
    command.env = {{"HOME", home()}, {"CALLERS_VARIABLE", "callers value"}};
    command.input = "{}";
    command.deadline = std::chrono::milliseconds(static_cast<long>(seconds * 1000));
    return run(command);
  }
};

TEST_P(Adversaries, AnEndlessLoopEndsByTheClock) {
  executor("loop", "while True: pass\n", {.limits = R"({"timeout_s": "300ms"})"});
  EXPECT_TRUE(control("loop", 0.4).timed_out);
  const Answer answer = survived("loop");
  EXPECT_TRUE(ended(answer, "timeout"));
  EXPECT_EQ(answer.exit_code(), 124);
  EXPECT_EQ(answer.text("limit"), "timeout");
}

TEST_P(Adversaries, AnEndlessLoopEndsByTheProcessorTime) {
  executor("loop", "while True: pass\n", {.limits = R"({"cpu_s": 1})"});
  EXPECT_TRUE(ended_by_limit(survived("loop"), "cpu"));
}

TEST_P(Adversaries, AMemoryEaterEndsByItsLimit) {
  executor("eater", "x = bytearray(200 << 20)\nprint(len(x))\n", {.limits = R"({"memory": "64M"})"});
  EXPECT_TRUE(printed(control("eater", 20), "209715200\n"));
  EXPECT_TRUE(ended_by_limit(survived("eater"), "memory"));
}

// Ours, by the word that no other has; each is seen once it has become what it was forked for.
size_t end_processes_with(const std::string& marker, size_t expected) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  auto found = processes_with(marker);
  while (found.size() < expected && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    found = processes_with(marker);
  }
  for (const int pid : found) kill(pid, SIGKILL);
  return found.size();
}

TEST_P(Adversaries, AForkBombStaysWithinItsProcessesAndNoneIsLeft) {
  const std::string marker = marker_seconds();
  const std::string bomb =
      "import os, json\n"
      "made = 0\n"
      "for _ in range(40):\n"
      "    try:\n"
      "        if os.fork() == 0:\n"
      "            null = os.open('/dev/null', os.O_RDWR)\n"
      "            for fd in range(3): os.dup2(null, fd)\n"
      "            os.execv('/bin/sleep', ['sleep', '" +
      marker +
      "'])\n"
      "        made += 1\n"
      "    except OSError:\n"
      "        pass\n"
      "print(json.dumps({'made': made}))\n";
  executor("bomb", bomb, {.limits = R"({"pids": 16})"});
  const Ran outside = control("bomb", 10);
  EXPECT_TRUE(printed(outside, "{\"made\": 40}\n"));
  EXPECT_EQ(end_processes_with(marker, 40), 40U);
  ASSERT_TRUE(all_gone(marker));

  const Answer answer = survived("bomb");
  EXPECT_TRUE(ended(answer, "exited"));
  const double made = answer.json["structured"]["made"].number;
  EXPECT_GT(made, 0);
  EXPECT_LT(made, 16);
  EXPECT_TRUE(all_gone(marker, 1));
}

TEST_P(Adversaries, AForkBombThatNeverEndsIsEndedWhole) {
  executor("bomb", "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass\n",
           {.limits = R"({"pids": 16, "timeout_s": "500ms"})"});
  const Answer answer = survived("bomb");
  EXPECT_TRUE(ended(answer, "timeout"));
  EXPECT_TRUE(all_gone(executors() / "bomb", 1));
}

TEST_P(Adversaries, AnOutputFloodEndsByItsLimit) {
  executor("flood", "import sys\nwhile True: sys.stdout.write('x' * 65536)\n",
           {.limits = R"({"output": "1M"})"});
  const Answer answer = survived("flood");
  EXPECT_TRUE(ended_by_limit(answer, "output"));
  EXPECT_EQ(answer.json["stdout_bytes"].number, 1 << 20);
  EXPECT_TRUE(contains(answer.result(), "\nended: the output limit of 1M was reached"));
}

TEST_P(Adversaries, ACrashIsASignal) {
  executor("crash", "import os\nos.kill(os.getpid(), 11)\n");
  EXPECT_EQ(control("crash", 10).signal, SIGSEGV);
  const Answer answer = survived("crash");
  EXPECT_TRUE(ended(answer, "signaled"));
  EXPECT_EQ(answer.json["signal"].number, SIGSEGV);
  EXPECT_EQ(answer.exit_code(), 128 + SIGSEGV);
}

TEST_P(Adversaries, AHangThatIgnoresEverySignalEndsByTheClock) {
  const std::string marker = marker_seconds();
  executor("hang",
           "import signal, time\n"
           "for number in range(1, 65):\n"
           "    try: signal.signal(number, signal.SIG_IGN)\n"
           "    except (OSError, ValueError): pass\n"
           "time.sleep(" +
               marker + ")\n",
           {.limits = R"({"timeout_s": "500ms"})"});
  EXPECT_TRUE(ended(survived("hang"), "timeout"));
  EXPECT_TRUE(all_gone(executors() / "hang", 1));
}

TEST_P(Adversaries, ASecretReaderFindsNone) {
  executor("reader",
           "import json, os\n"
           "found = []\n"
           "for path in [os.path.expanduser('~/.ssh/id_ed25519'), '" +
               home().string() +
               "/.ssh/id_ed25519',\n"
               "             '/etc/shadow', '/root/.profile', '/root/.bashrc', '/run/systemd', '/var/log']:\n"
               "    try:\n"
               "        if os.path.isdir(path): os.listdir(path)\n"
               "        else: open(path).read()\n"
               "        found.append(path)\n"
               "    except OSError: pass\n"
               "found += [name for name in os.environ if name.startswith('CALLERS_')]\n"
               "for pid in os.listdir('/proc'):\n"
               "    try: found += ['environ'] if b'CALLERS_' in open('/proc/%s/environ' % pid, 'rb').read() "
               "else []\n"
               "    except OSError: pass\n"
               "print(json.dumps({'found': found}))\n");
  const Ran outside = control("reader", 20);
  EXPECT_TRUE(contains(outside.out, "/.ssh/id_ed25519") && contains(outside.out, "CALLERS_VARIABLE"))
      << outside.out;

  const Answer answer = call({"reader"}, with_executors(), {.env = {{"CALLERS_VARIABLE", "callers value"}}});
  EXPECT_EQ(answer.result(), "{\"found\": []}\n");
}

// A socket of the test's that counts who comes.
class Listener {
 public:
  explicit Listener(int family) : socket_(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  ~Listener() { ::close(socket_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  int listen_on_loopback() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    bind_and_listen(reinterpret_cast<sockaddr*>(&address), size);
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.sin_port);
  }
  void listen_on_abstract(const std::string& name) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    name.copy(address.sun_path + 1, sizeof address.sun_path - 1);
    bind_and_listen(reinterpret_cast<sockaddr*>(&address),
                    static_cast<socklen_t>(sizeof(sa_family_t) + 1 + name.size()));
  }
  bool somebody_came() {
    pollfd waiting{socket_, POLLIN, 0};
    if (::poll(&waiting, 1, 0) != 1) return false;
    const int guest = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    ::close(guest);
    return true;
  }

 private:
  void bind_and_listen(sockaddr* address, socklen_t size) {
    EXPECT_EQ(::bind(socket_, address, size), 0);
    EXPECT_EQ(::listen(socket_, 4), 0);
  }
  int socket_;
};

std::string sender(const std::string& family, const std::string& address) {
  return "import json, socket\n"
         "try:\n"
         "    s = socket.socket(socket." +
         family +
         ")\n"
         "    s.settimeout(2)\n"
         "    s.connect(" +
         address +
         ")\n"
         "    print(json.dumps({'sent': True}))\n"
         "except OSError as error:\n"
         "    print(json.dumps({'sent': False}))\n";
}

TEST_P(Adversaries, NothingIsSentToTheHostsLoopback) {
  Listener listener(AF_INET);
  const int port = listener.listen_on_loopback();
  executor("sender", sender("AF_INET", "('127.0.0.1', " + std::to_string(port) + ")"));
  EXPECT_TRUE(printed(control("sender", 20), "{\"sent\": true}\n"));
  EXPECT_TRUE(listener.somebody_came());
  EXPECT_EQ(survived("sender").result(), "{\"sent\": false}\n");
  EXPECT_FALSE(listener.somebody_came());
}

TEST_P(Adversaries, NothingIsSentToAnAbstractSocket) {
  Listener listener(AF_UNIX);
  const std::string name = "cloche-tools-" + std::to_string(getpid());
  listener.listen_on_abstract(name);
  executor("sender", sender("AF_UNIX", "'\\0" + name + "'"));
  EXPECT_TRUE(printed(control("sender", 20), "{\"sent\": true}\n"));
  EXPECT_TRUE(listener.somebody_came());
  EXPECT_EQ(survived("sender").result(), "{\"sent\": false}\n");
  EXPECT_FALSE(listener.somebody_came());
}

TEST_P(Adversaries, AnAnswerThatBreaksThePromiseIsAFailureWithItsReason) {
  const struct {
    const char* name;
    const char* program;
    const char* reason;
    const char* failure = "invalid_json";
  } rows[] = {
      {"no-json", "print('{not json')\n", "it did not print JSON"},
      {"nothing", "pass\n", "it did not print JSON"},
      {"two-values", "print('{}{}')\n", "it did not print JSON"},
      {"doubled-key", "print('{\"a\": 1, \"a\": 2}')\n", "it did not print JSON"},
      {"not-utf8", "import sys\nsys.stdout.buffer.write(b'{\"a\": \"\\xff\"}')\n", "it did not print JSON"},
      {"deep", "print('[' * 100000)\n", "it did not print JSON"},
      {"wrong-type", "print('[1]')\n", "does not fit its output_schema", "schema"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    executor(row.name, row.program);
    const Answer answer = survived(row.name);
    EXPECT_TRUE(ended(answer, "exited")) << "failed is Cloche's own, as 125 is";
    EXPECT_EQ(answer.exit_code(), 1);
    EXPECT_EQ(answer.text("failure"), row.failure);
    EXPECT_TRUE(answer.result().starts_with(std::string("[ERROR] executor '") + row.name + "': "))
        << answer.result();
    EXPECT_TRUE(contains(answer.text("reason"), row.reason)) << answer.text("reason");
    EXPECT_TRUE(answer.json["structured"].is(Json::Kind::null));
  }
}

TEST_P(Adversaries, AnOversizedAnswerIsCutForTheModelAndWholeInTheRecord) {
  executor("big", "print('\"' + 'x' * 300000 + '\"')\n", {.output_schema = "true"});
  const Answer answer = survived("big");
  EXPECT_TRUE(ended(answer, "exited"));
  EXPECT_LT(answer.result().size(), size_t{33} << 10);
  EXPECT_TRUE(
      contains(answer.result(), " bytes cut; read_tool_result with call_id " + answer.text("call_id")));
}

TEST_P(Adversaries, AFailureIsItsOwnExitCode) {
  executor("fails", "import sys\nprint('out')\nsys.stderr.write('err')\nsys.exit(3)\n");
  const Answer answer = survived("fails");
  EXPECT_TRUE(ended(answer, "exited"));
  EXPECT_EQ(answer.result(), "exit_code: 3\nstdout: out\n\nstderr: err");
}

FOR_EVERYONE(Adversaries);

}  // namespace
}  // namespace cloche::test
