#include "everyday/conversation.hpp"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

namespace cloche::test {
namespace {

using Clock = std::chrono::steady_clock;
constexpr unsigned nobody_id = 65534;

[[noreturn]] void give_up(const char* doing) {
  std::perror(doing);
  _exit(99);
}

void close_once(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

std::pair<int, int> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
  return {ends[0], ends[1]};
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  for (auto& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> environment(const Command& command) {
  std::map<std::string, std::string> variables = {
      {"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
      {"HOME", command.as == As::nobody ? "/nonexistent" : "/root"},
      {"LANG", "C.UTF-8"},
      {"TERM", "xterm"}};
  const char* home = getenv("HOME");
  if (command.as == As::self && home != nullptr) variables["HOME"] = home;
  for (const auto& [name, value] : command.env) variables[name] = value;
  std::vector<std::string> out;
  out.reserve(variables.size());
  for (const auto& [name, value] : variables) out.emplace_back(name).append("=").append(value);
  return out;
}

// False at the end of the stream. A terminal whose last user left answers EIO.
bool take(int fd, std::string& into) {
  char buffer[65536];
  const ssize_t got = read(fd, buffer, sizeof buffer);
  if (got <= 0) return false;
  into.append(buffer, static_cast<size_t>(got));
  return true;
}

}  // namespace

Conversation::Conversation(const Command& command, Over over, TerminalSize size)
    : command_(command), over_(over) {
  signal(SIGPIPE, SIG_IGN);
  if (over == Over::terminal) {
    winsize window = {size.rows, size.columns, 0, 0};
    int master = -1;
    if (openpty(&master, &terminal_, nullptr, nullptr, &window) != 0) throw std::runtime_error("openpty");
    fcntl(master, F_SETFD, FD_CLOEXEC);
    fcntl(terminal_, F_SETFD, FD_CLOEXEC);
    tcgetattr(terminal_, &settings_);
    from_ = master;
    to_ = fcntl(master, F_DUPFD_CLOEXEC, 3);
    start_child(terminal_, terminal_, terminal_);
    return;
  }
  auto [in_read, in_write] = make_pipe();
  auto [out_read, out_write] = make_pipe();
  auto [err_read, err_write] = make_pipe();
  to_ = in_write;
  from_ = out_read;
  errors_ = err_read;
  start_child(in_read, out_write, err_write);
  for (int fd : {in_read, out_write, err_write}) close(fd);
}

void Conversation::start_child(int in, int out, int err) {
  std::vector<std::string> argv = command_.argv;
  std::vector<std::string> env = environment(command_);
  auto argv_pointers = pointers(argv);
  auto env_pointers = pointers(env);
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("fork");
  if (pid_ > 0) return;
  if (over_ == Over::terminal) {
    setsid();
    if (ioctl(in, TIOCSCTTY, 0) != 0) give_up("TIOCSCTTY");
    if (command_.as == As::nobody && fchown(in, nobody_id, nobody_id) != 0) give_up("fchown");
  }
  dup2(in, 0);
  dup2(out, 1);
  dup2(err, 2);
  signal(SIGPIPE, SIG_DFL);
  if (command_.as == As::nobody) {
    if (setgroups(0, nullptr) != 0 || setresgid(nobody_id, nobody_id, nobody_id) != 0 ||
        setresuid(nobody_id, nobody_id, nobody_id) != 0) {
      give_up("nobody");
    }
  }
  if (!command_.cwd.empty() && chdir(command_.cwd.c_str()) != 0) give_up("chdir");
  execvpe(argv_pointers[0], argv_pointers.data(), env_pointers.data());
  give_up(argv_pointers[0]);
}

Conversation::~Conversation() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  for (int* fd : {&to_, &from_, &errors_, &terminal_}) close_once(*fd);
}

void Conversation::send(std::string_view bytes) {
  while (!bytes.empty() && to_ >= 0) {
    const ssize_t put = write(to_, bytes.data(), bytes.size());
    if (put <= 0) return;
    bytes.remove_prefix(static_cast<size_t>(put));
  }
}

void Conversation::listen(int wait_ms) {
  pollfd fds[2] = {{from_, POLLIN, 0}, {errors_, POLLIN, 0}};
  poll(fds, 2, wait_ms);
  if (fds[0].revents != 0 && !take(from_, heard_)) close_once(from_);
  if (fds[1].revents != 0 && !take(errors_, complaints_)) close_once(errors_);
}

bool Conversation::hear(const std::string& text, Millis patience) {
  const auto deadline = Clock::now() + patience;
  while (true) {
    const auto at = heard_.find(text, matched_);
    if (at != std::string::npos) {
      matched_ = at + text.size();
      return true;
    }
    if (from_ < 0 || Clock::now() > deadline) return false;
    listen(50);
  }
}

void Conversation::end_input() { close_once(to_); }

void Conversation::stop_listening() { close_once(from_); }

void Conversation::resize(TerminalSize size) {
  const winsize window = {size.rows, size.columns, 0, 0};
  ioctl(from_, TIOCSWINSZ, &window);
}

Ran Conversation::finish(Millis patience) {
  const auto start = Clock::now();
  Ran ran;
  int status = 0;
  while (waitpid(pid_, &status, WNOHANG) == 0) {
    if (Clock::now() - start > patience) {
      ran.timed_out = true;
      kill(pid_, SIGKILL);
      waitpid(pid_, &status, 0);
      break;
    }
    listen(20);
  }
  pid_ = -1;
  ran.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  // What was written before the end is still in the pipes or the terminal.
  size_t before = 0;
  do {
    before = heard_.size() + complaints_.size();
    listen(20);
  } while (heard_.size() + complaints_.size() != before);
  ran.out = heard_;
  ran.err = complaints_;
  if (ran.timed_out) return ran;
  if (WIFEXITED(status)) ran.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ran.signal = WTERMSIG(status);
  return ran;
}

bool Conversation::settings_restored() const {
  termios now = {};
  if (tcgetattr(terminal_, &now) != 0) return false;
  return now.c_iflag == settings_.c_iflag && now.c_oflag == settings_.c_oflag &&
         now.c_cflag == settings_.c_cflag && now.c_lflag == settings_.c_lflag &&
         std::memcmp(now.c_cc, settings_.c_cc, sizeof now.c_cc) == 0;
}

}  // namespace cloche::test
