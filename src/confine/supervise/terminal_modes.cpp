#include "confine/supervise/terminal_modes.hpp"

#include <algorithm>

namespace cloche {
namespace {

// ESC [ prefix parameters intermediates letter; without the `[` there is no prefix and no parameter.
struct Sequence {
  bool is_control = false;  // begins with ESC [
  char prefix = 0;          // one of < = > ?
  std::string_view parameters;
  std::string_view intermediates;
  char letter = 0;
};

constexpr bool is_intermediate(char byte) { return byte >= 0x20 && byte <= 0x2f; }

Sequence split(std::string_view whole) {
  Sequence sequence;
  std::string_view rest = whole.substr(1);
  if (rest.empty()) return sequence;
  sequence.letter = rest.back();
  sequence.is_control = rest.size() > 1 && rest.front() == '[';
  rest = rest.substr(sequence.is_control ? 1 : 0);
  rest.remove_suffix(1);
  const size_t first = static_cast<size_t>(std::ranges::find_if(rest, is_intermediate) - rest.begin());
  sequence.intermediates = rest.substr(first);
  sequence.parameters = rest.substr(0, first);
  if (!sequence.parameters.empty() && sequence.parameters.front() >= '<') {
    sequence.prefix = sequence.parameters.front();
    sequence.parameters.remove_prefix(1);
  }
  return sequence;
}

// Takes the first of "1;;3" off; an empty one is 0.
unsigned take_number(std::string_view& parameters) {
  constexpr unsigned more_than_any = 100'000;
  unsigned value = 0;
  size_t at = 0;
  for (; at < parameters.size() && parameters[at] != ';'; ++at) {
    const char digit = parameters[at];
    const bool is_digit = digit >= '0' && digit <= '9';
    value =
        is_digit ? std::min(value * 10 + static_cast<unsigned>(digit - '0'), more_than_any) : more_than_any;
  }
  parameters.remove_prefix(std::min(at + 1, parameters.size()));
  return value;
}

unsigned first_number(std::string_view parameters) { return take_number(parameters); }

bool has_number(std::string_view parameters, unsigned wanted) {
  while (!parameters.empty()) {
    if (take_number(parameters) == wanted) return true;
  }
  return false;
}

unsigned last_number(std::string_view parameters) {
  return first_number(parameters.substr(parameters.rfind(';') + 1));
}

struct Mode {
  char prefix;  // '?': one of DEC's, or of those that followed
  unsigned number;
  bool is_on;  // before a program changes it
};

constexpr Mode modes[] = {
    {0, 4, false},       // insert
    {0, 12, true},       // no echo by the terminal itself
    {0, 20, false},      // a new line with each line feed
    {'?', 1, false},     // cursor keys of applications
    {'?', 5, false},     // reverse video
    {'?', 6, false},     // origin within the margins
    {'?', 7, true},      // wrap
    {'?', 8, true},      // repeat keys
    {'?', 25, true},     // cursor
    {'?', 66, false},    // keypad of applications
    {'?', 69, false},    // margins left and right
    {'?', 9, false},     // mouse, in its ways and encodings
    {'?', 1000, false},  //
    {'?', 1001, false},  //
    {'?', 1002, false},  //
    {'?', 1003, false},  //
    {'?', 1005, false},  //
    {'?', 1006, false},  //
    {'?', 1015, false},  //
    {'?', 1016, false},  //
    {'?', 1004, false},  // reports of the focus
    {'?', 2004, false},  // marks around what is pasted
    {'?', 2026, false},  // holds back what is drawn
    {'?', 2031, false},  // reports of the colours
    {'?', 2048, false},  // reports of the size
    {'?', 9001, false},  // keys as Windows has them
    {'?', 47, false},    // the alternate screen, left last
    {'?', 1047, false},  //
    {'?', 1049, false},  //
};
constexpr size_t mode_count = sizeof modes / sizeof modes[0];
constexpr size_t alternate_screens = mode_count - 3;
static_assert(mode_count <= 32);

constexpr const char* control = "\x1b[";

}  // namespace

bool is_for_programs(std::string_view whole) {
  const Sequence sequence = split(whole);
  if (!sequence.is_control) {
    const bool identifies = sequence.intermediates.empty() && sequence.letter == 'Z';
    const bool answers_in_8_bits = sequence.intermediates == " " && sequence.letter == 'G';
    const bool leaves_utf8 = sequence.intermediates == "%";
    return !identifies && !answers_in_8_bits && !leaves_utf8;
  }
  if (std::ranges::any_of(sequence.parameters, [](char byte) { return byte >= '<'; })) return false;
  const bool is_plain = sequence.intermediates.empty();
  switch (sequence.letter) {
    case 'i': return false;                          // to a printer
    case 'y': return false;                          // tests, and sums of what the screen shows
    case 'w': return sequence.intermediates != "$";  // its state as a string
    case 'u': return is_plain;                       // with `$` and `&` the same
    case 't': {
      const unsigned what = first_number(sequence.parameters);
      return sequence.prefix != 0 || !is_plain || (what != 20 && what != 21);  // titles
    }
    case 'h':
    case 'l':
      // The keyboard is locked, or, of DEC's, it becomes a VT52.
      return !has_number(sequence.parameters, 2) || (sequence.prefix != 0 && sequence.prefix != '?');
    default: return true;
  }
}

bool asks_terminal(std::string_view whole) {
  const Sequence sequence = split(whole);
  if (!sequence.is_control) return false;
  switch (sequence.letter) {
    case 'c':
    case 'n':
    case 'x': return sequence.intermediates.empty();
    case 'p': return sequence.intermediates == "$";
    case 'q': return sequence.prefix == '>';
    case 'u': return sequence.prefix == '?';
    case 'm': return sequence.prefix == '?';
    case 'S': return sequence.prefix == '?';
    case 't': {
      const unsigned what = first_number(sequence.parameters);
      return sequence.prefix == 0 && what >= 11 && what <= 21;
    }
    default: return false;
  }
}

void TerminalModes::note(std::string_view whole) {
  const Sequence sequence = split(whole);
  if (!sequence.is_control) {
    if (sequence.intermediates.empty() && sequence.letter == '=') keypad_ = true;
    if (sequence.intermediates.empty() && sequence.letter == '>') keypad_ = false;
    if (sequence.intermediates == "(") characters_ = sequence.letter != 'B';
    return;
  }
  if (!sequence.intermediates.empty()) return;
  const auto& [is_control, prefix, parameters, intermediates, letter] = sequence;
  if (letter == 'h' || letter == 'l' || (letter == 'r' && prefix == '?')) {
    std::string_view rest = parameters;
    do {
      const unsigned number = take_number(rest);
      for (size_t i = 0; i < mode_count; ++i) {
        if (modes[i].prefix == prefix && modes[i].number == number)
          changed_[i] =
              letter == 'r' || (letter == 'h') != modes[i].is_on;  // `r`: as was stored, whatever it was
      }
    } while (!rest.empty());
  } else if (letter == 'r' && prefix == 0) {
    margins_ = !parameters.empty();
  } else if (letter == 'm' && prefix == 0) {
    colours_ = last_number(parameters) != 0;
  } else if (letter == 'm' && prefix == '>') {
    key_codes_ = parameters.find(';') != std::string_view::npos && last_number(parameters) != 0;
  } else if (letter == 'u') {
    note_keyboard(prefix, parameters);
  }
}

void TerminalModes::note_shift(bool out) { shifted_ = out; }

// Of kitty and those that followed: a stack for each screen.
void TerminalModes::note_keyboard(char prefix, std::string_view parameters) {
  constexpr unsigned deepest = 99;
  Keyboard& keyboard = keyboards_[shows_alternate_screen() ? 1 : 0];
  const unsigned number = first_number(parameters);
  if (prefix == '>') {
    keyboard.pushed = std::min(keyboard.pushed + 1, deepest);
  } else if (prefix == '<') {
    keyboard.pushed -= std::min(keyboard.pushed, std::max(number, 1U));
  } else if (prefix == '=') {
    keyboard.set = number != 0;
  }
}

bool TerminalModes::shows_alternate_screen() const {
  for (size_t i = alternate_screens; i < mode_count; ++i) {
    if (changed_[i]) return true;
  }
  return false;
}

std::string TerminalModes::keyboard_resets(bool alternate_screen) const {
  const Keyboard& keyboard = keyboards_[alternate_screen ? 1 : 0];
  std::string text;
  if (keyboard.pushed != 0) text = control + ("<" + std::to_string(keyboard.pushed)) + "u";
  if (keyboard.set) text += std::string(control) + "=0u";
  return text;
}

std::string TerminalModes::resets() const {
  std::string text;
  if (shows_alternate_screen()) text += keyboard_resets(true);
  for (size_t i = 0; i < mode_count; ++i) {
    if (!changed_[i]) continue;
    text += control;
    if (modes[i].prefix != 0) text += modes[i].prefix;
    text += std::to_string(modes[i].number) + (modes[i].is_on ? "h" : "l");
  }
  text += keyboard_resets(false);
  if (key_codes_) text += std::string(control) + ">4m";
  if (margins_)
    text +=
        "\x1b"
        "7\x1b[r\x1b"
        "8";  // which moves the cursor
  if (keypad_) text += "\x1b>";
  if (characters_) text += "\x1b(B";
  if (shifted_) text += "\x0f";
  if (colours_) text += std::string(control) + "m";
  return text;
}

}  // namespace cloche
