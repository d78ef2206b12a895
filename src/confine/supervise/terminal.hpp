// The caller's terminal while a command has one of ours: raw, so that keys reach the command, and as it was
// afterwards.
#pragma once

#include <termios.h>

#include <optional>
#include <string_view>

namespace cloche {

class RawTerminal {
 public:
  explicit RawTerminal(int fd);
  ~RawTerminal();
  // As it was, while another job has it; and raw again, from the settings that it then has.
  void leave();
  void enter();
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

 private:
  int fd_;
  std::optional<termios> before_;
};

struct WindowSize {
  unsigned rows = 0;
  unsigned columns = 0;
};
WindowSize window_size_of(int terminal);
void copy_window_size(int from, int to);

// Stops this process as Ctrl-Z does; returns when it is continued. At once where no shell could continue it,
// which the kernel knows.
void stop_until_continued();

// Whether a key that was typed is one that the terminal, as its user has set it, takes for an interrupt.
bool interrupts(int terminal, std::string_view typed);

// Whether the program on this terminal reads single keys, as editors, pagers and shells do.
bool reads_keys(int terminal);

// Ctrl-C goes to the command, which may ignore it. Three within a second mean that the person insists.
class Insistence {
 public:
  bool insists(std::string_view typed, uint64_t now_ms);

 private:
  uint64_t pressed_[3] = {0, 0, 0};
};

}  // namespace cloche
