#include "confine/supervise/terminal.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace cloche {

RawTerminal::RawTerminal(int fd) : fd_(fd) { enter(); }

RawTerminal::~RawTerminal() {
  if (before_) ::tcflush(fd_, TCIFLUSH);
  leave();
}

void RawTerminal::enter() {
  termios now{};
  if (fd_ < 0 || before_ || belongs_to_another(fd_) || ::tcgetattr(fd_, &now) != 0) return;
  before_ = now;
  ::cfmakeraw(&now);
  ::tcsetattr(fd_, TCSADRAIN, &now);
}

void RawTerminal::leave() {
  if (before_) ::tcsetattr(fd_, TCSADRAIN, &*before_);
  before_.reset();
}

void RawTerminal::drop_answers() const {
  constexpr int most_answers = 20;
  constexpr int patience_ms = 100;
  pollfd answer{fd_, POLLIN, 0};
  for (int i = 0; before_ && i < most_answers && ::poll(&answer, 1, patience_ms) == 1; ++i)
    ::tcflush(fd_, TCIFLUSH);
}

bool RawTerminal::suspends(std::string_view typed) const {
  const cc_t key = before_ ? before_->c_cc[VSUSP] : cc_t{_POSIX_VDISABLE};
  return key != _POSIX_VDISABLE && typed.find(static_cast<char>(key)) != std::string_view::npos;
}

bool belongs_to_another(int terminal) {
  const pid_t foreground = ::tcgetpgrp(terminal);
  return foreground > 0 && foreground != ::getpgrp();
}

void stop_until_continued(Stop what) {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  sigset_t before;
  ::kill(what == Stop::group ? 0 : ::getpid(), SIGTSTP);
  if (::pthread_sigmask(SIG_UNBLOCK, &stop, &before) == 0) ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

bool SuspendKey::explains_stop(uint64_t now_ms) {
  constexpr uint64_t patience_ms = 5000;  // of a program that first restores its terminal, on a busy machine
  const bool explains = typed_ms_ != 0 && now_ms + 1 - typed_ms_ <= patience_ms;
  typed_ms_ = 0;
  return explains;
}

WindowSize window_size_of(int terminal) {
  winsize size{};
  if (::ioctl(terminal, TIOCGWINSZ, &size) != 0) return {};
  return {size.ws_row, size.ws_col};
}

void copy_window_size(int from, int to) {
  winsize size{};
  if (::ioctl(from, TIOCGWINSZ, &size) == 0) ::ioctl(to, TIOCSWINSZ, &size);
}

bool interrupts(int terminal, std::string_view typed) {
  termios now{};
  if (::tcgetattr(terminal, &now) != 0 || (now.c_lflag & ISIG) == 0) return false;
  return typed.find(static_cast<char>(now.c_cc[VINTR])) != std::string_view::npos;
}

bool reads_keys(int terminal) {
  termios now{};
  return ::tcgetattr(terminal, &now) == 0 && (now.c_lflag & ICANON) == 0;
}

bool Insistence::insists(std::string_view typed, uint64_t now_ms) {
  constexpr char ctrl_c = 0x03;
  for (char key : typed) {
    if (key != ctrl_c) {
      pressed_[0] = pressed_[1] = pressed_[2] = 0;
      continue;
    }
    pressed_[0] = pressed_[1];
    pressed_[1] = pressed_[2];
    pressed_[2] = now_ms + 1;
    if (pressed_[0] != 0 && pressed_[2] - pressed_[0] <= 1000) return true;
  }
  return false;
}

}  // namespace cloche
