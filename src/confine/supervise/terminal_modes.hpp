// What a program has a terminal do by its escape sequences: which of these no program needs, and which modes
// the terminal is left in. Pure.
#pragma once

#include <array>
#include <bitset>
#include <string>
#include <string_view>

namespace cloche {

// Of a whole sequence, from its ESC to its last letter. False: it prints or locks something, or reads the
// screen or the title back, which no program needs; or it is no sequence that terminals agree on.
bool is_for_programs(std::string_view sequence);
// The terminal answers it, as if the answer had been typed.
bool asks_terminal(std::string_view sequence);

// The modes that outlast a program which does not reset them.
class TerminalModes {
 public:
  void note(std::string_view sequence);
  void note_shift(bool out);  // by SO and SI: to the second character set, and back
  // What makes the terminal as it was before. Empty: nothing is left of what was set.
  std::string resets() const;

 private:
  void note_keyboard(char prefix, std::string_view parameters);
  bool shows_alternate_screen() const;
  std::string keyboard_resets(bool alternate_screen) const;

  std::bitset<32> changed_;  // by the table of modes
  struct Keyboard {
    unsigned pushed = 0;
    bool set = false;
  };
  std::array<Keyboard, 2> keyboards_;  // of the main and of the alternate screen
  bool key_codes_ = false;
  bool colours_ = false;
  bool margins_ = false;
  bool keypad_ = false;
  bool characters_ = false;
  bool shifted_ = false;
};

}  // namespace cloche
