// run_python in an interpreter that was started before: what it prints and how it ends is what one that is
// started for the call would, it is confined the same way, and nothing of one call is there in another.
#include <gtest/gtest.h>
#include <signal.h>

#include <regex>
#include <set>
#include <thread>

#include "mcp/driver.hpp"

namespace cloche::test {
namespace {

std::string quoted(const std::string& text) {
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

// Addresses in memory, and the ids of calls.
std::string without_numbers(const std::string& text) {
  static const std::regex numbers("0x[0-9a-f]+|c-[0-9]+");
  return std::regex_replace(text, numbers, "N");
}

// The word of the last line of the record that says how a call was started.
std::string last_start(const fs::path& run) {
  std::string said;
  for (const auto& entry : fs::recursive_directory_iterator(run)) {
    if (entry.path().filename() != "main.jsonl") continue;
    const std::string text = read_file(entry.path());
    const std::string key = R"("start":")";
    const size_t line = text.rfind('\n', text.size() - 2) + 1;
    if (const size_t at = text.find(key, line); at != std::string::npos)
      said = text.substr(at + key.size(), 4);
  }
  return said;
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
  void expect_same(const std::vector<std::string>& programs) {
    McpClient cold(scene);
    cold.shake_hands();
    McpClient warm(scene, {"--run", run, "--warm", "python3"});
    warm.shake_hands();
    for (const auto& program : programs)
      EXPECT_EQ(without_numbers(ask_warm(warm, program)), without_numbers(ask(cold, program))) << program;
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

TEST_P(McpWarm, IsWhatAStartForTheCallIs) { expect_same({expressions}); }

TEST_P(McpWarm, PrintsTheSame) {
  expect_same({
      "print(1)",
      "",
      "#",
      "'only a string'",
      "print('é 漢字 🙂')",
      "print('no end', end='')",
      "print('a\\n' * 40000)",
      "import sys\nsys.stdout.write('o'); sys.stderr.write('e'); sys.stdout.flush(); print('x', "
      "file=sys.stderr)",
      "import os\nos.write(1, b'raw'); os.write(2, b'err')",
      "import sys\nsys.stdout.buffer.write(bytes(range(256)))",
      "import sys\nsys.stdout.close()",
      "import os\nos.close(1)\nprint('lost')",
      "from __future__ import annotations\nprint(__annotations__)",
      "'doc'\nprint(__doc__)",
      "import atexit\natexit.register(print, 'one'); atexit.register(print, 'two')",
      "class A:\n    def __del__(self): print('gone')\na = A()",
      "import warnings\nwarnings.warn('look'); warnings.warn('deep', stacklevel=2)\ndef f(): "
      "warnings.warn('f')\nf()",
      "import logging\nlogging.warning('w'); logging.error('e', stack_info=True)",
      "import asyncio\nasync def f(): return 3\nprint(asyncio.run(f()))",
      "import pickle\nclass A: pass\nprint(pickle.dumps(A()))",
      "import random, hashlib\nrandom.seed(1); print(random.random(), hashlib.sha256(b'x').hexdigest())",
      "import tempfile\nf = tempfile.NamedTemporaryFile()\nf.write(b'x'); print(f.tell())",
      "import doctest\ndef f():\n    '''\n    >>> f()\n    2\n    '''\n    return 1\ndoctest.testmod()",
      "import traceback\ndef f(): traceback.print_stack()\nf()",
      "import faulthandler, sys\nfaulthandler.dump_traceback(all_threads=True)",
      "import sys\nsys.setrecursionlimit(77)\ndef f(n): return f(n + 1)\nf(0)",
  });
}

TEST_P(McpWarm, EndsTheSame) {
  std::vector<std::string> programs;
  for (const char* how : {"0", "3", "255", "256", "-1", "None", "'text'", "2.5"})
    programs.push_back("import sys\nprint('x')\nsys.exit(" + std::string(how) + ")");
  for (const char* number : {"SIGTERM", "SIGKILL", "SIGSEGV", "SIGINT", "SIGUSR1", "SIGPIPE", "SIGABRT"})
    programs.push_back("import os, signal\nprint('x', flush=True)\nos.kill(os.getpid(), signal." +
                       std::string(number) + ")\nprint('after')");
  for (const char* text :
       {"import os\nprint('lost')\nos._exit(7)", "quit()", "raise KeyboardInterrupt",
        "import faulthandler, os\nfaulthandler.enable()\nos.abort()",
        "import sys\nsys.excepthook = lambda *a: print('hook', a[0])\n1/0",
        "import atexit\natexit.register(lambda: 1/0)", "open('/tmp/f', 'wb').write(bytes(2 << 20))"})
    programs.emplace_back(text);
  expect_same(programs);
}

TEST_P(McpWarm, FailsTheSame) {
  std::vector<std::string> programs;
  for (const char* text : {"1/0",
                           "def f(x):\n  return x['k'] + g(x)\nf({})",
                           "import json\njson.loads('{')",
                           "raise SystemError",
                           "try:\n  1/0\nexcept Exception as e:\n  raise ValueError('b') from e",
                           "try:\n  1/0\nexcept Exception:\n  raise ValueError('b') from None",
                           "e = ValueError('a')\ne.add_note('note')\nraise e",
                           "raise ExceptionGroup('g', [ValueError(1), TypeError(2)])",
                           "import no_such_module",
                           "from os import no_such_name",
                           "class A:\n  def __del__(self): 1/0\nA()",
                           "assert 1 == 2, 'why'",
                           "x = (1 +\n     'a')",
                           "print('é'); raise ValueError('漢字')",
                           "exec(compile('1/0', 'other.py', 'exec'))",
                           "print(1",
                           "def f(:\n  pass",
                           "if 1:\nprint(2)",
                           "if 1:\n\tx = 1\n        y = 2",
                           "x = 'open",
                           "x = '''open",
                           "return 1",
                           "await x",
                           "0777",
                           "\xef\xbb\xbfprint('mark')",
                           "print(1)\x0c\nprint(2)",
                           "x = $",
                           "\\"})
    programs.emplace_back(text);
  expect_same(programs);
}

// By what is random at a start, and by what one could leave behind.
TEST_P(McpWarm, NoCallHasAnythingOfAnother) {
  McpClient client(scene, {"--run", run, "--warm", "python3"});
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
  McpClient client(scene, {"--run", run, "--warm", "python3"});
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

TEST_P(McpWarm, WhatMustBeAFileWhenItIsOpenedIsStartedForTheCall) {
  McpClient client(scene, {"--run", run, "--warm", "python3"});
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
  scene.configure(R"({"warm": ["python3"]})");
  McpClient client(scene, {"--run", run});
  client.shake_hands();
  EXPECT_EQ(ask_warm(client, "print(1)"), "exit_code: 0\nstdout: 1\n\nstderr: ");
}

INSTANTIATE_TEST_SUITE_P(As, McpWarm, testing::ValuesIn(identities()),
                         [](const auto& each) { return name_of(each.param); });

}  // namespace
}  // namespace cloche::test
