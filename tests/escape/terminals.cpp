// Attacks on the caller's terminal: type into it, paste into it, talk to it behind the caller's back.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "escape/attack.hpp"

namespace cloche::escape {
namespace {

// Every descriptor that may be the caller's terminal.
std::vector<int> possible_terminals(const Arguments& paths) {
  std::vector<int> fds = {0, 1, 2};
  const int controlling = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (controlling >= 0) fds.push_back(controlling);
  for (const std::string& path : paths) {
    const int fd = open(path.c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0) fds.push_back(fd);
  }
  return fds;
}

Report type_with(const Arguments& args, uint64_t request) {
  int error = 0;
  for (const int fd : possible_terminals(args)) {
    const char letter = 'x';
    if (syscall(SYS_ioctl, fd, request, &letter) == 0) return escaped("typed into the terminal");
    error = errno;
  }
  return held_by_errno("TIOCSTI", error);
}

Report type_into_terminal(const Arguments& args) { return type_with(args, TIOCSTI); }

// The kernel reads 32 bits of the request, an unwary filter 64.
Report type_with_high_bits(const Arguments& args) { return type_with(args, TIOCSTI | (uint64_t{1} << 32)); }

// On a console TIOCLINUX pastes a selection, which is typing by another name. Asking for the shift keys'
// state goes the same way and changes nothing.
Report paste_into_console(const Arguments& args) {
  int error = 0;
  for (const int fd : possible_terminals(args)) {
    char shift_state = 6;
    if (ioctl(fd, TIOCLINUX, &shift_state) == 0) return escaped("TIOCLINUX was served");
    if (error == 0) error = errno;
  }
  return held_by_errno("TIOCLINUX", error);
}

Report write_controlling_terminal(const Arguments&) {
  const int fd = open("/dev/tty", O_RDWR);
  if (fd < 0) return held_by_errno("open /dev/tty");
  if (write(fd, "tampered", 8) != 8) return held_by_errno("write /dev/tty");
  return escaped("wrote to the caller's terminal");
}

Report open_terminal_by_path(const Arguments& args) {
  const int fd = open(args.at(0).c_str(), O_RDWR | O_NOCTTY);
  if (fd < 0) return held_by_errno("open " + args[0]);
  struct stat info {};
  if (fstat(fd, &info) == 0 && std::to_string(info.st_dev) == args.at(1)) return escaped("opened " + args[0]);
  return held("that is another terminal of the same name");
}

// The terminal on stdio must be one made for us: the caller's own carries settings, signals and input.
Report own_callers_terminal(const Arguments& args) {
  for (int fd = 0; fd <= 2; ++fd) {
    struct stat info {};
    if (fstat(fd, &info) != 0 || std::to_string(info.st_dev) != args.at(0)) continue;
    if (std::to_string(info.st_rdev) == args.at(1)) {
      return escaped("descriptor " + std::to_string(fd) + " is the caller's terminal");
    }
  }
  return held("our terminal is another one");
}

Report change_terminal_settings(const Arguments&) {
  termios settings{};
  if (tcgetattr(0, &settings) != 0) return held_by_errno("tcgetattr");
  settings.c_lflag &= ~static_cast<tcflag_t>(ECHO | ICANON | ISIG);
  settings.c_oflag &= ~static_cast<tcflag_t>(OPOST);
  if (tcsetattr(0, TCSANOW, &settings) != 0) return held_by_errno("tcsetattr");
  return planted("the terminal is left without echo");
}

void say(const char* text) {
  if (write(1, text, strlen(text)) < 0) _exit(static_cast<int>(Ending::unable));
}

// Sequences a terminal obeys: set the clipboard, ask it to type, hide text. In one piece, in two writes, and
// in their one-byte form.
Report print_terminal_orders(const Arguments&) {
  say("before\n");
  say("\x1b]52;c;b3JkZXI=\x07");
  say("\x1b");
  sleep_ms(60);
  say("]52;c;b3JkZXI=");
  sleep_ms(60);
  say("\x1b\\");
  say("\x1bP$qm\x1b\\");
  say("\x1b_order\x1b\\");
  say("\x9d"
      "52;c;b3JkZXI=\x9c");
  say("after\n");
  return planted("orders were printed");
}

}  // namespace

Attacks terminal_attacks() {
  return {
      {"type-into-terminal", "TIOCSTI types nothing into the caller's terminal", type_into_terminal},
      {"type-with-high-bits", "high bits do not hide TIOCSTI", type_with_high_bits},
      {"paste-into-console", "TIOCLINUX is refused", paste_into_console},
      {"write-controlling-terminal", "/dev/tty is not the caller's terminal", write_controlling_terminal},
      {"open-terminal-by-path", "the caller's terminal cannot be opened by name", open_terminal_by_path},
      {"own-callers-terminal", "stdio is never the caller's own terminal", own_callers_terminal},
      {"change-terminal-settings", "the caller's terminal keeps its settings", change_terminal_settings},
      {"print-terminal-orders", "orders to the caller's terminal are not passed on", print_terminal_orders},
  };
}

}  // namespace cloche::escape
