#include "doors/approve/terminal_approver.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>

#include "base/sys/sys.hpp"

namespace cloche {
namespace {

constexpr uint64_t tick_ms = 100;  // how late a signal may be seen
constexpr size_t longest_line = 16;
constexpr int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

// Signals wait while the terminal is ours: one that ended us now would leave it without echo. SIGTTOU and
// SIGTTIN would stop us where a refusal is wanted.
class HeldSignals {
 public:
  HeldSignals() {
    sigset_t held;
    sigemptyset(&held);
    for (int number : ending_signals) sigaddset(&held, number);
    for (int number : {SIGTTOU, SIGTTIN, SIGTSTP}) sigaddset(&held, number);
    ::pthread_sigmask(SIG_BLOCK, &held, &before_);
  }
  ~HeldSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  static bool want_to_end_us() {
    sigset_t pending;
    sigemptyset(&pending);
    ::sigpending(&pending);
    return std::ranges::any_of(ending_signals,
                               [&](int number) { return sigismember(&pending, number) == 1; });
  }

 private:
  sigset_t before_{};
};

// No line editing, no echo, no signals from keys: we see each key and decide what it means.
class KeyTerminal {
 public:
  explicit KeyTerminal(int fd) : fd_(fd) {
    if (::tcgetattr(fd, &before_) != 0) return;
    termios keys = before_;
    keys.c_iflag &= static_cast<tcflag_t>(~(IGNBRK | BRKINT | INLCR | IGNCR | ISTRIP | PARMRK));
    keys.c_iflag |= ICRNL;
    keys.c_oflag |= OPOST | ONLCR;
    keys.c_lflag &= static_cast<tcflag_t>(~(ICANON | ECHO | ECHONL | ISIG | IEXTEN));
    keys.c_cc[VMIN] = 1;
    keys.c_cc[VTIME] = 0;
    changed_ = set(keys);
  }
  // What was typed meanwhile was meant for this question, not for the next reader.
  ~KeyTerminal() {
    if (changed_) set(before_);
  }
  KeyTerminal(const KeyTerminal&) = delete;
  KeyTerminal& operator=(const KeyTerminal&) = delete;

  bool ready() const { return changed_; }

 private:
  // Not TCSAFLUSH: it waits until everything written was shown, on a stopped terminal for ever.
  bool set(const termios& settings) const {
    ::tcflush(fd_, TCIFLUSH);
    return ::tcsetattr(fd_, TCSANOW, &settings) == 0;
  }

  int fd_;
  termios before_{};
  bool changed_ = false;
};

class Conversation {
 public:
  Conversation(int fd, uint64_t deadline_ms) : fd_(fd), deadline_ms_(deadline_ms) {}

  Reply hold(const std::string& text) {
    if (!write("\nCloche asks: may this run?\n" + text)) return Reply::no;
    ::tcflush(fd_, TCIFLUSH);  // typed before it could be read
    if (!write("y: yes, once   s: yes, for this session   else: no > ")) return Reply::no;
    const Reply reply = meaning(read_line());
    deadline_ms_ = std::max(deadline_ms_, sys::monotonic_ms() + tick_ms);  // to say what came of it
    write(reply == Reply::no        ? "\nnot allowed\n"
          : reply == Reply::session ? "\nallowed for this session\n"
                                    : "\nallowed once\n");
    return reply;
  }

 private:
  static Reply meaning(const std::string& line) {
    if (line == "y" || line == "Y" || line == "yes") return Reply::once;
    return line == "s" || line == "session" ? Reply::session : Reply::no;
  }

  // False at the deadline, and when something wants us to end.
  bool wait_for(short events) const {
    while (!HeldSignals::want_to_end_us()) {
      const uint64_t now = sys::monotonic_ms();
      if (now >= deadline_ms_) return false;
      pollfd one{fd_, events, 0};
      const int found = ::poll(&one, 1, static_cast<int>(std::min(tick_ms, deadline_ms_ - now)));
      if (found > 0) return (one.revents & events) != 0;
      if (found < 0 && errno != EINTR) return false;
    }
    return false;
  }

  // The terminal may be stopped (Ctrl-S) or its reader slow: never for longer than the deadline.
  bool write(std::string text) const {
    for (char& c : text)
      if (c != '\n' && (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e))
        c = '?';
    return put(text);
  }

  // As it is: our own words alone.
  bool put(std::string_view rest) const {
    while (!rest.empty()) {
      if (!wait_for(POLLOUT)) return false;
      const ssize_t written = ::write(fd_, rest.data(), rest.size());
      if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (written <= 0) return false;
      rest.remove_prefix(static_cast<size_t>(written));
    }
    return true;
  }

  // Up to Enter. Empty when there was none: an unfinished word is no word.
  std::string read_line() const {
    std::string line;
    while (wait_for(POLLIN)) {
      char key = 0;
      const ssize_t got = ::read(fd_, &key, 1);
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (got != 1) return {};
      if (key == '\n' || key == '\r') return line;
      if (key == 0x7f || key == '\b') {
        if (!line.empty() && put("\b \b")) line.pop_back();
      } else if (static_cast<unsigned char>(key) < 0x20 || line.size() >= longest_line) {
        return {};
      } else {
        line += key;
        if (!write(std::string(1, key))) return {};
      }
    }
    return {};
  }

  int fd_;
  uint64_t deadline_ms_;
};

// In the background the terminal belongs to another job, and its keys do too.
bool in_background(int fd) {
  const pid_t foreground = ::tcgetpgrp(fd);
  return foreground >= 0 && foreground != ::getpgrp();
}

Reply ask_at(const std::string& terminal, const std::string& text, uint64_t timeout_ms) {
  const auto fd = sys::open(terminal, O_RDWR | O_NOCTTY | O_NONBLOCK);
  if (!fd.ok() || ::isatty(fd.value().get()) != 1) return Reply::no;
  const HeldSignals signals;
  if (in_background(fd.value().get())) return Reply::no;
  const KeyTerminal keys(fd.value().get());
  if (!keys.ready()) return Reply::no;
  return Conversation(fd.value().get(), sys::monotonic_ms() + timeout_ms).hold(text);
}

}  // namespace

bool TerminalApprover::can_ask() const {
  const auto fd = sys::open(terminal_, O_RDWR | O_NOCTTY | O_NONBLOCK);
  return fd.ok() && ::isatty(fd.value().get()) == 1 && !in_background(fd.value().get());
}

Answer TerminalApprover::ask(const Question& question) {
  const std::lock_guard alone(one_at_a_time_);
  const Reply reply = ask_at(terminal_, question.text, timeout_ms_);
  return make_answer(question, reply, sys::monotonic_ms(), terms_);
}

}  // namespace cloche
