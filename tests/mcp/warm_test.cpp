// run_python in an interpreter that was started before: what it prints and how it ends is what one that is
// started for the call would, it is confined the same way, and nothing of one call is there in another.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string_view>
#include <thread>

#include "mcp/driver.hpp"
#include "mcp/warm_programs.hpp"

namespace cloche::test {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    constexpr std::string_view digits = "0123456789abcdef";
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (c >= 0 && c < ' ') {
      out += std::string("\\u00") + digits[static_cast<size_t>(c) / 16] + digits[c % 16];
    } else {
      out += c;
    }
  }
  return out + '"';
}

// Addresses in memory, and the ids of calls.
std::string without_numbers(const std::string& text) {
  static const std::regex numbers("0x[0-9a-f]+|c-[0-9]+");
  return std::regex_replace(text, numbers, "N");
}

// The word of the last line of the record that says how a call was started.
std::string last_start(const fs::path& run) {
  constexpr off_t most_of_a_line = 64 << 10;
  std::string end;
  for (const auto& entry : fs::recursive_directory_iterator(run)) {
    if (entry.path().filename() != "main.jsonl") continue;
    std::ifstream file(entry.path());
    file.seekg(-std::min<off_t>(most_of_a_line, static_cast<off_t>(entry.file_size())), std::ios::end);
    end.assign(std::istreambuf_iterator<char>(file), {});
  }
  const std::string key = R"("start":")";
  const size_t line = end.size() < 2 ? 0 : end.rfind('\n', end.size() - 2) + 1;
  const size_t at = end.find(key, line);
  return at != end.npos ? end.substr(at + key.size(), 4) : "";
}

class McpWarm : public testing::TestWithParam<As> {
 protected:
  McpWarm() { scene.configure("{}"); }  // so that there is a home for the record

  std::string ask(McpClient& client, const std::string& code) {
    return text_of(client.ask(std::to_string(++id), "tools/call",
                              call_params("run_python", R"({"code":)" + quoted(code) + "}")));
  }
  // Asks until the call found its interpreter started.
  std::string ask_warm(McpClient& client, const std::string& code) {
    for (int tries = 0; tries < 100; ++tries) {
      std::this_thread::sleep_for(Millis(30));
      const std::string text = ask(client, code);
      if (last_start(run) == "warm") return text;
    }
    ADD_FAILURE() << "no call found an interpreter that waited";
    return "";
  }
  // By one server, whose calls are cold ones where no interpreter waits.
  void expect_same(McpClient& client, const std::string& program) {
    std::map<std::string, std::string> said;  // by how it was started
    for (int tries = 0; tries < 100 && said.size() < 2; ++tries) {
      const std::string text = without_numbers(ask(client, program));
      said[last_start(run)] = text;
    }
    EXPECT_EQ(said.size(), 2U) << program;
    EXPECT_EQ(said["warm"], said["cold"]) << program;
  }
  // The interpreter that waits: a process below the server's with these words.
  pid_t waiting(McpClient& client) const {
    for (int tries = 0; tries < 200; ++tries) {
      for (const auto& entry : fs::directory_iterator("/proc")) {
        const std::string name = entry.path().filename();
        if (name.find_first_not_of("0123456789") != std::string::npos) continue;
        if (!read_file(entry.path() / "cmdline")
                 .starts_with(std::string("python3\0-I\0/run/cloche/main.py", 30)))
          continue;
        if (is_below(std::stoi(name), client.process().pid())) return std::stoi(name);
      }
      std::this_thread::sleep_for(Millis(20));
    }
    return -1;
  }
  static pid_t parent_of(pid_t process) {
    const std::string status = read_file("/proc/" + std::to_string(process) + "/status");
    const size_t at = status.find("PPid:\t");
    return at == std::string::npos ? 0 : std::stoi(status.substr(at + 6));
  }
  static bool is_below(pid_t process, pid_t ancestor) {
    while (process > 1 && process != ancestor) process = parent_of(process);
    return process == ancestor;
  }

  McpScene scene{GetParam()};
  const fs::path run = scene.root() / "home" / "run";
  int id = 0;
};

// An expression each, printed with its value.
const std::string expressions =
    R"py(import atexit, faulthandler, gc, inspect, io, locale, logging, os, resource
import signal, socket, sys, sysconfig, tempfile, threading, time, traceback, warnings
def attempt(f, *a):
    try: return f(*a)
    except BaseException as e: return type(e).__name__, str(e)
def depth(n=0):
    try: return depth(n + 1)
    except RecursionError: return n
for line in '''sys.argv
sys.orig_argv
sys.path
sys.flags
sys.warnoptions
sys._xoptions
sys.executable
sys.version
sys.prefix, sys.exec_prefix, sys.base_prefix
sys.platlibdir, sys.implementation.cache_tag
sys.dont_write_bytecode, sys.pycache_prefix
sys.getrecursionlimit(), depth()
sys.getswitchinterval()
sys.getfilesystemencoding(), sys.getdefaultencoding()
sys.stdin.encoding, sys.stdout.encoding, sys.stderr.encoding
sys.stdin.errors, sys.stdout.errors, sys.stderr.errors
sys.stdout.line_buffering, sys.stdout.isatty(), sys.stdin.isatty()
sys.stdin.read()
sys._getframe().f_back.f_code.co_name
sys._getframe().f_back.f_back
sys.gettrace(), sys.getprofile()
sys.excepthook is sys.__excepthook__
sys.hash_info.algorithm
sys.meta_path, sys.path_hooks[0]
sorted(sys.path_importer_cache)
sorted(sys.modules)
__name__, __file__, __doc__, __spec__, __package__
type(__loader__), __loader__.path, type(__builtins__)
sorted(globals())
open(__file__).read() == inspect.getsource(sys.modules['__main__'])
os.stat(__file__).st_size, os.stat(__file__).st_mode, os.stat(__file__).st_nlink, os.stat(__file__).st_uid
attempt(open, __file__, 'a')
attempt(os.unlink, __file__)
attempt(os.mkfifo, '/run/cloche/x')
abs(time.time() - os.stat(__file__).st_mtime) < 30
os.getcwd()
sorted(os.environ.items())
open('/proc/self/environ').read()
open('/proc/self/cmdline').read()
open('/proc/self/comm').read()
os.umask(0o22)
sorted(os.listdir('/proc/self/fd'))
[os.readlink('/proc/self/fd/%d' % i).split(':')[0] for i in range(3)]
[os.get_inheritable(i) for i in range(3)], [os.get_blocking(i) for i in range(3)]
sorted(os.listdir('/')), os.listdir('/run'), os.listdir('/run/cloche'), os.listdir('/tmp')
sorted(os.listdir('/dev')), os.listdir('/dev/shm'), os.listdir(os.environ['HOME'])
os.getpid(), os.getppid(), os.getpgid(0), os.getsid(0)
os.getresuid(), os.getresgid(), os.getgroups()
sorted(os.sched_getaffinity(0)), os.getpriority(0, 0), os.sched_getscheduler(0)
os.uname()[:2]
[(n, resource.getrlimit(getattr(resource, n))) for n in sorted(dir(resource)) if n.startswith('RLIMIT_')]
[(s.name, str(signal.getsignal(s))[:40]) for s in sorted(signal.Signals)]
signal.pthread_sigmask(signal.SIG_BLOCK, []), signal.getitimer(0), signal.alarm(0)
[l for l in open('/proc/self/status') if l.split(':')[0] in ('Seccomp', 'Seccomp_filters', 'NoNewPrivs', 'Threads', 'NSpid', 'Umask', 'SigBlk', 'SigIgn', 'SigCgt', 'ShdPnd', 'TracerPid') or l.startswith('Cap')]
[' '.join(l.split()[4:6] + l.split(' - ')[1].split()[:1]) for l in open('/proc/self/mountinfo')]
open('/proc/self/oom_score_adj').read(), open('/proc/self/loginuid').read() if os.path.exists('/proc/self/loginuid') else ''
open('/proc/net/dev').read().count(':')
attempt(open, '/etc/shadow'), attempt(open, '/root/x'), attempt(open, '/usr/x', 'w'), attempt(os.mkdir, '/x')
attempt(os.listdir, '/proc/1/fd'), attempt(os.readlink, '/proc/1/root')
attempt(open, '/proc/1/mem'), attempt(open, '/dev/mem'), attempt(os.mkfifo, '/usr/f')
attempt(socket.create_connection, ('192.0.2.1', 80), 1), attempt(socket.socket, 17, 3)
attempt(os.kill, 1, 0), attempt(os.chroot, '/tmp'), attempt(os.setuid, 0), attempt(os.chown, '/tmp', 0, 0)
attempt(os.fork), attempt(threading.Thread(target=print).start), attempt(os.posix_spawn, '/bin/true', ['true'], {})
attempt(os.mknod, '/tmp/n', 0o20644, 0x103), attempt(os.sethostname, 'x') if hasattr(os, 'sethostname') else ''
attempt(__import__('subprocess').run, ['true'])
attempt(__import__('multiprocessing').get_context('fork').Process(target=print).start)
attempt(__import__('multiprocessing').get_context('spawn').Process(target=print).start)
attempt(__import__('ctypes').CDLL(None).unshare, 0x10000000)
locale.getlocale(), locale.setlocale(locale.LC_ALL), locale.getpreferredencoding(False)
threading.active_count(), threading.current_thread().name, threading.main_thread() is threading.current_thread()
faulthandler.is_enabled(), gc.isenabled(), gc.get_threshold(), gc.get_freeze_count()
logging.getLogger().handlers, logging.getLogger().level
[str(f[:3]) for f in warnings.filters]
tempfile.gettempdir(), time.tzname, sysconfig.get_path('purelib')
io.text_encoding(None), attempt(input)
attempt(atexit._ncallbacks)
len(inspect.stack()), len(traceback.extract_stack())'''.split('\n'):
    print(line, '=', attempt(eval, line))
)py";

TEST_P(McpWarm, IsWhatAStartForTheCallIs) {
  McpClient client(scene, {"--run", run, "--pool", "0", "--warm", "python3"});
  client.shake_hands();
  expect_same(client, expressions);
}

// Some as root and the rest as an ordinary user, where there are both.
TEST_P(McpWarm, SmallProgramsPrintFailAndEndTheSame) {
  McpClient client(scene, {"--run", run, "--pool", "0", "--warm", "python3"});
  client.shake_hands();
  const std::vector<std::string> programs = small_programs();
  EXPECT_GE(programs.size(), 200U);
  for (size_t i = GetParam() == As::self ? 0 : 1; i < programs.size(); i += identities().size())
    expect_same(client, programs[i]);
}

// By what is random at a start, and by what one could leave behind.
TEST_P(McpWarm, NoCallHasAnythingOfAnother) {
  McpClient client(scene, {"--run", run, "--pool", "0", "--warm", "python3"});
  client.shake_hands();
  const std::string random =
      "import random, uuid, secrets, tempfile\nprint(random.random(), uuid.uuid4(), secrets.token_hex(), "
      "tempfile.mktemp(), hash('x'), id(print), open('/proc/self/maps').readline())";
  std::set<std::string> words;
  constexpr int calls = 4;
  for (int call = 0; call < calls; ++call) words.insert(ask_warm(client, random));
  EXPECT_EQ(words.size(), static_cast<size_t>(calls));
  const std::string leave =
      "import os, sys, json, builtins, signal\nos.environ['LEFT'] = '1'; json.left = builtins.left = 1\n"
      "open('/tmp/left', 'w'); open('/dev/shm/left', 'w'); open('/run/left', 'w')\n"
      "open(os.environ['HOME'] + '/left', 'w'); os.umask(0); os.chdir('/'); sys.path.append('/tmp')\n"
      "signal.signal(signal.SIGTERM, signal.SIG_IGN); os.dup2(1, 77); sys.setrecursionlimit(9999); "
      "print('left')";
  const std::string look =
      "import os, sys, json, builtins, signal, glob\nprint('LEFT' in os.environ, hasattr(json, 'left'), "
      "hasattr(builtins, 'left'), glob.glob('/tmp/*') + glob.glob('/dev/shm/*') + glob.glob('/run/*') + "
      "glob.glob(os.environ['HOME'] + '/*'), os.umask(0), os.getcwd(), '/tmp' in sys.path, "
      "signal.getsignal(signal.SIGTERM) == signal.SIG_DFL, os.path.exists('/proc/self/fd/77'), "
      "sys.getrecursionlimit())";
  EXPECT_EQ(ask_warm(client, leave), "exit_code: 0\nstdout: left\n\nstderr: ");
  EXPECT_EQ(
      ask_warm(client, look),
      "exit_code: 0\nstdout: False False False ['/run/cloche'] 18 /tmp False True False 1000\n\nstderr: ");
}

TEST_P(McpWarm, AnInterpreterThatWasKilledOrStoppedCostsAColdStart) {
  McpClient client(scene, {"--run", run, "--pool", "0", "--warm", "python3"});
  client.shake_hands();
  const std::string one = "exit_code: 0\nstdout: 1\n\nstderr: ";
  for (const int number : {SIGKILL, SIGSTOP}) {
    // The interpreter, process 1 of its sandbox, and their keeper.
    for (int above = 0; above < 3; ++above) {
      EXPECT_EQ(ask_warm(client, "print(1)"), one);
      pid_t process = waiting(client);
      for (int step = 0; step < above; ++step) process = parent_of(process);
      ASSERT_GT(process, 1);
      ASSERT_EQ(::kill(process, number), 0);
      std::this_thread::sleep_for(Millis(50));
      EXPECT_EQ(ask(client, "print(1)"), one) << number << " " << above;
      EXPECT_EQ(last_start(run), "cold") << number << " " << above;
    }
  }
  EXPECT_EQ(ask_warm(client, "print(1)"), one) << "and the next has one again";
}

// Another process of the same user has opened the pipe, and written to it.
TEST_P(McpWarm, AnInterpreterThatWasSpokenToCostsAColdStart) {
  McpClient client(scene, {"--run", run, "--pool", "0", "--warm", "python3"});
  client.shake_hands();
  const std::string one = "exit_code: 0\nstdout: 1\n\nstderr: ";
  for (const bool lets_go : {true, false}) {
    EXPECT_EQ(ask_warm(client, "print(1)"), one);
    const pid_t process = waiting(client);
    ASSERT_GT(process, 1);
    std::ofstream pipe("/proc/" + std::to_string(process) + "/root/run/cloche/main.py");
    pipe << "print('another')" << std::flush;
    ASSERT_TRUE(pipe.good());
    if (lets_go) pipe.close();
    std::this_thread::sleep_for(Millis(50));
    EXPECT_EQ(ask(client, "print(1)"), one) << lets_go;
    EXPECT_EQ(last_start(run), "cold") << lets_go;
  }
  EXPECT_EQ(ask_warm(client, "print(1)"), one) << "and the next has one again";
}

// In the one that waits, and nowhere else; what cannot be imported says so where it is used.
TEST_P(McpWarm, ModulesAreImportedBeforeTheScriptIsThere) {
  const std::string modules = "python3:decimal,xml.dom.minidom,no_such_module";
  McpClient client(scene, {"--run", run, "--pool", "0", "--warm", modules});
  client.shake_hands();
  const std::string print =
      "import sys\nprint([name in sys.modules for name in ('decimal', 'xml.dom.minidom', "
      "'csv')], 'name' in vars(sys.modules['sitecustomize']), sys.path, sys.argv, "
      "sys._getframe().f_back, open('/proc/self/cmdline').read())";
  const std::string warm = ask_warm(client, print);
  EXPECT_NE(warm.find("[True, True, False] False"), warm.npos) << warm;
  std::string cold = warm;
  for (int tries = 0; tries < 20 && cold == warm; ++tries) cold = ask(client, print);
  EXPECT_EQ(cold, std::string(warm).replace(warm.find("True, True"), 10, "False, False"));
  for (const char* program :
       {"import decimal\nprint(decimal.Decimal(1) / 3)", "import no_such_module",
        "import decimal\ndecimal.Decimal('x')",
        "import random, uuid\nprint(random.Random(3).random(), uuid.uuid5(uuid.NAMESPACE_DNS, 'a'))", "1/0"})
    expect_same(client, program);
  // Neither from the workspace nor from a home.
  scene.write("workspace/decimal.py", "raise SystemExit(9)");
  scene.write("home/.local/lib/python3/site-packages/decimal.py", "raise SystemExit(9)");
  EXPECT_NE(ask_warm(client, "import decimal\nprint(decimal.__file__)").find("/usr/lib/python3"),
            std::string::npos);
}

TEST_P(McpWarm, WhatMustBeAFileWhenItIsOpenedIsStartedForTheCall) {
  McpClient client(scene, {"--run", run, "--pool", "0", "--warm", "python3"});
  client.shake_hands();
  EXPECT_EQ(ask_warm(client, "print(1)"), "exit_code: 0\nstdout: 1\n\nstderr: ");
  for (const auto& code :
       {std::string("# coding: latin-1\nprint(1)"), "print(1)\n#" + std::string(70'000, 'x')}) {
    ASSERT_GT(waiting(client), 0);
    EXPECT_EQ(ask(client, code), "exit_code: 0\nstdout: 1\n\nstderr: ");
    EXPECT_EQ(last_start(run), "cold");
  }
}

TEST_P(McpWarm, TheKeyDoesItToo) {
  scene.configure(R"({"warm": ["python3"], "pool": 0})");
  McpClient client(scene, {"--run", run});
  client.shake_hands();
  EXPECT_EQ(ask_warm(client, "print(1)"), "exit_code: 0\nstdout: 1\n\nstderr: ");
}

INSTANTIATE_TEST_SUITE_P(As, McpWarm, testing::ValuesIn(identities()),
                         [](const auto& each) { return name_of(each.param); });

}  // namespace
}  // namespace cloche::test
