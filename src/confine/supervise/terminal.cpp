#include "confine/supervise/terminal.hpp"

#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace cloche {

RawTerminal::RawTerminal(int fd) : fd_(fd) { enter(); }

RawTerminal::~RawTerminal() { leave(); }

void RawTerminal::enter() {
  termios now{};
  if (fd_ < 0 || ::tcgetattr(fd_, &now) != 0) return;
  before_ = now;
  ::cfmakeraw(&now);
  ::tcsetattr(fd_, TCSADRAIN, &now);
}

void RawTerminal::leave() {
  if (before_) ::tcsetattr(fd_, TCSADRAIN, &*before_);
  before_.reset();
}

void stop_until_continued() {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  sigset_t before;
  if (::pthread_sigmask(SIG_UNBLOCK, &stop, &before) != 0) return;
  ::kill(::getpid(), SIGTSTP);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
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
