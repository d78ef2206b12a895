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
  // What still waits to be read was meant for the command, or is an answer to it: it is dropped.
  ~RawTerminal();
  // As it was, while another job has it; and raw again, from the settings that it then has, where it is ours.
  void leave();
  void enter();
  // In the background: to be entered when it is ours.
  bool waits() const { return fd_ >= 0 && !before_; }
  // Of questions that were just asked: waits for them until none has come for a moment.
  void drop_answers() const;
  // Whether this was typed to suspend a job, as the terminal's user has set it.
  bool suspends(std::string_view typed) const;
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

// Whether this terminal belongs to another job just now.
bool belongs_to_another(int terminal);

// Stops this process, or its whole group, as Ctrl-Z does; returns when it is continued. At once where no
// shell could continue it, which the kernel knows.
enum class Stop { this_process, group };
void stop_until_continued(Stop what);

// The user has Cloche suspended by a key that goes to the command: the command, which may have a use of its
// own for it, is stopped by it a moment later. What stops itself otherwise suspends nobody.
class SuspendKey {
 public:
  void typed(uint64_t now_ms) { typed_ms_ = now_ms + 1; }
  // Whether it explains that the command has stopped. Once.
  bool explains_stop(uint64_t now_ms);

 private:
  uint64_t typed_ms_ = 0;
};

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
