// Nothing crosses from one call of a server to another: what one holds or has left the next one does not see,
// nor one that runs beside it; of run_python cold and warm, and of run_shell. And the server keeps nothing
// either.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <thread>

#include "mcp/driver.hpp"

namespace cloche::test {
namespace {

// look() names everything that is there of another call; leave() takes or leaves all of it.
const std::string both = R"py(
import ctypes, fcntl, glob, os, socket, sys, time
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
kept = []
def bound(kind, name):
    s = socket.socket(socket.AF_INET if isinstance(name, tuple) else socket.AF_UNIX, kind)
    s.bind(name)
    if kind == socket.SOCK_STREAM: s.listen()
    kept.append(s)
def attempt(f, *a):
    try: return f(*a)
    except OSError: return None
def connects(name):
    s = socket.socket(socket.AF_INET if isinstance(name, tuple) else socket.AF_UNIX)
    s.connect(name)
    return True
def key(call, *words): return libc.syscall(call, *words)
def leave():
    os.environ['LEFT'] = '1'
    os.putenv('LEFT', '1')
    attempt(bound, socket.SOCK_STREAM, '\0cloche-left')
    attempt(bound, socket.SOCK_STREAM, ('127.0.0.1', 4711))
    attempt(bound, socket.SOCK_DGRAM, ('127.0.0.1', 4712))
    libc.shmget(4711, 4096, 0o1666); libc.semget(4711, 1, 0o1666); libc.msgget(4711, 0o1666)
    libc.mq_open(b'/left', os.O_CREAT | os.O_RDWR, 0o666, None)
    key(248, b'user', b'left', b'x', 1, -3); key(248, b'user', b'left', b'x', 1, -4)
    for place in places: attempt(open, place + '/left', 'w')
    for _ in range(9): kept.extend(os.pipe())
    os.dup2(1, 77); os.set_inheritable(77, True)
    attempt(os.nice, 5); os.umask(0); os.chdir('/')
    attempt(os.sched_setaffinity, 0, {min(os.sched_getaffinity(0))})
    kept.append(bytearray(b'x') * (60 << 20))
    end = time.process_time() + 0.2
    while time.process_time() < end: pass
def look():
    yield 'environment', 'LEFT' in os.environ or b'LEFT=' in open('/proc/self/environ', 'rb').read()
    yield 'abstract', attempt(connects, '\0cloche-left') or attempt(bound, socket.SOCK_DGRAM, '\0cloche-left') or '\0cloche-left' in open('/proc/net/unix').read()
    yield 'port', attempt(connects, ('127.0.0.1', 4711))
    yield 'sockets', ':1267 ' in open('/proc/net/tcp').read() or ':1268 ' in open('/proc/net/udp').read()
    yield 'shm', libc.shmget(4711, 0, 0) >= 0
    yield 'sem', libc.semget(4711, 0, 0) >= 0
    yield 'msg', libc.msgget(4711, 0) >= 0
    yield 'mq', libc.mq_open(b'/left', os.O_RDWR) >= 0
    yield 'keys', key(250, 10, -3, b'user', b'left', 0) > 0 or key(250, 10, -4, b'user', b'left', 0) > 0
    yield 'files', any(os.path.exists(place + '/left') for place in places)
    yield 'descriptors', [f for f in os.listdir('/proc/self/fd') if int(f) > 3 + len(kept)]
    yield 'nice', os.nice(0)
    yield 'umask', os.umask(0o22) != 0o22
    yield 'directory', os.getcwd() == '/'
    yield 'processes', [p for p in os.listdir('/proc') if p.isdigit() and int(p) > os.getpid()]
places = [PLACES]
)py";

// run_shell has a home and a /tmp that a session's calls share, and says so.
const std::string fresh_places = "'/tmp', '/dev/shm', '/run', os.environ['HOME']";

std::string program(const std::string& end, const std::string& places) {
  std::string text = both + end;
  return text.replace(text.find("PLACES"), 6, places);
}

std::string as_json(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + '"';
}

struct Way {
  const char* tool;
  std::string places;

  std::string call(const std::string& end) const {
    const std::string text = as_json(program(end, places));
    const bool is_python = std::string(tool) == "run_python";
    return call_params(
        tool, is_python ? R"({"code":)" + text + "}" : R"({"argv":["python3","-"],"stdin":)" + text + "}");
  }
};
const Way ways[] = {{"run_python", fresh_places}, {"run_shell", "'/dev/shm', '/run'"}};
const std::string leaves = "leave()\nprint('left', sorted(name for name, there in look() if there))";
const std::string holds = leaves + "\nsys.stdout.flush()\ntime.sleep(0.7)";
const std::string looks = "print('sees', [(name, there) for name, there in look() if there])";

class McpCrossing : public testing::TestWithParam<As> {
 protected:
  McpCrossing() {
    scene.configure("{}");  // so that there is a home for the record
    client = std::make_unique<McpClient>(scene, std::vector<std::string>{"--run", run, "--warm", "python3"});
    client->shake_hands();
  }

  std::string ask(const std::string& params) { return text_of(client->ask(next_id(), "tools/call", params)); }
  std::string next_id() { return std::to_string(++id); }
  // The record's line of the call that ended last.
  std::string last_line() const {
    std::ifstream file(run / "tool_calls" / "main.jsonl");
    std::string line;
    for (std::string next; std::getline(file, next);) line = next;
    return line;
  }
  static uint64_t number(const std::string& line, const std::string& name) {
    const std::string key = '"' + name + "\":";
    const size_t at = line.find(key);
    return at == line.npos ? 0 : std::stoull(line.substr(at + key.size()));
  }
  // Of the processes that there are now, those below the server's.
  std::set<pid_t> below() const {
    std::map<pid_t, pid_t> parents;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") != name.npos) continue;
      const std::string status = read_file(entry.path() / "status");
      if (const size_t at = status.find("PPid:\t"); at != status.npos)
        parents[std::stoi(name)] = std::stoi(status.substr(at + 6));
    }
    std::set<pid_t> found;
    for (const auto& [process, parent] : parents) {
      pid_t above = parent;
      while (above > 1 && above != client->process().pid() && parents.contains(above)) above = parents[above];
      if (above == client->process().pid()) found.insert(process);
    }
    return found;
  }
  size_t entries(const std::string& what) const {
    const fs::path place = "/proc/" + std::to_string(client->process().pid()) + "/" + what;
    return static_cast<size_t>(std::distance(fs::directory_iterator(place), {}));
  }

  McpScene scene{GetParam()};
  const fs::path run = scene.root() / "home" / "run";
  std::unique_ptr<McpClient> client;
  int id = 0;
};

TEST_P(McpCrossing, NothingOfACallIsLeftForTheNext) {
  for (const Way& way : ways) {
    std::set<std::string> starts;
    const bool is_python = std::string(way.tool) == "run_python";
    for (int tries = 0; tries < 4 && starts.size() < (is_python ? 2U : 1U); ++tries) {
      const std::string left = ask(way.call(leaves));
      for (const char* name :
           {"abstract", "descriptors", "environment", "files", "nice", "port", "sockets", "umask"})
        EXPECT_NE(left.find('\'' + std::string(name) + '\''), left.npos) << name << ": " << left;
      const std::string heavy = last_line();
      if (tries % 2 == 1) std::this_thread::sleep_for(Millis(300));  // until an interpreter waits
      const std::string seen = ask(way.call(looks));
      EXPECT_NE(seen.find("sees []"), seen.npos) << way.tool << ": " << seen;
      const std::string light = last_line();
      const size_t start = light.find(R"("start":")");
      ASSERT_NE(start, light.npos) << light;
      starts.insert(light.substr(start + 9, 4));
      EXPECT_GT(number(heavy, "max_rss_bytes"), 60U << 20);
      EXPECT_LT(number(light, "max_rss_bytes"), 40U << 20) << "and of its counters";
      EXPECT_LT(number(light, "memory_peak_bytes"), 40U << 20);
      EXPECT_GE(number(heavy, "cpu_ms"), 200U);
      EXPECT_LT(number(light, "cpu_ms") + 100, number(heavy, "cpu_ms"));
    }
  }
}

TEST_P(McpCrossing, NothingOfACallIsSeenBesideIt) {
  for (const Way& first : ways) {
    for (const Way& second : ways) {
      const std::string beside = next_id();
      client->send(R"({"jsonrpc":"2.0","id":)" + beside + R"(,"method":"tools/call","params":)" +
                   first.call(holds) + "}");
      std::this_thread::sleep_for(Millis(300));
      for (int call = 0; call < 2; ++call) {
        const std::string seen = ask(second.call(looks));
        EXPECT_NE(seen.find("sees []"), seen.npos) << first.tool << " " << second.tool << ": " << seen;
      }
      const std::string left = text_of(client->answer(beside));
      EXPECT_NE(left.find("'port'"), left.npos) << left;
    }
  }
}

// Of calls that found an interpreter, of some that did not, and of some that were killed.
TEST_P(McpCrossing, TheServerKeepsNothingOfItsCalls) {
  const auto settled = [&] {
    std::set<pid_t> before;
    for (int tries = 0; tries < 100; ++tries) {
      std::this_thread::sleep_for(Millis(60));
      const std::set<pid_t> now = below();
      if (!now.empty() && now == before) break;
      before = now;
    }
    return std::pair(before.size(), entries("fd"));
  };
  const auto call = [&](int number) {
    if (number % 3 == 0) std::this_thread::sleep_for(Millis(40));
    const bool is_killed = number % 10 == 9;
    const std::string code = is_killed ? "import os; os.kill(os.getpid(), 9)" : "print(1)";
    const std::string said = ask(call_params("run_python", R"({"code":")" + code + R"("})"));
    EXPECT_EQ(said.find("exit_code: 0") == 0, !is_killed) << said;
  };
  for (int number = 0; number < 10; ++number) call(number);
  const auto before = settled();
  constexpr int calls = 120;
  for (int number = 0; number < calls; ++number) call(number);
  const auto after = settled();
  // What waits for the next call, and files for its output, come and go; what a call left would be there a
  // hundred times.
  constexpr size_t few = 8;
  EXPECT_LE(after.first, before.first + few) << "processes below it";
  EXPECT_LE(after.second, before.second + few) << "descriptors";
}

INSTANTIATE_TEST_SUITE_P(As, McpCrossing, testing::ValuesIn(identities()),
                         [](const auto& each) { return name_of(each.param); });

}  // namespace
}  // namespace cloche::test
