#include "mcp/warm_programs.hpp"

#include <string_view>

namespace cloche::test {
namespace {

// One after another, with a line of dashes between two.
constexpr std::string_view table = R"py(print(1)
---
#
---
'only a string'
---
print('é 漢字 🙂')
---
print('no end', end='')
---
print('a\n' * 40000)
---
print('x' * 300000)
---
for i in range(3000): print(i, 'line')
---
import sys
sys.stdout.write('o'); sys.stderr.write('e'); sys.stdout.flush(); print('x', file=sys.stderr)
---
import os
os.write(1, b'raw'); os.write(2, b'err')
---
import sys
sys.stdout.buffer.write(bytes(range(256)))
---
import sys
sys.stdout.close()
---
import sys
sys.stderr.close()
1/0
---
import os
os.close(1)
print('lost')
---
import os
os.close(0); os.close(2)
print(os.dup(1))
---
import sys
print(sys.stdin.read() == '', sys.stdin.readline() == '', sys.stdin.isatty())
---
input('name? ')
---
import sys
for line in sys.stdin: print(line)
print('none')
---
import os
print(os.read(0, 10), os.fstat(0).st_size)
---
from __future__ import annotations
print(__annotations__)
---
'doc'
print(__doc__)
---
print(__name__, __file__, __package__, __spec__)
---
if __name__ == '__main__':
    print('main')
---
import sys
print(sys.argv, sys.orig_argv, sys.path[0], sys.flags.isolated)
---
import sys
print(sys.modules['__main__'].__dict__ is globals(), sys.executable)
---
import __main__
print(sorted(vars(__main__)))
---
print(sorted(globals()), __builtins__)
---
import sys
print(sys._getframe().f_code, sys._getframe().f_lineno, sys._getframe().f_back)
---
import inspect
print(inspect.stack()[0].filename, len(inspect.stack()), inspect.stack()[0].code_context)
---
import inspect
def f():
    return 1
print(inspect.getsource(f))
---
import linecache
print(linecache.getlines(__file__))
---
print(open(__file__).read())
---
import runpy
print(runpy.run_path('/usr/lib/python3/dist-packages/none.py'))
---
import this
---
import atexit
atexit.register(print, 'one'); atexit.register(print, 'two')
---
import atexit, sys
atexit.register(print, 'last')
sys.exit(4)
---
import atexit
atexit.register(lambda: 1/0)
---
import atexit, os
atexit.register(print, 'never')
os._exit(5)
---
class A:
    def __del__(self): print('gone')
a = A()
---
class A:
    def __del__(self): print('gone', self.b)
a = A(); a.b = a
---
import weakref
class A: pass
a = A()
weakref.finalize(a, print, 'finalized')
---
import warnings
warnings.warn('look'); warnings.warn('deep', stacklevel=2)
def f(): warnings.warn('f')
f()
---
import warnings
warnings.simplefilter('error')
warnings.warn('now an error')
---
import warnings
warnings.warn('old', DeprecationWarning)
---
x = 1
print(x is 1)
---
'\d'
---
assert (1, 'always')
---
open('/dev/null')
import gc; gc.collect()
---
import logging
logging.warning('w'); logging.error('e', stack_info=True)
---
import logging
try: 1/0
except Exception: logging.exception('why')
---
import asyncio
async def f(): return 3
print(asyncio.run(f()))
---
import asyncio
async def f(): raise ValueError('in a task')
asyncio.run(f())
---
import asyncio
async def f(): pass
f()
---
import asyncio
async def main():
    async def f(n):
        await asyncio.sleep(0.001 * n)
        return n
    print(await asyncio.gather(*map(f, range(4))))
asyncio.run(main())
---
import pickle
class A: pass
print(pickle.dumps(A()), pickle.loads(pickle.dumps(A())).__class__)
---
import random, hashlib
random.seed(1); print(random.random(), hashlib.sha256(b'x').hexdigest())
---
import random
random.seed('text'); print(random.sample(range(99), 5), random.gauss(0, 1))
---
import random
print(0 <= random.random() < 1, random.getstate()[0], len(random.getstate()[1]))
---
import uuid
u = uuid.uuid4(); print(u.version, u.variant, len(str(u)), uuid.uuid5(uuid.NAMESPACE_DNS, 'a.org'))
---
import secrets
print(len(secrets.token_hex(8)), len(secrets.token_bytes()), secrets.randbelow(1))
---
import os
print(len(os.urandom(16)), os.urandom(0), len(os.getrandom(3)))
---
import tempfile
f = tempfile.NamedTemporaryFile()
f.write(b'x'); print(f.tell())
---
import tempfile, os
print(tempfile.gettempdir(), os.path.dirname(tempfile.mkdtemp()), len(os.listdir('/tmp')))
---
import tempfile
with tempfile.TemporaryDirectory() as d:
    open(d + '/x', 'w').write('y')
    print(open(d + '/x').read())
---
import os
os.open('/usr/x', os.O_CREAT)
---
import doctest
def f():
    '''
    >>> f()
    2
    '''
    return 1
doctest.testmod()
---
import unittest
class T(unittest.TestCase):
    def test(self): self.assertEqual(1, 2)
suite = unittest.defaultTestLoader.loadTestsFromTestCase(T)
print(unittest.TextTestRunner(stream=open('/dev/null', 'w')).run(suite))
---
import traceback
def f(): traceback.print_stack()
f()
---
import traceback
try: 1/0
except ZeroDivisionError: traceback.print_exc()
---
import faulthandler, sys
faulthandler.dump_traceback(all_threads=True)
---
import sys
sys.setrecursionlimit(77)
def f(n): return f(n + 1)
f(0)
---
def f(n): return f(n + 1)
try: f(0)
except RecursionError as e: print(e)
---
1/0
---
def f(x):
  return x['k'] + g(x)
f({})
---
import json
json.loads('{')
---
raise SystemError
---
raise Exception
---
raise Exception('é', 1, None)
---
raise 'text'
---
try:
  1/0
except Exception as e:
  raise ValueError('b') from e
---
try:
  1/0
except Exception:
  raise ValueError('b')
---
try:
  1/0
except Exception:
  raise ValueError('b') from None
---
try:
  1/0
finally:
  print('finally')
---
e = ValueError('a')
e.add_note('note')
raise e
---
raise ExceptionGroup('g', [ValueError(1), TypeError(2)])
---
try:
  raise ExceptionGroup('g', [ValueError(1), OSError(2)])
except* ValueError as e:
  print(e)
---
class Mine(Exception):
  def __str__(self): return 'mine ' + str(self.args)
raise Mine(1)
---
class Bad(Exception):
  def __str__(self): 1/0
raise Bad
---
raise BaseException('base')
---
raise GeneratorExit
---
raise StopIteration(3)
---
next(iter([]))
---
raise MemoryError
---
import no_such_module
---
import os.no_such_module
---
from os import no_such_name
---
from . import x
---
import sys
sys.path.append('/tmp')
open('/tmp/mine.py', 'w').write('print("imported", __name__, __file__)')
import mine
---
import sys
sys.path.append('/tmp')
open('/tmp/broken.py', 'w').write('x = 1\ny = x / 0\n')
import broken
---
import sys
sys.path.append('/tmp')
open('/tmp/wrong.py', 'w').write('x = (')
import wrong
---
import importlib, json
importlib.reload(json); print(json.dumps({'a': [1, None]}))
---
class A:
  def __del__(self): 1/0
A()
---
assert 1 == 2, 'why'
---
x = (1 +
     'a')
---
a = {'b': [1]}
print(a['b'][1] + a['c'])
---
undefined_name
---
x = 1
del x
print(x)
---
print('é'); raise ValueError('漢字')
---
exec(compile('1/0', 'other.py', 'exec'))
---
exec('raise ValueError(1)')
---
eval('1 +')
---
[1/0 for x in range(3)]
---
(lambda: 1/0)()
---
def g():
  yield 1
  raise ValueError('in a generator')
list(g())
---
class C:
  x = 1/0
---
class D(1): pass
---
None.attribute
---
[].append(1, 2)
---
int('x')
---
'a' + 1
---
{}[[]]
---
open('/nonexistent/file')
---
open('/etc/shadow')
---
print(1
---
def f(:
  pass
---
if 1:
print(2)
---
if 1:
	x = 1
        y = 2
---
x = 'open
---
x = '''open
---
return 1
---
await x
---
yield 1
---
0777
---
x = $
---
\
---
f(**{'a': 1}, a=2)
---
for x in 1: pass
---
import
---
print 'old'
---
match 3:
  case int(x): print('int', x)
---
nonlocal x
---
def f(a, a): pass
---
x = 1 if
---
'\N{no such name}'
---
b'é'
---
print(f'{1!x}')
---
print(f'{1:{2}}|{"a":>4}|{3.14159:.2f}')
---
print('\ud800')
---
print('a\ud800b'.encode('utf-8', 'surrogateescape'))
---
print('\udc80'.encode('utf-8', 'surrogateescape'))
---
import sys
print('\ud800', file=sys.stderr)
---
b'\xff'.decode()
---
'é'.encode('ascii')
---
import sys
sys.stdout.reconfigure(encoding='latin-1')
print('é')
---
import sys
sys.stdout.reconfigure(encoding='ascii')
print('é')
---
import sys
sys.stdout.reconfigure(line_buffering=True)
print('a'); print('b', file=sys.stderr)
---
import io, sys
sys.stdout = io.StringIO()
print('kept'); sys.__stdout__.write('shown')
---
import sys
sys.stdout = None
print('nowhere')
---
import sys
sys.displayhook(5); sys.displayhook(None); sys.excepthook(ValueError, ValueError(1), None)
---
import sys
sys.excepthook = lambda *a: print('hook', a[0])
1/0
---
import sys
sys.excepthook = lambda *a: 1/0
raise ValueError
---
import sys
sys.unraisablehook = lambda u: print('unraisable', u.exc_type)
class A:
  def __del__(self): 1/0
A()
---
import threading
t = threading.Thread(target=print, args=('in a thread',)); t.start(); t.join()
---
import threading
t = threading.Thread(target=lambda: 1/0); t.start(); t.join(); print('after')
---
import threading, time
threading.Thread(target=lambda: (time.sleep(0.02), print('late'))).start(); print('early')
---
import threading, time
threading.Thread(target=lambda: time.sleep(9), daemon=True).start(); print('does not wait')
---
import threading
def f():
    raise SystemExit(3)
t = threading.Thread(target=f); t.start(); t.join(); print('goes on')
---
import threading
l = threading.Lock(); l.release()
---
import concurrent.futures
with concurrent.futures.ThreadPoolExecutor(2) as pool: print(list(pool.map(lambda x: x * x, range(5))))
---
import queue
queue.Queue().get_nowait()
---
import subprocess
print(subprocess.run(['echo', 'x'], capture_output=True).stdout)
---
import subprocess
subprocess.run(['false'], check=True)
---
import subprocess
subprocess.run(['no-such-program'])
---
import subprocess
print(subprocess.run('exit 3', shell=True).returncode)
---
import subprocess, sys
print(subprocess.run([sys.executable, '-c', 'print(2)'], capture_output=True, text=True))
---
import os
print(os.system('true'), os.system('kill -9 $$'))
---
import os
pid = os.fork()
if pid == 0: os._exit(3)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
---
import os
os.execvp('echo', ['echo', 'replaced'])
---
import os
os.execv('/nonexistent', ['x'])
---
import os
print(os.popen('echo piped').read())
---
import multiprocessing
print(multiprocessing.get_start_method(), multiprocessing.current_process().name, multiprocessing.parent_process())
---
import multiprocessing
p = multiprocessing.get_context('fork').Process(target=print, args=('child',)); p.start(); p.join(); print(p.exitcode)
---
import multiprocessing
multiprocessing.Lock()
---
import signal
signal.setitimer(signal.ITIMER_REAL, 0.01); signal.pause()
---
import signal
signal.signal(signal.SIGALRM, lambda *a: print('alarm', a[0])); signal.setitimer(signal.ITIMER_REAL, 0.01); signal.pause()
---
import signal, os
signal.signal(signal.SIGTERM, lambda *a: 1/0)
os.kill(os.getpid(), signal.SIGTERM)
---
import signal, os
signal.signal(signal.SIGINT, signal.SIG_IGN); os.kill(os.getpid(), signal.SIGINT); print('ignored')
---
import signal
signal.raise_signal(signal.SIGTERM)
---
import signal
print(signal.getsignal(signal.SIGPIPE), signal.getsignal(signal.SIGINT), signal.sigpending())
---
import ctypes
ctypes.string_at(0)
---
import ctypes
print(ctypes.CDLL(None).getpid(), ctypes.sizeof(ctypes.c_long))
---
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
open('/dev/null')
---
x = bytearray(1 << 40)
---
open('/tmp/f', 'wb').write(bytes(2 << 20)); print('written')
---
import os
print(os.getpid(), os.getppid(), os.getcwd(), os.getuid(), os.umask(0))
---
import os
print(sorted(os.environ), os.environ.get('HOME'))
---
import os
print(sorted(os.listdir('/proc/self/fd')))
---
import os
os.mkdir('/tmp/a'); os.chdir('/tmp/a'); os.rmdir('/tmp/a'); print(os.path.exists('.')); os.getcwd()
---
import socket
socket.create_connection(('127.0.0.1', 1), 1)
---
import socket
s = socket.socketpair(); s[0].send(b'x'); print(s[1].recv(9))
---
import urllib.request
urllib.request.urlopen('http://example.org', timeout=1)
---
import time
print(time.gmtime(0)[:6], time.tzname, time.strftime('%Y', time.gmtime(0)))
---
import datetime
print(datetime.datetime(2020, 1, 1).isoformat(), datetime.timezone.utc)
---
import locale
print(locale.getlocale(), locale.localeconv()['decimal_point'])
---
import decimal, fractions, math, statistics
print(decimal.Decimal(1) / 3, fractions.Fraction(1, 3), math.pi, statistics.median([3, 1, 2]))
---
print(2 ** 4000)
---
print(10 ** 5000)
---
import sqlite3
db = sqlite3.connect(':memory:'); print(db.execute('select 1 + 1').fetchone())
---
import sqlite3
sqlite3.connect('/nonexistent/x')
---
import re, collections, itertools, functools
print(re.findall(r'\w+', 'a b'), collections.Counter('aab'), list(itertools.permutations('ab')), functools.reduce(int.__add__, [1, 2]))
---
import csv, io
w = csv.writer(io.StringIO()); print(w.writerow(['a', 'b,c']))
---
import zlib, gzip, base64
print(zlib.crc32(b'x'), base64.b64encode(gzip.compress(b'x', mtime=0)))
---
import dataclasses, enum, typing
@dataclasses.dataclass
class P:
    x: int
print(P(1), enum.Enum('E', 'a b').a, typing.Optional[int])
---
import dis
dis.dis(lambda: 1)
---
import ast, tokenize, io
print(ast.dump(ast.parse('x = 1')), len(list(tokenize.generate_tokens(io.StringIO('x=1').readline))))
---
import gc, sys
print(gc.isenabled(), gc.get_threshold(), gc.garbage, sys.gettrace(), sys.getrefcount(object()))
---
import sys
print(sys.version_info[:2], sys.byteorder, sys.maxsize, sys.getfilesystemencoding(), sys.float_info.dig)
---
import platform
print(platform.system(), platform.python_implementation(), platform.node())
---
import site
print(site.ENABLE_USER_SITE, site.PREFIXES)
---
import contextlib, io
with contextlib.redirect_stdout(io.StringIO()) as out: print('caught')
print(out.getvalue())
---
import code
code.InteractiveInterpreter().runsource('1/0')
---
import pdb
pdb.set_trace()
---
breakpoint()
---
help('nonexistent')
---
license
---
quit()
---
exit('words')
---
raise KeyboardInterrupt
---
raise SystemExit
---
raise SystemExit(SystemExit(3))
---
import sys
try: sys.exit(3)
except SystemExit as e: print('caught', e.code)
---
import sys
try: sys.exit(3)
finally: print('first')
---
import os
print('lost')
os._exit(7)
---
import os
os.abort()
---
import faulthandler, os
faulthandler.enable()
os.abort())py";

}  // namespace

std::vector<std::string> small_programs() {
  constexpr std::string_view dashes = "\n---\n";
  std::vector<std::string> programs = {"",
                                       "\xef\xbb\xbfprint('mark')",
                                       "print(1)\x0c\nprint(2)",
                                       "print(1)\r\nprint(2)\r\n",
                                       "print(1)\rprint(2)",
                                       "x = 1\0"};
  std::string_view rest = table;
  for (size_t end = 0; end != rest.npos; rest.remove_prefix(end == rest.npos ? 0 : end + dashes.size())) {
    end = rest.find(dashes);
    programs.emplace_back(rest.substr(0, end));
  }
  for (const char* how : {"0", "3", "255", "256", "-1", "None", "'text'", "2.5", "True", "()"})
    programs.push_back("import sys\nprint('x')\nsys.exit(" + std::string(how) + ")");
  for (const char* number :
       {"SIGTERM", "SIGKILL", "SIGSEGV", "SIGINT", "SIGUSR1", "SIGPIPE", "SIGABRT", "SIGCHLD"})
    programs.push_back("import os, signal\nprint('x', flush=True)\nos.kill(os.getpid(), signal." +
                       std::string(number) + ")\nprint('after')");
  return programs;
}

}  // namespace cloche::test
