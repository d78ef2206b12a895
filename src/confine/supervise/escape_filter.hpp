// Takes out of a command's output the sequences that make a terminal do things: OSC (titles, clipboard,
// links), DCS, APC, PM and SOS strings, in their 7-bit, 8-bit and UTF-8 spellings, and what else no program
// needs (terminal_modes.hpp). Colours, cursor movement and modes pass, each as a whole; what is left of the
// modes at the end can be reset.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "confine/supervise/terminal_modes.hpp"

namespace cloche {

// Whether the command gets what the terminal answers. Else the answers are typed at whatever reads the
// terminal next, and the questions are taken out.
enum class Answers { reach_command, reach_others };

class EscapeFilter {
 public:
  explicit EscapeFilter(Answers answers) : answers_(answers) {}

  // Appends what may be shown of `bytes` to `out`; sequences may be cut anywhere between calls. One that is
  // not whole at the end of all is not shown.
  void pass(std::string_view bytes, std::string& out);
  // Resets what was shown and not taken back.
  std::string resets() const { return modes_.resets(); }
  // Whether a question was shown since this was last called.
  bool take_asked() { return std::exchange(asked_, false); }

 private:
  enum class State { plain, escape, control, swallowing, swallowing_escape, after_c2 };
  void plain(unsigned char byte, std::string& out);
  void step(unsigned char byte, std::string& out);
  void begin_escape();
  void within_sequence(unsigned char byte, unsigned char first_letter, std::string& out);
  void collect(unsigned char byte);
  void finish(unsigned char letter, std::string& out);

  Answers answers_;
  State state_ = State::plain;
  int continuation_ = 0;  // bytes of a UTF-8 character still to come
  std::string sequence_;  // from its ESC, as far as it came
  TerminalModes modes_;
  bool asked_ = false;
};

}  // namespace cloche
