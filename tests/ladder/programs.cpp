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
       .answer = {0, "/dev/shm\n/tmp\n.\n"},
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
