// tools_session CALLS FLAGS...: opens one Gateway by the flags of `cloche call`, makes each call in the file
// CALLS, a line "TOOL ARGS-JSON" each, and prints the JSON of `call --json` for it, a line each. What a long
// conversation of a model comes to, as a program that can be run as somebody else.
//
// With TOOLS_SESSION_POOL=N in its environment the Gateway prepares N sandboxes ahead, and before each call
// the program waits until they are there. Then a line may also be
//   signal N     to every jail that waits
//   garbage      through its own end of the socket of each
//   mount DIR    a tmpfs, and umount DIR; how many processes of a sandbox have it then: "pins=N"
//   doctor       what `cloche doctor -v` says of the pool
//   count        what this process has by now: "descriptors=N children=N mounts=N"
#include <signal.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "doors/approve/terminal_approver.hpp"
#include "doors/cli/call_arguments.hpp"
#include "doors/library/call_json.hpp"

namespace {

int fail(const cloche::Error& error) {
  std::fprintf(stderr, "tools_session: %s\n", describe(error).c_str());
  return 125;
}

cloche::ToolCall call_in(const std::string& line) {
  const size_t blank = line.find(' ');
  return {line.substr(0, blank), line.substr(blank + 1)};
}

namespace fs = std::filesystem;

size_t entries(const char* directory) {
  std::error_code gone;
  size_t count = 0;
  for (fs::directory_iterator at(directory, gone), end; at != end; at.increment(gone)) ++count;
  return count;
}

size_t lines_of(const char* path) {
  std::ifstream file(path);
  size_t count = 0;
  for (std::string line; std::getline(file, line);) ++count;
  return count;
}

// Also those that are dead and not waited for.
std::vector<pid_t> children() {
  std::vector<pid_t> found;
  std::error_code gone;
  for (fs::directory_iterator at("/proc/self/task", gone), end; at != end; at.increment(gone)) {
    std::ifstream list(at->path() / "children");
    for (pid_t child = 0; list >> child;) found.push_back(child);
  }
  return found;
}

void wait_for_pool(const cloche::Gateway& gateway) {
  using namespace std::chrono_literals;
  for (int tries = 0; tries < 400; ++tries) {
    const cloche::PoolCounts counts = gateway.pool_counts();
    if (counts.waiting == counts.bound) return;
    std::this_thread::sleep_for(5ms);
  }
}

// Of our children and theirs.
size_t pins(const std::string& directory) {
  size_t count = 0;
  for (const pid_t keeper : children()) {
    const std::string table = "/proc/" + std::to_string(keeper);
    std::ifstream list(table + "/task/" + std::to_string(keeper) + "/children");
    pid_t first = 0;
    list >> first;
    std::ifstream mounts("/proc/" + std::to_string(first) + "/mountinfo");
    for (std::string line; std::getline(mounts, line);) {
      if (line.find(directory) != std::string::npos) ++count;
    }
  }
  return count;
}

void send_garbage() {
  for (int fd = 3; fd < 256; ++fd) {
    int type = 0;
    socklen_t size = sizeof type;
    if (::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_SEQPACKET) continue;
    const std::string garbage(300, 'g');
    (void)::send(fd, garbage.data(), garbage.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
}

void say_what_doctor_says() {
  FILE* doctor = ::popen(CLOCHE_TEST_BIN_DIR "/cloche doctor -v", "r");
  char line[4096];
  while (doctor != nullptr && std::fgets(line, sizeof line, doctor) != nullptr) {
    if (std::string(line).find("POOL") != std::string::npos) std::printf("said=%s", line);
  }
  if (doctor != nullptr) ::pclose(doctor);
}

void change_mounts(const std::string& what, const std::string& directory) {
  using namespace std::chrono_literals;
  const int changed = what == "mount" ? ::mount("mine", directory.c_str(), "tmpfs", 0, nullptr)
                                      : ::umount2(directory.c_str(), 0);
  if (changed != 0) std::perror(what.c_str());
  std::this_thread::sleep_for(300ms);  // those with the old mounts are gone then, and there are new ones
  std::printf("pins=%zu\n", pins(directory));
}

// Whether the line was for us.
bool obey(const std::string& line, const cloche::Gateway& gateway) {
  const std::string word = line.substr(0, line.find(' '));
  if (word == "garbage" || word == "doctor" || word == "mount" || word == "umount") {
    wait_for_pool(gateway);
    if (word == "garbage") send_garbage();
    if (word == "doctor") say_what_doctor_says();
    if (word.ends_with("mount")) change_mounts(word, line.substr(word.size() + 1));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return true;
  }
  if (line.starts_with("signal ")) {
    wait_for_pool(gateway);
    for (const pid_t child : children()) ::kill(child, std::atoi(line.c_str() + 7));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return true;
  }
  if (line != "count {}") return false;
  wait_for_pool(gateway);
  std::printf("descriptors=%zu children=%zu mounts=%zu\n", entries("/proc/self/fd"), children().size(),
              lines_of("/proc/self/mountinfo"));
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  auto arguments = cloche::parse_call(std::span<char* const>(argv + 2, static_cast<size_t>(argc - 2)),
                                      cloche::CallCommand::tools);
  if (!arguments.ok()) return fail(arguments.error());
  arguments.value().options.programs.folder = CLOCHE_TEST_BIN_DIR;
  const char* pool = std::getenv("TOOLS_SESSION_POOL");
  const size_t bound = pool != nullptr ? static_cast<size_t>(std::atoi(pool)) : 0;
  arguments.value().options.pool = bound;
  auto gateway = cloche::Gateway::open(arguments.value().options, cloche::Environment(environ));
  if (!gateway.ok()) return fail(gateway.error());
  const auto skill = cloche::skill_for(gateway.value()->session(), arguments.value().skill);
  if (!skill.ok()) return fail(skill.error());

  cloche::CallContext context{.task = arguments.value().task, .role = arguments.value().role};
  if (skill.value()) context.skill = &*skill.value();
  cloche::TerminalApprover approver;
  std::ifstream calls(argv[1]);
  bool signalled = false;  // then the next call meets what is left
  bool has_called = false;
  for (std::string line; std::getline(calls, line);) {
    if (bound > 0 && obey(line, *gateway.value())) {
      signalled = true;
      continue;
    }
    if (bound > 0 && !signalled && has_called) wait_for_pool(*gateway.value());
    signalled = false;
    has_called = true;
    std::puts(call_json(gateway.value()->call(call_in(line), context, approver)).c_str());
    std::fflush(stdout);
  }
  return 0;
}
