#include "escape/stage.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace cloche::test {
namespace {

constexpr unsigned nobody_id = 65534;

std::shared_ptr<void> owned(int fd) {
  return {nullptr, [fd](void*) { close(fd); }};
}

int listening(int fd, const sockaddr* address, socklen_t size, int type) {
  if (fd < 0 || bind(fd, address, size) != 0) throw std::runtime_error("bind");
  if (type == SOCK_STREAM && listen(fd, 8) != 0) throw std::runtime_error("listen");
  return fd;
}

int port_of(int fd) {
  sockaddr_in6 address{};
  socklen_t size = sizeof address;
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin6_port);  // in the same place for both families
}

void give_to(As as, const fs::path& path) {
  if (as == As::nobody && lchown(path.c_str(), nobody_id, nobody_id) != 0) throw std::runtime_error("chown");
}

}  // namespace

std::string random_token() {
  unsigned char bytes[8];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) throw std::runtime_error("getrandom");
  std::string text = "tok";
  for (const unsigned char byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

std::string namespace_link(const char* kind) {
  return fs::read_symlink(std::string("/proc/self/ns/") + kind);
}

std::string read_proc(const fs::path& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; fd >= 0 && (got = read(fd, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<size_t>(got));
  }
  if (fd >= 0) close(fd);
  return text;
}

bool is_alive(int pid) {
  const std::string stat = read_proc("/proc/" + std::to_string(pid) + "/stat");
  const size_t end = stat.rfind(") ");
  return end != std::string::npos && stat[end + 2] != 'Z' && stat[end + 2] != 'X';
}

std::vector<int> processes_with(const std::string& text) {
  std::vector<int> found;
  const auto holds_text = [&](const fs::path& folder) {
    return read_proc(folder / "cmdline").find(text) != std::string::npos;
  };
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const int pid = atoi(entry.path().filename().c_str());
    if (pid <= 0 || pid == getpid()) continue;
    bool alive = holds_text(entry.path());
    // A process whose first thread has ended shows no command line, but its other threads do.
    std::error_code gone;
    for (fs::directory_iterator thread(entry.path() / "task", gone), end; !alive && !gone && thread != end;) {
      alive = holds_text(thread->path());
      thread.increment(gone);
    }
    if (alive) found.push_back(pid);
  }
  return found;
}

void end_processes(const std::vector<int>& pids) {
  for (const int pid : pids) kill(pid, SIGKILL);
}

bool wait_until(const std::function<bool()>& condition, std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

Stage::Stage(As as_whom, Play which) : as(as_whom), play(which), scene(as_whom), token(random_token()) {
  fs::copy_file(built("escape-attacks"), attacks());
  chmod(attacks().c_str(), 0755);
  give_to(as, attacks());
}

void Stage::watch_only_under_cloche(Watcher watcher) {
  if (play == Play::under_cloche) watch(std::move(watcher));
}

std::string Stage::damage(const Ran& ran) const {
  std::string all;
  for (const Watcher& watcher : watchers_) {
    const std::string one = watcher(ran);
    if (!one.empty()) all += (all.empty() ? "" : "; ") + one;
  }
  return all;
}

Command Stage::command(const std::string& attack) const {
  std::vector<std::string> words = {attacks(), attack};
  words.insert(words.end(), arguments.begin(), arguments.end());
  if (play == Play::under_cloche) {
    std::vector<std::string> all_flags = {"--workspace", scene.workspace().string()};
    all_flags.insert(all_flags.end(), flags.begin(), flags.end());
    words = under_cloche(all_flags, words);
  }
  for (const auto* prop : {play == Play::control ? &control_launcher : nullptr, &launcher}) {
    if (prop == nullptr || prop->empty()) continue;
    std::vector<std::string> wrapped = {attacks(), "prop"};
    wrapped.insert(wrapped.end(), prop->begin(), prop->end());
    wrapped.emplace_back("--");
    wrapped.insert(wrapped.end(), words.begin(), words.end());
    words = wrapped;
  }
  Command command;
  command.argv = words;
  command.as = as;
  command.cwd = scene.workspace().string();
  command.env = environment;
  command.deadline = deadline;
  return command;
}

fs::path Stage::write_secret(const std::string& relative) {
  return scene.write(relative, "secret " + token + "\n", 0600);
}

fs::path Stage::write_precious(const std::string& relative) {
  const std::string text = "precious " + token + "\n";
  const fs::path path = scene.write(relative, text);
  watch([path, text](const Ran&) -> std::string {
    if (!fs::exists(path)) return path.string() + " is gone";
    return read_file(path) == text ? "" : path.string() + " was changed";
  });
  return path;
}

void Stage::watch_appearance_of(const fs::path& path) {
  watch([path](const Ran&) { return fs::exists(path) ? path.string() + " has appeared" : ""; });
  keep({nullptr, [path](void*) {
          std::error_code ignored;
          fs::remove(path, ignored);
        }});
}

int Stage::start_victim() {
  const fs::path secret = write_secret("victim-secret.txt");
  const fs::path ready = scene.root() / "victim-ready";
  Command victim;
  victim.argv = {attacks(), "prop", "victim", token, secret.string(), ready.string()};
  victim.as = as;
  victim.cwd = scene.root().string();
  victim.env = {{"VICTIM_SECRET", token}};
  victim_ = std::make_shared<Started>(victim);
  if (!wait_until([&] { return fs::exists(ready); }, std::chrono::seconds(5)))
    throw std::runtime_error("victim");
  return victim_->pid();
}

void Stage::watch_victim() {
  const int pid = victim_->pid();
  // A killed process takes a moment to die.
  watch([pid](const Ran&) {
    return wait_until([pid] { return !is_alive(pid); }, std::chrono::milliseconds(200)) ? "the victim is dead"
                                                                                        : "";
  });
}

void Stage::watch_listener(int fd) {
  keep(owned(fd));
  watch([fd](const Ran&) -> std::string {
    char bytes[64];
    const int caller = accept4(fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    const ssize_t got = recv(caller >= 0 ? caller : fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (caller >= 0) close(caller);
    if (got > 0) return "bytes arrived on the host's socket";
    return caller >= 0 ? "somebody connected to the host's socket" : "";
  });
}

int Stage::listen_tcp(int family) {
  const int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (family == AF_INET6) {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_addr = in6addr_loopback;
    listening(fd, reinterpret_cast<sockaddr*>(&address), sizeof address, SOCK_STREAM);
  } else {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listening(fd, reinterpret_cast<sockaddr*>(&address), sizeof address, SOCK_STREAM);
  }
  watch_listener(fd);
  return port_of(fd);
}

int Stage::listen_udp() {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  listening(fd, reinterpret_cast<sockaddr*>(&address), sizeof address, SOCK_DGRAM);
  watch_listener(fd);
  return port_of(fd);
}

void Stage::listen_unix(const fs::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  listening(fd, reinterpret_cast<sockaddr*>(&address), sizeof address, SOCK_STREAM);
  chmod(path.c_str(), 0777);
  watch_listener(fd);
}

void Stage::listen_abstract(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  memcpy(address.sun_path + 1, name.data(), name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  listening(fd, reinterpret_cast<sockaddr*>(&address), size, SOCK_STREAM);
  watch_listener(fd);
}

int Stage::call_back_door() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int placeholder = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  listening(placeholder, reinterpret_cast<sockaddr*>(&address), sizeof address, SOCK_DGRAM);
  const int port = port_of(placeholder);
  close(placeholder);
  address.sin_port = htons(static_cast<uint16_t>(port));
  auto answered = std::make_shared<std::atomic<bool>>(false);
  auto caller = std::make_shared<std::jthread>([address, answered](const std::stop_token& stop) {
    while (!stop.stop_requested() && !*answered) {
      const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      *answered = connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
      close(fd);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  keep(caller);
  watch([answered, caller](const Ran&) {
    caller->request_stop();  // its call may have got through a moment ago, and not been noted yet
    if (caller->joinable()) caller->join();
    return *answered ? "a port inside answered the host" : "";
  });
  return port;
}

}  // namespace cloche::test
