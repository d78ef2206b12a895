#include "confine/supervise/escape_filter.hpp"

namespace cloche {
namespace {

constexpr unsigned char esc = 0x1b;
constexpr unsigned char bell = 0x07;
constexpr unsigned char enquiry = 0x05;  // the terminal answers with a text of its own
constexpr unsigned char shift_out = 0x0e;
constexpr unsigned char shift_in = 0x0f;
constexpr size_t longest_sequence = 256;

// ESC P, ESC X, ESC ], ESC ^, ESC _ start a string; 0x40 higher than their letter are the one-byte forms.
constexpr bool starts_string(unsigned char letter) {
  return letter == 'P' || letter == 'X' || letter == ']' || letter == '^' || letter == '_';
}
constexpr bool is_control_form(unsigned char byte) { return byte >= 0x80 && byte <= 0x9f; }
constexpr unsigned char letter_of(unsigned char control) {
  return static_cast<unsigned char>(control - 0x40);
}

int continuation_after(unsigned char lead) {
  if (lead >= 0xc2 && lead <= 0xdf) return 1;
  if (lead >= 0xe0 && lead <= 0xef) return 2;
  return lead >= 0xf0 && lead <= 0xf4 ? 3 : 0;
}

}  // namespace

void EscapeFilter::plain(unsigned char byte, std::string& out) {
  if (continuation_ > 0 && byte >= 0x80 && byte <= 0xbf) {
    --continuation_;
    out += static_cast<char>(byte);
    return;
  }
  continuation_ = 0;
  if (byte == esc) {
    begin_escape();
  } else if (byte == enquiry) {
    return;
  } else if (byte == 0xc2) {
    state_ = State::after_c2;  // may be a control character in UTF-8
  } else if (is_control_form(byte)) {
    if (starts_string(letter_of(byte))) state_ = State::swallowing;  // other lone ones are dropped
  } else {
    if (byte == shift_out || byte == shift_in) modes_.note_shift(byte == shift_out);
    continuation_ = continuation_after(byte);
    out += static_cast<char>(byte);
  }
}

void EscapeFilter::begin_escape() {
  state_ = State::escape;
  sequence_ = "\x1b";
}

// One that is too long keeps that length, and is not shown.
void EscapeFilter::collect(unsigned char byte) {
  if (sequence_.size() < longest_sequence) sequence_ += static_cast<char>(byte);
}

void EscapeFilter::finish(unsigned char letter, std::string& out) {
  state_ = State::plain;
  collect(letter);
  if (sequence_.size() == longest_sequence || !is_for_programs(sequence_)) return;
  const bool asks = asks_terminal(sequence_);
  if (asks && answers_ == Answers::reach_others) return;
  asked_ = asked_ || asks;
  modes_.note(sequence_);
  out += sequence_;
}

void EscapeFilter::within_sequence(unsigned char byte, unsigned char first_letter, std::string& out) {
  if (byte >= first_letter && byte < 0x7f) return finish(byte, out);
  if (byte >= 0x20 && byte < 0x7f) return collect(byte);
  // A terminal would carry such a byte out and wait on for the rest of the sequence; so the sequence goes.
  state_ = State::plain;
  plain(byte, out);
}

void EscapeFilter::step(unsigned char byte, std::string& out) {
  switch (state_) {
    case State::plain: return plain(byte, out);
    case State::escape:
      if (starts_string(byte) && sequence_.size() == 1) {
        state_ = State::swallowing;
      } else if (byte == '[' && sequence_.size() == 1) {
        state_ = State::control;
        collect(byte);
      } else {
        within_sequence(byte, 0x30, out);
      }
      return;
    case State::control: return within_sequence(byte, 0x40, out);
    case State::after_c2:
      state_ = State::plain;
      if (is_control_form(byte)) {
        if (starts_string(letter_of(byte))) state_ = State::swallowing;
        return;
      }
      out += '\xc2';
      continuation_ = 1;
      return plain(byte, out);
    case State::swallowing:
      if (byte == bell || byte == 0x9c || byte == 0x18 || byte == 0x1a) state_ = State::plain;
      if (byte == esc) state_ = State::swallowing_escape;
      return;
    case State::swallowing_escape:
      // ESC \ ends the string; any other letter starts a sequence of its own and ends it too.
      state_ = State::plain;
      if (byte != '\\') {
        begin_escape();
        step(byte, out);
      }
      return;
  }
}

void EscapeFilter::pass(std::string_view bytes, std::string& out) {
  for (char byte : bytes) step(static_cast<unsigned char>(byte), out);
}

}  // namespace cloche
