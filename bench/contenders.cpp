#include "contenders.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <numeric>
#include <random>
#include <set>

#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "doors/approve/terminal_approver.hpp"
#include "gateway/gateway.hpp"
#include "mcp_client.hpp"

namespace cloche::bench {
namespace {

constexpr size_t most_bytes_of_output = size_t{1} << 20;

const std::string true_program = "/bin/true";
const ToolCall run_true{"run_shell", R"({"cmd":"true"})"};

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
    ::posix_spawnattr_init(&attributes_);
    // With everything that it starts, to be ended together.
    if (command_.most_ms >= 0) ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP);
    if (command_.silent) ::posix_spawn_file_actions_addopen(&actions_, 2, "/dev/null", O_WRONLY, 0);
  }
  ~Spawn() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  Spawn(const Spawn&) = delete;
  Spawn& operator=(const Spawn&) = delete;

  Result<double> operator()() const {
    const auto begin = std::chrono::steady_clock::now();
    pid_t child = -1;
    const int problem = ::posix_spawn(&child, argv_[0], command_.silent ? &actions_ : nullptr, &attributes_,
                                      argv_.data(), environ);
    if (problem != 0) return system_error("start " + command_.argv[0], problem);
    if (command_.most_ms >= 0) end_in_time(child);
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
  void end_in_time(pid_t child) const {
    const OwnedFd held(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
    pollfd ended{held.get(), POLLIN, 0};
    int seen = -1;
    while ((seen = ::poll(&ended, 1, command_.most_ms)) < 0 && errno == EINTR) continue;
    if (seen == 0) ::kill(-child, SIGKILL);
  }

  Command command_;
  std::vector<char*> argv_;
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
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

Result<Measured> calling_gateway(const Scene& scene, std::optional<Writes> writes, ToolCall call) {
  SessionOptions options = default_session();
  options.programs.folder = scene.programs();
  options.operators.asked_writes = writes;
  options.front_end = FrontEnd::agent;  // whose commands are not asked about
  const std::shared_ptr<Gateway> gateway = TRY(Gateway::open(options, Environment(environ)));
  return Measured([gateway, call = std::move(call)]() -> Result<double> {
    TerminalApprover nobody(0, "/nonexistent");
    const auto begin = std::chrono::steady_clock::now();
    {
      const CallResult result = gateway->call(call, {}, nobody);
      if (result.is_error())
        return Error{Cause::internal, call.tool + " did not end well: " + result.result, 0, {}};
    }
    return micros_since(begin);  // with everything that the call's values held given back
  });
}

std::vector<std::string> bubblewrap_words() {
  const std::string bwrap = find_program("bwrap");
  if (bwrap.empty()) return {};
  return {bwrap,          "--ro-bind", "/",      "/",     "--tmpfs",       "/tmp",
          "--dev",        "/dev",      "--proc", "/proc", "--unshare-all", "--die-with-parent",
          "--new-session"};
}

Result<std::vector<std::string>> runtime_words(const Scene& scene, const std::string& place,
                                               const std::string& runtime,
                                               const std::vector<std::string>& flags,
                                               const std::vector<std::string>& command) {
  const std::string program = find_program(runtime);
  if (program.empty()) return refusal(runtime + " is not installed");
  if (::mkdir(place.c_str(), 0755) != 0) return system_error("make " + place);
  const std::string bundle = place + "/bundle";
  std::vector<std::string> wrap = {
      scene.program("cloche"), "wrap", "--backend", "oci", "--runtime", runtime, "--bundle", bundle, "--"};
  wrap.insert(wrap.end(), command.begin(), command.end());
  TRY(output_of(wrap));
  std::vector<std::string> words = {program, "--root", place + "/state"};
  words.insert(words.end(), flags.begin(), flags.end());
  const std::string name = "cloche-bench-" + std::to_string(::getpid()) + "-" + std::string(name_in(place));
  for (const std::string& word : {std::string("run"), std::string("--bundle"), bundle, name})
    words.push_back(word);
  return words;
}

Contender bare_contender() { return {bare, spawning({.argv = {true_program}})}; }

Result<Contender> library_contender(const Scene& scene) {
  return Contender{library, TRY(calling_gateway(scene, {}, run_true))};
}

std::vector<Contender> bubblewrap_contender(const std::string& workspace) {
  auto words = bubblewrap_words();
  if (words.empty()) return {};
  for (const std::string& word :
       {std::string("--bind"), workspace, workspace, std::string("--chdir"), workspace, true_program})
    words.push_back(word);
  return {{bubblewrap, spawning({.argv = std::move(words)})}};
}

namespace {

// Through one server, which ends with the last copy.
Result<Measured> calling_server(const Scene& scene) {
  const auto server = std::make_shared<McpClient>(TRY(McpClient::start(scene.program("cloche"))));
  return Measured([server, number = 0]() mutable -> Result<double> {
    const std::string line = call_line(++number, run_true);
    const auto begin = std::chrono::steady_clock::now();
    TRY(server->send(line));
    const std::string answer = TRY(server->receive());
    const double took = micros_since(begin);
    if (answer.find("\"isError\":false") == std::string::npos)
      return refusal("cloche mcp answered: " + answer);
    return took;
  });
}

// The other sandboxes of agents and containers, which are slow: each in one of twenty rounds.
std::vector<Contender> slow_sandboxes(const Scene& scene) {
  constexpr size_t every = 20;
  constexpr int most_ms = 10'000;
  std::vector<std::pair<std::string, std::vector<std::string>>> all = {
      {"nsjail", {"nsjail", "-Mo", "-Q", "--chroot", "/", "--", true_program}},
      {"runsc do",
       {"runsc", "--rootless", "--network=none", "--ignore-cgroups", "--platform=ptrace", "do",
        true_program}},
      {"srt", {"srt", true_program}},
      {"codex sandbox", {"codex", "sandbox", true_program}},
  };
  std::vector<Contender> here;
  const auto add = [&](const std::string& name, std::vector<std::string> words) {
    const Measured call = spawning({.argv = std::move(words), .silent = true, .most_ms = most_ms});
    if (const auto tried = call(); !tried.ok())
      say(name + " is left out: " + describe(tried.error()));
    else
      here.push_back({name, call, every});
  };
  for (auto& [name, words] : all) {
    words[0] = find_program(words[0]);
    if (!words[0].empty()) add(name, std::move(words));
  }
  const std::string place = scene.directory() + "/runc-" + std::to_string(::getpid());  // of this worker
  const auto runc = runtime_words(scene, place, "runc", {}, {true_program});
  if (runc.ok())
    add("runc run", runc.value());
  else
    say("runc run is left out: " + describe(runc.error()));
  return here;
}

}  // namespace

Result<std::vector<Contender>> contenders_for(const Scene& scene) {
  std::vector<Contender> all = {
      bare_contender(),
      {command_line, spawning({.argv = {scene.program("cloche"), "run", "--", true_program}})},
      {library_live, TRY(calling_gateway(scene, Writes::live, run_true))},
      {library, TRY(calling_gateway(scene, Writes::commit, run_true))},
      {over_mcp, TRY(calling_server(scene))},
  };
  for (const auto& more : {bubblewrap_contender(scene.workspace()), slow_sandboxes(scene)})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

Result<ByName> interleave(const std::vector<Contender>& contenders, size_t warm_up, size_t rounds) {
  ByName samples;
  std::set<size_t> left_out;
  std::vector<size_t> order(contenders.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::minstd_rand random(1);  // always the same orders: a run can be repeated
  for (size_t round = 0; round < warm_up + rounds; ++round) {
    TRY(go_on());
    std::shuffle(order.begin(), order.end(), random);
    for (const size_t index : order) {
      const Contender& contender = contenders[index];
      if (round % contender.every != 0 || left_out.contains(index)) continue;
      const auto took = contender.call();
      if (!took.ok() && contender.every == 1) return took.error();
      if (!took.ok()) {
        say(contender.name + " is left out: " + describe(took.error()));
        left_out.insert(index);
      } else if (round >= warm_up) {
        samples[contender.name].push_back(took.value());
      }
    }
  }
  return samples;
}

}  // namespace cloche::bench
