// A command that is talked to while it runs: over pipes, or on a terminal that the test plays (a pty of its
// own session, with a size). Everything waits with a deadline.
#pragma once

#include <termios.h>

#include <chrono>
#include <string>
#include <string_view>

#include "harness/harness.hpp"

namespace cloche::test {

enum class Over { pipes, terminal };

struct TerminalSize {
  unsigned short rows = 24;
  unsigned short columns = 80;
};

class Conversation {
 public:
  using Millis = std::chrono::milliseconds;

  Conversation(const Command& command, Over over, TerminalSize size = {});
  ~Conversation();
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  int pid() const { return pid_; }
  void send(std::string_view bytes);
  // Reads until `text` comes after what was matched before.
  bool hear(const std::string& text, Millis patience = std::chrono::seconds(10));
  // Everything heard so far: stdout, or the terminal's screen as bytes.
  const std::string& heard() const { return heard_; }
  void end_input();
  void stop_listening();  // closes our end of its stdout
  void resize(TerminalSize size);
  // Waits for the end; `timed_out` and killed when it does not come. On a terminal `out` is what was shown.
  Ran finish(Millis patience = std::chrono::seconds(10));
  // Whether the terminal has the settings it had before the command started.
  bool settings_restored() const;

 private:
  void start_child(int in, int out, int err);
  void listen(int wait_ms);

  Command command_;
  Over over_;
  int pid_ = -1;
  int to_ = -1;
  int from_ = -1;
  int errors_ = -1;
  int terminal_ = -1;  // the command's side of the pty, kept open so that its settings outlive the command
  termios settings_ = {};
  std::string heard_;
  std::string complaints_;
  size_t matched_ = 0;
};

}  // namespace cloche::test
