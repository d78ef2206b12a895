// Python inside, with the default profile: what its standard library does to a kernel.
#include "everyday/support.hpp"

namespace cloche::test {
namespace {

class Python : public Everyday {};
FOR_EVERYONE(Python);

TEST_P(Python, ThirtyTwoThreadsMeetAtABarrier) {
  EXPECT_TRUE(printed(python(R"(
import threading
barrier = threading.Barrier(32)
total = []
lock = threading.Lock()
def work(n):
    barrier.wait(20)
    with lock:
        total.append(n)
threads = [threading.Thread(target=work, args=(n,)) for n in range(32)]
for t in threads: t.start()
for t in threads: t.join()
print(sum(total))
)"),
                      "496\n"));
}

TEST_P(Python, SubprocessesWithPipesShellsSessionsAndTimeouts) {
  EXPECT_TRUE(printed(python(R"(
import os, signal, subprocess, sys
print(subprocess.check_output(['tr', 'a-z', 'A-Z'], input=b'loud').decode())
print(subprocess.run('exit 7', shell=True).returncode)
print(subprocess.run(['sh', '-c', 'kill -9 $$']).returncode)
try:
    subprocess.run(['sleep', '30'], timeout=0.3)
except subprocess.TimeoutExpired:
    print('expired')
child = subprocess.Popen(['sleep', '30'], start_new_session=True)
print(os.getsid(child.pid) == child.pid)
os.killpg(child.pid, signal.SIGTERM)
print(child.wait())
first = subprocess.Popen(['seq', '1000'], stdout=subprocess.PIPE)
second = subprocess.Popen(['wc', '-l'], stdin=first.stdout, stdout=subprocess.PIPE)
first.stdout.close()
print(second.communicate()[0].decode().strip(), flush=True)
print(subprocess.run([sys.executable, '-c', 'print(1)'], preexec_fn=os.setpgrp, close_fds=True).returncode)
try:
    subprocess.run(['no-such-program'])
except FileNotFoundError:
    print('not found')
)"),
                      "LOUD\n7\n-9\nexpired\nTrue\n-15\n1000\n1\n0\nnot found\n"));
}

TEST_P(Python, MultiprocessingByForkAndBySpawn) {
  EXPECT_TRUE(printed(
      python(R"(
import multiprocessing as mp
from concurrent.futures import ProcessPoolExecutor
def square(n): return n * n
def put(queue, lock, value):
    with lock:
        value.value += 1
    queue.put('hello')
if __name__ == '__main__':
    for method in ('fork', 'spawn', 'forkserver'):
        context = mp.get_context(method)
        with context.Pool(2) as pool:
            print(method, sum(pool.map(square, range(20))))
        queue, lock, value = context.Queue(), context.Lock(), context.Value('i', 0)
        children = [context.Process(target=put, args=(queue, lock, value)) for _ in range(2)]
        for child in children: child.start()
        print(queue.get(timeout=20), queue.get(timeout=20))
        for child in children: child.join()
        print(value.value)
    with ProcessPoolExecutor(2) as pool:
        print(list(pool.map(square, [3, 4])))
)"),
      "fork 2470\nhello hello\n2\nspawn 2470\nhello hello\n2\nforkserver 2470\nhello hello\n2\n[9, 16]\n"));
}

TEST_P(Python, SharedMemoryBetweenProcesses) {
  EXPECT_TRUE(printed(python(R"(
from multiprocessing import Process, shared_memory
from multiprocessing.managers import BaseManager, SyncManager
def fill(name):
    block = shared_memory.SharedMemory(name=name)
    block.buf[:4] = b'glas'
    block.close()
if __name__ == '__main__':
    block = shared_memory.SharedMemory(create=True, size=8 << 20)
    child = Process(target=fill, args=(block.name,))
    child.start(); child.join()
    print(bytes(block.buf[:4]).decode())
    block.close(); block.unlink()
    with SyncManager() as manager:
        shared = manager.dict()
        shared['a'] = 1
        print(dict(shared))
)"),
                      "glas\n{'a': 1}\n"));
}

TEST_P(Python, AsyncioSubprocessesAndStreams) {
  EXPECT_TRUE(printed(python(R"(
import asyncio
async def one(n):
    child = await asyncio.create_subprocess_exec('sh', '-c', f'cat; exit {n}', stdin=asyncio.subprocess.PIPE,
                                                 stdout=asyncio.subprocess.PIPE)
    out, _ = await child.communicate(b'in%d' % n)
    return out.decode(), child.returncode
async def serve():
    async def echo(reader, writer):
        writer.write(await reader.readline())
        await writer.drain()
        writer.close()
    server = await asyncio.start_server(echo, '127.0.0.1', 0)
    reader, writer = await asyncio.open_connection('127.0.0.1', server.sockets[0].getsockname()[1])
    writer.write(b'echo\n')
    line = await reader.readline()
    writer.close()
    server.close()
    return line
async def main():
    print(await asyncio.gather(*(one(n) for n in range(4))))
    print(await serve())
    print(await asyncio.to_thread(lambda: 'thread'))
asyncio.run(main())
)"),
                      "[('in0', 0), ('in1', 1), ('in2', 2), ('in3', 3)]\nb'echo\\n'\nthread\n"));
}

TEST_P(Python, SqliteInTheWorkspace) {
  EXPECT_TRUE(printed(python(R"(
import sqlite3, threading
for mode in ('delete', 'wal', 'truncate'):
    db = sqlite3.connect(f'{mode}.db', timeout=20)
    print(db.execute(f'pragma journal_mode={mode}').fetchone()[0])
    db.execute('create table t (n integer)')
    db.commit()
    def insert():
        mine = sqlite3.connect(f'{mode}.db', timeout=20)
        with mine:
            mine.executemany('insert into t values (?)', [(n,) for n in range(100)])
        mine.close()
    threads = [threading.Thread(target=insert) for _ in range(4)]
    for t in threads: t.start()
    for t in threads: t.join()
    print(db.execute('select count(*), sum(n) from t').fetchone())
    db.execute('vacuum')
    db.close()
)"),
                      "delete\n(400, 19800)\nwal\n(400, 19800)\ntruncate\n(400, 19800)\n"));
  EXPECT_TRUE(fs::exists(workspace() / "wal.db"));
}

TEST_P(Python, TemporaryFiles) {
  EXPECT_TRUE(printed(python(R"(
import os, shutil, tempfile
with tempfile.TemporaryFile() as f:
    f.write(b'x' * 1000); f.seek(0); print(len(f.read()))
with tempfile.NamedTemporaryFile(suffix='.txt') as f:
    print(os.path.exists(f.name), oct(os.stat(f.name).st_mode & 0o777))
with tempfile.TemporaryDirectory() as d:
    open(os.path.join(d, 'a'), 'w').write('a')
    shutil.copytree(d, os.path.join(d, 'copy'), ignore=shutil.ignore_patterns('copy'))
    print(sorted(os.listdir(d)))
with tempfile.TemporaryFile(dir='.') as f:
    print(f.write(b'in the workspace'))
for folder in (tempfile.gettempdir(), os.path.expanduser('~'), '/dev/shm', '.'):
    with open(os.path.join(folder, 'made'), 'w') as f: f.write('made')
    os.remove(os.path.join(folder, 'made'))
)"),
                      "1000\nTrue 0o600\n['a', 'copy']\n16\n"));
}

TEST_P(Python, CertificatesAreFound) {
  if (!fs::exists("/etc/ssl/certs/ca-certificates.crt")) GTEST_SKIP() << "skipped: no ca-certificates here";
  EXPECT_TRUE(printed(python(R"(
import os, ssl
paths = ssl.get_default_verify_paths()
context = ssl.create_default_context()
print(context.verify_mode.name, context.check_hostname)
context.load_verify_locations(cafile='/etc/ssl/certs/ca-certificates.crt')
print(len(context.get_ca_certs()) > 20)
print(os.path.isdir(paths.openssl_capath), len(os.listdir(paths.openssl_capath)) > 20)
one = sorted(n for n in os.listdir('/etc/ssl/certs') if n.endswith('.0'))[0]
print('BEGIN CERTIFICATE' in open('/etc/ssl/certs/' + one).read())
)"),
                      "CERT_REQUIRED True\nTrue\nTrue True\nTrue\n"));
}

TEST_P(Python, LocaleAndTime) {
  EXPECT_TRUE(printed(python(R"(
import locale, os, sys, time, zoneinfo, datetime
print(locale.setlocale(locale.LC_ALL, 'C.UTF-8'), sys.getfilesystemencoding())
open('grüße-☂.txt', 'w').write('ß')
print('grüße-☂.txt' in os.listdir('.'))
print(time.strftime('%Y', time.localtime(86400)))
print(datetime.datetime(2024, 7, 1, tzinfo=zoneinfo.ZoneInfo('Europe/Berlin')).utcoffset())
)"),
                      "C.UTF-8 utf-8\nTrue\n1970\n2:00:00\n"));
}

TEST_P(Python, LocalServerAndClientOnBothLoopbacks) {
  EXPECT_TRUE(printed(python(R"(
import http.server, os, socket, threading, urllib.request
class Six(http.server.ThreadingHTTPServer): address_family = socket.AF_INET6
class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *a): pass
os.makedirs('www'); open('www/index.html', 'w').write('page')
os.chdir('www')
for make, host, shown in ((http.server.ThreadingHTTPServer, '127.0.0.1', '127.0.0.1'), (Six, '::1', '[::1]'),
                          (http.server.ThreadingHTTPServer, 'localhost', 'localhost'),
                          (http.server.ThreadingHTTPServer, '0.0.0.0', '127.0.0.1')):
    server = make((host, 0), Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(urllib.request.urlopen(f'http://{shown}:{server.server_address[1]}/', timeout=10).read().decode())
    server.shutdown()
one, two = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
one.bind(('127.0.0.1', 0))
two.sendto(b'datagram', one.getsockname())
print(one.recv(100).decode())
server = socket.socket(socket.AF_UNIX); server.bind('here.sock'); server.listen()
client = socket.socket(socket.AF_UNIX); client.connect('here.sock')
client.sendall(b'unix'); print(server.accept()[0].recv(10).decode())
print(sorted({a[4][0] for a in socket.getaddrinfo('localhost', 80)})[0])
print(bool(socket.gethostname()))
)"),
                      "page\npage\npage\npage\ndatagram\nunix\n127.0.0.1\nTrue\n"));
}

TEST_P(Python, KnowsWhoAndWhereItIs) {
  EXPECT_TRUE(printed(python(R"(
import getpass, grp, os, platform, pwd, sysconfig
me = pwd.getpwuid(os.getuid())
print(getpass.getuser() == me.pw_name, bool(grp.getgrgid(os.getgid()).gr_name))
print(os.path.isdir(os.path.expanduser('~')), os.access(os.path.expanduser('~'), os.W_OK))
print(os.cpu_count() == len(os.sched_getaffinity(0)), os.getloadavg() is not None)
print(platform.system(), bool(platform.freedesktop_os_release()['ID']))
print(os.sysconf('SC_PHYS_PAGES') > 0, os.path.samefile(os.getcwd(), os.environ['PWD'] if 'PWD' in os.environ else '.'))
)"),
                      "True True\nTrue True\nTrue True\nLinux True\nTrue True\n"));
}

TEST_P(Python, TheKernelsEverydayCalls) {
  EXPECT_TRUE(
      printed(python(R"(
import fcntl, mmap, os, pty, resource, select, signal, socket, struct, time
with open('m', 'w+b') as f:
    f.truncate(4096)
    m = mmap.mmap(f.fileno(), 4096); m[0:3] = b'map'; m.flush(); m.close()
    f.seek(0); print(f.read(3))
    fcntl.flock(f, fcntl.LOCK_EX); fcntl.lockf(f, fcntl.LOCK_EX)
    os.posix_fallocate(f.fileno(), 0, 1 << 20); os.fsync(f.fileno())
one, two = socket.socketpair(); socket.send_fds(one, [b'x'], [1]); print(socket.recv_fds(two, 1, 1)[0])
poll = select.epoll(); poll.register(two, select.EPOLLIN); one.send(b'y'); print(len(poll.poll(5)))
fired = []
signal.signal(signal.SIGALRM, lambda *a: fired.append(1)); signal.setitimer(signal.ITIMER_REAL, 0.05); time.sleep(0.3)
print(fired)
read, write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK); os.write(write, b'p'); print(os.read(read, 5))
print(os.eventfd_read(os.eventfd(3)))
master, slave = pty.openpty(); os.write(slave, b'tty\n'); print(os.read(master, 10), os.ttyname(slave)[:9])
pid, fd = pty.fork()
if pid == 0: os.execvp('sh', ['sh', '-c', 'tty; exit 3'])
print(os.read(fd, 100)[:9], os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
source = os.open('m', os.O_RDONLY); target = os.open('n', os.O_CREAT | os.O_RDWR)
print(os.copy_file_range(source, target, 100), os.sendfile(target, source, 0, 100))
os.symlink('m', 'link'); os.link('m', 'hard'); os.rename('n', 'o'); os.utime('o', (1, 1)); os.chmod('o', 0o755)
print(os.stat('o').st_mtime, os.readlink('link'), os.stat('hard').st_nlink)
print(len(os.getrandom(16)), len(os.urandom(16)), resource.getrlimit(resource.RLIMIT_CORE)[0])
os.nice(1); os.sched_yield(); os.umask(0o022); os.getpriority(os.PRIO_PROCESS, 0); os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
pidfd = os.pidfd_open(os.getpid()); signal.pidfd_send_signal(pidfd, 0)
print(os.statvfs('.').f_bsize > 0, os.path.getsize('m'))
)"),
              "b'map'\nb'x'\n1\n[1]\nb'p'\n3\nb'tty\\r\\n' /dev/pts/\nb'/dev/pts/' 3\n100 100\n1.0 m 2\n"
              "16 16 1\nTrue 1048576\n"));
}

TEST_P(Python, ModulesAVirtualEnvironmentAndTests) {
  file("test_sum.py",
       "import unittest\nclass T(unittest.TestCase):\n  def test(self): self.assertEqual(1+1, 2)\n");
  EXPECT_TRUE(printed(bash(R"(set -e
/usr/bin/python3 -m venv --without-pip env
env/bin/python -c 'import sys; print(sys.prefix != sys.base_prefix)'
/usr/bin/python3 -m unittest -q test_sum 2>/dev/null && echo passed
/usr/bin/python3 -m py_compile test_sum.py && ls __pycache__ | grep -c pyc
/usr/bin/python3 -m zipfile -c a.zip test_sum.py && /usr/bin/python3 -m zipfile -l a.zip | grep -c test_sum
echo '{"a":1}' | /usr/bin/python3 -m json.tool --compact
/usr/bin/python3 -X faulthandler -c 'import ctypes, decimal, curses, zlib, lzma, bz2, uuid; print(ctypes.CDLL(None).getpid() > 0, bool(uuid.uuid1()))'
)"),
                      "True\npassed\n1\n1\n{\"a\":1}\nTrue True\n"));
}

}  // namespace
}  // namespace cloche::test
