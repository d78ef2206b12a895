#include "ladder/programs.hpp"

namespace cloche::test {
namespace {

const Answer yes{0, "yes\n"};
const Answer no{0, "no\n"};

// Says yes when the command works.
std::string tries(const std::string& command) {
  return "if { " + command + "; } >/dev/null 2>&1; then echo yes; else echo no; fi";
}

std::string python(const std::string& script) { return "exec python3 -c '" + script + "'"; }

// As many as it can get, up to a hundred; they are left to whoever ends the call.
constexpr const char* fork_many = R"(
import os, time
for count in range(100):
  try:
    child = os.fork()
  except OSError:
    print("stopped", flush=True)
    os._exit(0)
  if child == 0:
    time.sleep(1)
    os._exit(0)
print("free", flush=True)
os._exit(0)
)";

// By no clock of the box's: gVisor counts the time that it would have run on a machine of its own.
constexpr const char* spin_until_ended = R"(
import time
end = time.monotonic() + 100
while time.monotonic() < end: pass
)";

// Where a box has a file for reports: that it ended well, could not be executed or never began, as the jail
// in there would write it (wire::Report).
constexpr const char* forge_reports = R"(
import os, struct, sys
for path in ("/run/cloche-report", "/proc/1/fd/4"):
  try: file = os.open(path, os.O_RDWR)
  except OSError: continue
  if path.endswith("report"): os.ftruncate(file, 0)
  for kind in (4, 3, 0): os.write(file, struct.pack("<IIiIiI6Q", kind, 0, 2, *[0] * 9))
sys.exit(7)
)";

constexpr const char* talk_to_itself = R"(
import socket
try:
  server = socket.create_server(("127.0.0.1", 0))
  client = socket.create_connection(server.getsockname(), 5)
  server.accept()[0].sendall(b"hello")
  print(client.recv(5).decode())
except OSError:
  print("no sockets")
)";

constexpr const char* lowered = R"(
import ctypes
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print("no_new_privs", ctypes.CDLL(None).prctl(39, 0, 0, 0, 0))
print("seccomp", status["Seccomp"].strip())
for name in ("CapInh", "CapPrm", "CapEff"): print(name, int(status[name], 16))
)";

// What programs meet that try what is not theirs, by the names of the errors.
constexpr const char* usual_errors = R"(
import errno, os, socket
def say(what, try_it):
  try: try_it()
  except OSError as error: print(what, errno.errorcode[error.errno])
  else: print(what, "works")
say("chown", lambda: os.chown("made-by-me", 1, -1))
say("setuid", lambda: os.setuid(1))
say("setgid", lambda: os.setgid(1))
say("own-ids", lambda: (os.chown("made-by-me", os.getuid(), os.getgid()), os.setuid(os.getuid()), os.setgid(os.getgid())))
say("vsock", lambda: socket.socket(40, socket.SOCK_STREAM))
say("packets", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
say("udp-lite", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 136))
say("sctp", lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM, 132))
say("udp", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
)";
constexpr const char* without_sockets =
    "chown EPERM\nsetuid EPERM\nsetgid EPERM\nown-ids works\nvsock EPERM\npackets EPERM\nudp-lite "
    "EPERM\nsctp EPERM\nudp EPERM\n";

// What databases and their kin share memory by.
constexpr const char* talk_by_ipc = R"(
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
small = libc.shmget(0, 16384, 0o1600)
if small >= 0:
  address = libc.shmat(small, None, 0)
  ctypes.memset(address, 7, 16384)
  print("segment", ctypes.string_at(address, 1)[0])
queue = libc.mq_open(b"/cloche-ladder", os.O_CREAT | os.O_RDWR, 0o600, None)
room = ctypes.create_string_buffer(8192)
if queue >= 0 and libc.mq_send(queue, b"hello", 5, 0) == 0:
  size = libc.mq_receive(queue, room, 8192, None)
  print("queue", room.raw[:size].decode())
)";

std::vector<Program> reading() {
  return {
      {"reads-the-system", tries("cat /usr/bin/env /usr/lib/os-release"), yes, yes},
      {"reads-the-workspace", "cat given.txt", {0, "given\n"}, Answer{0, "given\n"}},
      {"reads-a-grant", "cat $GRANT/text", {0, "granted\n"}, Answer{0, "granted\n"}},
      {.name = "not-the-shadow-file",
       .script = tries("cat /etc/shadow"),
       .answer = no,
       .control = yes,
       .control_of_root = true},
      {"not-another-home", tries("cat $OTHER"), no, yes},
      {"not-beside-the-workspace", tries("cat $BESIDE"), no, yes},
      {"not-the-state-directory", tries("cat $STATE"), no, yes},
      {.name = "reads-the-processors",
       .script = "lscpu | grep -c '^CPU(s):'; cd /sys/devices/system/cpu && echo cpu0",
       .answer = {0, "1\ncpu0\n"},
       .exceptions = {{"runsc", {1, "0\n"}, "its kernel has processors of its own, and an empty /sys"}}},
      {"lists-packages",
       "dpkg -l dpkg | grep -c '^ii  dpkg '; dpkg -S /usr/bin/dpkg",
       {0, "1\ndpkg: /usr/bin/dpkg\n"}},
      {.name = "nothing-else-of-sys",
       .script = "for d in /sys /sys/devices /sys/devices/system; do cd $d && echo *; done",
       .answer = {0, "devices\nsystem\ncpu node\n"},
       .exceptions = {{"subprocess",
                       {0, "*\n*\n*\n"},
                       "there is no view: the host's directory is there, and not granted"},
                      {"runsc", {1, "*\n"}, "its kernel has processors of its own, and an empty /sys"}}},
  };
}

// The places of a view where a file can be made.
constexpr const char* where_it_writes =
    "for place in / /dev /dev/shm /dev/pts /tmp /run /proc /proc/sys /sys /sys/fs /etc /var /usr $GRANT .; "
    "do "
    "{ : > $place/cloche-ladder; } 2>/dev/null && echo $place; done; true";

std::vector<Program> writing() {
  return {
      {.name = "writes-nowhere-else",
       .script = where_it_writes,
       .answer = {0, "/dev/shm\n/tmp\n/run\n.\n"},
       .exceptions = {{"subprocess", {0, ".\n"}, "there is no view: memory of its own is elsewhere"}}},
      {.name = "readonly-writes-nowhere",
       .script = where_it_writes,
       .answer = {0, ""},
       .flags = {"--profile", "readonly"}},
      {"writes-the-workspace", "echo made > made.txt && cat made.txt", {0, "made\n"}, Answer{0, "made\n"}},
      {"writes-its-home", "echo kept > $HOME/x && cat $HOME/x", {0, "kept\n"}},
      {"writes-its-temporary", "echo kept > $TMPDIR/x && cat $TMPDIR/x", {0, "kept\n"}},
      {.name = "has-a-tmp-of-its-own",
       .script = tries("echo x > /tmp/cloche-ladder-$MARKER"),
       .answer = yes,
       .exceptions = {{"subprocess", no, "there is no view: /tmp is the host's, and not granted"}}},
      {"not-the-system", tries("echo x > /usr/cloche-ladder"), no},
      {.name = "has-a-run-of-its-own",
       .script = "mkdir /run/server && echo 7 > /var/run/server/pid && cat /run/server/pid; "
                 "head -c 17M /dev/zero > /run/large || echo full",
       .answer = {0, "7\nfull\n"},
       .exceptions = {{"subprocess",
                       {0, "full\n"},
                       "there is no view: /run is the host's, and not granted"}}},
      {.name = "talks-by-ipc",
       .script = python(talk_by_ipc),
       .answer = {0, "segment 7\nqueue hello\n"},
       .exceptions = {{"subprocess", {0, ""}, "there is no ipc namespace: what is made would be the host's"},
                      {"runsc", {0, "segment 7\n"}, "its kernel makes queues that carry nothing"}}},
      {.name = "meets-the-usual-errors",
       .script = "echo > made-by-me; " + python(usual_errors),
       .answer = {0,
                  "chown EPERM\nsetuid EPERM\nsetgid EPERM\nown-ids works\nvsock EAFNOSUPPORT\npackets "
                  "EAFNOSUPPORT\nudp-lite EPROTONOSUPPORT\nsctp EPROTONOSUPPORT\nudp works\n"},
       .exceptions = {{"subprocess",
                       {0, without_sockets},
                       "there is no network namespace, and so no socket"}}},
      {"not-a-read-only-grant", tries("echo x > $GRANT/new"), no, yes},
      {.name = "no-file-past-its-size",
       .script = "exec head -c 2M /dev/zero > big",
       .answer = {153, ""},
       .control = Answer{0, ""},
       .flags = {"--fsize", "1M"}},
  };
}

std::vector<Program> reaching() {
  return {
      {"not-the-hosts-loopback", tries("exec 3<>/dev/tcp/127.0.0.1/$PORT"), no, yes},
      {.name = "its-own-loopback",
       .script = python(talk_to_itself),
       .answer = {0, "hello\n"},
       .control = Answer{0, "hello\n"},
       .exceptions = {{"subprocess",
                       {0, "no sockets\n"},
                       "without a network namespace the filter knows none"}}},
      {.name = "sees-no-process-of-others",
       .script = tries("test -e /proc/$VICTIM"),
       .answer = no,
       .control = yes,
       .exceptions = {{"subprocess", yes, "it lives in the host's pid namespace"}}},
      {"signals-no-process-of-others", tries("kill -0 $VICTIM"), no, yes},
      {"not-the-callers-secrets", "echo ${CALLERS_TOKEN:-none}", {0, "none\n"}, Answer{0, "hush\n"}},
      {"not-the-callers-descriptors",
       "for n in {4..9}; do { : <&$n; } 2>/dev/null && echo $n; done; true",  // 3 may be the test runner's
                                                                              // own
       {0, ""},
       Answer{0, "7\n"}},
      {"holds-no-privilege",
       python(lowered),
       {0, "no_new_privs 1\nseccomp 2\nCapInh 0\nCapPrm 0\nCapEff 0\n"}},
  };
}

std::vector<Program> ending() {
  return {
      {"ended-by-the-wall-clock", "sleep 2", {124, ""}, Answer{0, ""}, {"--timeout", "1s"}},
      {"ended-by-memory",
       python("len(bytearray(900 << 20))"),
       {137, ""},
       Answer{0, ""},
       {"--memory", "256M"}},
      {.name = "ended-by-processor-time",
       .script = python(spin_until_ended),
       .answer = {137, ""},
       .flags = {"--cpu", "1s", "--timeout", "120s"}},
      {"stopped-from-forking", python(fork_many), {0, "stopped\n"}, Answer{0, "free\n"}, {"--pids", "40"}},
      {"leaves-no-background", "(setsid sleep $MARKER >/dev/null 2>&1 &) ; echo done", {0, "done\n"}},
      {"exit-code", "exit 7", {7, ""}, Answer{7, ""}},
      {.name = "cannot-forge-its-end", .answer = {7, ""}, .argv = {"python3", "-c", forge_reports}},
      {"signal", "kill -TERM $$", {143, ""}, Answer{143, ""}},
      // Without process ids of its own, process 1 is the host's: not tried.
      {.name = "outlives-signals-to-process-1",
       .script = "[ $$ -gt 99 ] || for s in TERM INT HUP QUIT USR1 USR2 KILL; do kill -$s 1; done; "
                 "sleep 0.1; echo on",
       .answer = {0, "on\n"},
       .exceptions = {{"runsc", {125, ""}, "in its kernel SIGKILL ends process 1 too, and so the box"}}},
      {"crash", "kill -SEGV $$", {139, ""}, Answer{139, ""}},
      {.name = "stdin",
       .script = "cat",
       .answer = {0, "said\n"},
       .control = Answer{0, "said\n"},
       .input = "said\n"},
      {.name = "not-found", .answer = {127, ""}, .argv = {"cloche-ladder-has-no-such-program"}},
      {.name = "not-executable", .answer = {126, ""}, .argv = {"/usr/lib/os-release"}},
  };
}

}  // namespace

const std::vector<Program>& programs() {
  static const std::vector<Program> all = [] {
    std::vector<Program> list;
    for (auto&& part : {reading(), writing(), reaching(), ending()})
      list.insert(list.end(), part.begin(), part.end());
    // What floods is no text to compare: only that it was ended.
    list.push_back({.name = "ended-by-output",
                    .script = "head -c 4M /dev/zero >&2",
                    .answer = {137, ""},
                    .control = Answer{0, ""},
                    .flags = {"--output", "64K"}});
    return list;
  }();
  return all;
}

const Answer& expected(const Program& program, const std::string& backend) {
  for (const auto& exception : program.exceptions) {
    if (exception.backend == backend) return exception.answer;
  }
  return program.answer;
}

}  // namespace cloche::test
