#include "contenders.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <numeric>
#include <random>

#include "base/sys/sys.hpp"
#include "gateway/checks/own_run.hpp"

namespace cloche::bench {
namespace {

constexpr size_t most_bytes_of_output = size_t{1} << 20;

volatile sig_atomic_t stopped = 0;

double micros_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
}

// A command with everything that posix_spawn wants made before the clock starts.
class Spawn {
 public:
  explicit Spawn(Command command) : command_(std::move(command)) {
    for (auto& word : command_.argv) argv_.push_back(word.data());
    argv_.push_back(nullptr);
    ::posix_spawn_file_actions_init(&actions_);
    if (command_.silent) ::posix_spawn_file_actions_addopen(&actions_, 2, "/dev/null", O_WRONLY, 0);
  }
  ~Spawn() { ::posix_spawn_file_actions_destroy(&actions_); }
  Spawn(const Spawn&) = delete;
  Spawn& operator=(const Spawn&) = delete;

  Result<double> operator()() const {
    const auto begin = std::chrono::steady_clock::now();
    pid_t child = -1;
    const int problem = ::posix_spawn(&child, argv_[0], command_.silent ? &actions_ : nullptr, nullptr,
                                      argv_.data(), environ);
    if (problem != 0) return system_error("start " + command_.argv[0], problem);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0) {
      if (errno != EINTR) return system_error("wait for " + command_.argv[0]);
    }
    const double took = micros_since(begin);
    if (!WIFEXITED(status) || WEXITSTATUS(status) > command_.highest_exit) {
      return Error{Cause::internal, command_.argv[0] + " ended with status " + std::to_string(status), 0, {}};
    }
    return took;
  }

 private:
  Command command_;
  std::vector<char*> argv_;
  posix_spawn_file_actions_t actions_{};
};

}  // namespace

void say(const std::string& text) { std::fprintf(stderr, "cloche-bench: %s\n", text.c_str()); }

void stop_on_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { stopped = 1; };
  action.sa_flags = SA_RESTART;
  for (int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(number, &action, nullptr);
}

Result<void> go_on() {
  if (stopped != 0) return Error{Cause::internal, "stopped by a signal", 0, {}};
  return {};
}

std::string find_program(const std::string& name) {
  const char* path = ::getenv("PATH");
  std::string rest = path != nullptr ? path : "/usr/bin:/bin";
  while (!rest.empty()) {
    const size_t colon = std::min(rest.find(':'), rest.size());
    const std::string place = rest.substr(0, colon) + "/" + name;
    rest.erase(0, colon + 1);
    if (place[0] == '/' && ::access(place.c_str(), X_OK) == 0) return place;
  }
  return {};
}

Measured spawning(Command command) {
  const auto spawn = std::make_shared<Spawn>(std::move(command));  // shared: a function must be copyable
  return [spawn] { return (*spawn)(); };
}

Result<std::string> output_of(std::vector<std::string> words) {
  Pipe pipe = TRY(sys::make_pipe());
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, pipe.write.get(), 1);
  ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  pid_t child = -1;
  const int problem = ::posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (problem != 0) return system_error("start " + words[0], problem);
  pipe.write.reset();
  auto text = sys::read_all(pipe.read.get(), most_bytes_of_output);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (status != 0)
    return Error{Cause::internal, words[0] + " " + words[1] + " ended with status " + std::to_string(status)};
  return text;
}

Measured calling_library(const Scene& scene) {
  return [installation = scene.installation()]() -> Result<double> {
    const auto begin = std::chrono::steady_clock::now();
    {
      RunRequest request;
      request.argv = {"/bin/true"};
      const Ran ran = TRY(run_own(request, Environment(environ), installation));
      if (ran.outcome.end != End::exited || ran.outcome.exit_code != 0) {
        return Error{Cause::internal, "the library's call did not exit with 0: " + ran.outcome.reason, 0, {}};
      }
    }
    return micros_since(begin);  // with everything that the call's values held given back
  };
}

std::vector<std::string> bubblewrap_words() {
  const std::string bwrap = find_program("bwrap");
  if (bwrap.empty()) return {};
  return {bwrap,          "--ro-bind", "/",      "/",     "--tmpfs",       "/tmp",
          "--dev",        "/dev",      "--proc", "/proc", "--unshare-all", "--die-with-parent",
          "--new-session"};
}

std::vector<Contender> contenders_for(const Scene& scene) {
  std::vector<Contender> all = {
      {bare, spawning({.argv = {"/bin/true"}})},
      {command_line, spawning({.argv = {scene.program("cloche"), "run", "--", "/bin/true"}})},
      {library, calling_library(scene)},
  };
  if (auto words = bubblewrap_words(); !words.empty()) {
    words.emplace_back("/bin/true");
    all.push_back({bubblewrap, spawning({.argv = std::move(words)})});
  }
  return all;
}

Result<ByName> interleave(const std::vector<Contender>& contenders, size_t warm_up, size_t rounds) {
  ByName samples;
  std::vector<size_t> order(contenders.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::minstd_rand random(1);  // always the same orders: a run can be repeated
  for (size_t round = 0; round < warm_up + rounds; ++round) {
    TRY(go_on());
    std::shuffle(order.begin(), order.end(), random);
    for (size_t index : order) {
      const double took = TRY(contenders[index].call());
      if (round >= warm_up) samples[contenders[index].name].push_back(took);
    }
  }
  return samples;
}

}  // namespace cloche::bench
