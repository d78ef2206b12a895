// Takes out of a command's output the sequences that make a terminal do things: OSC (titles, clipboard,
// links), DCS, APC, PM and SOS strings, in their 7-bit, 8-bit and UTF-8 spellings. Colours and cursor
// movement pass.
#pragma once

#include <string>
#include <string_view>

namespace cloche {

class EscapeFilter {
 public:
  // Appends what may be shown of `bytes` to `out`; sequences may be cut anywhere between calls.
  void pass(std::string_view bytes, std::string& out);

 private:
  enum class State { plain, escape, swallowing, swallowing_escape, after_c2 };
  void plain(unsigned char byte, std::string& out);
  void step(unsigned char byte, std::string& out);

  State state_ = State::plain;
  int continuation_ = 0;  // bytes of a UTF-8 character still to come
};

}  // namespace cloche
