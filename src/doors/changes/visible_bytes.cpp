#include "doors/changes/visible_bytes.hpp"

#include <algorithm>

#include "base/text/ascii.hpp"
#include "base/text/utf8.hpp"
#include "base/text/visible_text.hpp"
#include "doors/changes/look_alikes.hpp"

namespace cloche {
namespace {

struct CodeRange {
  unsigned first;
  unsigned last;
};

template <size_t n>
bool is_among(const CodeRange (&ranges)[n], unsigned code) {
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [&](const CodeRange& range) { return code >= range.first && code <= range.last; });
}

// Beyond what base knows: it also judges commands, where a person may mean these. In a diff nothing is lost
// by writing them out.
bool hides_in_contents(unsigned code) {
  constexpr CodeRange ranges[] = {
      {0x00a0, 0x00a0},                       // spaces that are no space to a program
      {0x0334, 0x0338},                       // strokes through the letter before
      {0x1680, 0x1680},    {0x17b4, 0x17b5},  // Khmer vowels without a mark
      {0x180b, 0x180f},                       // Mongolian variation selectors
      {0x2000, 0x200a},    {0x202f, 0x202f}, {0x205f, 0x205f},
      {0x20d2, 0x20d3},  // strokes again
      {0x20d8, 0x20da},    {0x20e5, 0x20e6}, {0x20ea, 0x20eb},
      {0x2800, 0x2800},                       // Braille without a dot
      {0x3000, 0x3000},    {0xe000, 0xf8ff},  // private use: no reader knows what it looks like
      {0xfdd0, 0xfdef},                       // no characters
      {0xfff0, 0xfff8},    {0xfffe, 0xffff}, {0x1fffe, 0x1ffff},
      {0xe0000, 0x10ffff},  // tags, variation selectors that carry data unseen, private use
  };
  return is_among(ranges, code);
}

// Characters that stand on the one before: a tower of them paints over the lines above.
bool is_combining(unsigned code) {
  constexpr CodeRange ranges[] = {{0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05c7}, {0x0610, 0x061a},
                                  {0x064b, 0x065f}, {0x06d6, 0x06ed}, {0x0e31, 0x0e31}, {0x0e34, 0x0e3a},
                                  {0x0e47, 0x0e4e}, {0x0eb1, 0x0ebc}, {0x0ec8, 0x0ece}, {0x1ab0, 0x1aff},
                                  {0x1dc0, 0x1dff}, {0x20d0, 0x20ff}, {0xfe20, 0xfe2f}};
  return is_among(ranges, code);
}
constexpr size_t most_combining = 3;  // Hebrew with vowels and accents

bool is_joiner(unsigned code) { return code == 0x200c || code == 0x200d; }
bool is_variation(unsigned code) { return code >= 0xfe00 && code <= 0xfe0f; }
bool is_ascii(unsigned code) { return code < 0x80; }
bool is_ascii_letter(unsigned code) { return is_ascii(code) && ascii::is_letter(static_cast<char>(code)); }
bool is_ascii_word(unsigned code) {
  return is_ascii(code) && (ascii::is_letter_or_digit(static_cast<char>(code)) || code == '_');
}

// The signs of printed text are no part of a word, unless they pass for ASCII.
bool ends_word(unsigned code) {
  constexpr CodeRange ranges[] = {{0x2010, 0x205e}, {0x3000, 0x303f}, {0xff00, 0xff0f}};
  return is_ascii(code) ? !is_ascii_word(code) : is_among(ranges, code) && !looks_like_ascii(code);
}

// Turns one line into its visible form, character by character.
class Visible {
 public:
  Visible(std::string_view line, const EscapeMark& mark) : rest_(line), mark_(mark) {}

  std::string run() {
    while (!rest_.empty()) {
      const size_t length = utf8::sequence_length(rest_);
      if (length == 0) {
        write_out('x', static_cast<unsigned char>(rest_[0]));
        last_ = ' ';
        step(' ', 1);
      } else {
        show(utf8::decode(rest_).value, length);
      }
    }
    return std::move(out_);
  }

 private:
  void show(unsigned code, size_t length) {
    const bool hidden = is_hidden(code, rest_.substr(length));
    if (hidden || reads_as_ours(code) || looks_like_ascii_in_word(code)) {
      write_out('u', code);
    } else {
      out_ += rest_.substr(0, length);
    }
    combining_ = is_combining(code) ? combining_ + 1 : 0;
    if (combining_ == 0) last_ = hidden ? ' ' : code;
    step(code, length);
  }

  bool is_hidden(unsigned code, std::string_view behind) const {
    if (code == '\t') return false;
    if (is_ascii(code)) return is_control(code);
    if (is_control(code) || turns_text_around(code) || is_invisible(code) || hides_in_contents(code))
      return true;
    // A mark needs a letter to stand on: at the front of a line it would change the sign of the diff.
    if (is_combining(code)) return combining_ >= most_combining || (is_ascii(last_) && !is_ascii_word(last_));
    if (is_variation(code)) return is_ascii(last_) || is_variation(last_);
    if (is_joiner(code))
      return is_ascii(last_) || is_joiner(last_) || behind.empty() || is_ascii(behind_code(behind));
    return false;
  }

  static unsigned behind_code(std::string_view behind) {
    return utf8::sequence_length(behind) == 0 ? 0 : utf8::decode(behind).value;
  }

  bool reads_as_ours(unsigned code) const {
    return code == '\\' && (rest_.starts_with("\\u{") || rest_.starts_with("\\x{"));
  }

  // In a word that has letters of ASCII: there it passes for one of them. Words of one script are left alone.
  bool looks_like_ascii_in_word(unsigned code) {
    if (is_ascii(code)) return false;
    if (word_end_ <= at_) measure_word();
    return word_has_ascii_ && looks_like_ascii(code);
  }

  // From here to the end of the word; each byte of a line is measured once. What stands before is ASCII or a
  // word that was measured, and ASCII before it belongs to the word.
  void measure_word() {
    word_has_ascii_ = ascii_letter_in_word_;
    std::string_view word = rest_;
    while (!word.empty()) {
      const size_t length = utf8::sequence_length(word);
      if (length == 0) break;
      const unsigned code = utf8::decode(word).value;
      if (ends_word(code)) break;
      word_has_ascii_ = word_has_ascii_ || is_ascii_letter(code);
      word.remove_prefix(length);
    }
    word_end_ = at_ + (rest_.size() - word.size());
  }

  void step(unsigned code, size_t length) {
    ascii_letter_in_word_ = !ends_word(code) && (ascii_letter_in_word_ || is_ascii_letter(code));
    at_ += length;
    rest_.remove_prefix(length);
  }

  void write_out(char kind, unsigned code) {
    constexpr char digits[] = "0123456789abcdef";
    std::string number;
    for (unsigned left = code; left != 0 || number.empty(); left >>= 4)
      number.insert(0, 1, digits[left & 0xf]);
    out_ += mark_.begin;
    out_ += std::string("\\") + kind + "{" + number + "}";
    out_ += mark_.end;
  }

  std::string_view rest_;
  const EscapeMark& mark_;
  std::string out_ = {};
  unsigned last_ = ' ';  // that a mark could stand on
  size_t combining_ = 0;
  size_t at_ = 0;
  size_t word_end_ = 0;
  bool word_has_ascii_ = false;
  bool ascii_letter_in_word_ = false;
};

// How git writes one byte between double quotes.
std::string quoted_byte(char c) {
  constexpr std::string_view named = "\a\b\t\n\v\f\r\"\\";
  constexpr std::string_view names = "abtnvfr\"\\";
  const size_t place = named.find(c);
  if (place != std::string_view::npos) return {'\\', names[place]};
  if (c >= 0x20 && c < 0x7f) return {c};
  const auto byte = static_cast<unsigned char>(c);
  const auto digit = [&](unsigned shift) { return static_cast<char>('0' + ((byte >> shift) & 7U)); };
  return {'\\', digit(6), digit(3), digit(0)};
}

}  // namespace

std::string visible_line(std::string_view line, const EscapeMark& mark) { return Visible(line, mark).run(); }

size_t trailing_blanks(std::string_view line) {
  const size_t last = line.find_last_not_of(" \t");
  return last == std::string_view::npos ? 0 : last + 1;
}

std::string written_blanks(std::string_view blanks) {
  std::string out;
  for (const char c : blanks) out += c == '\t' ? "\\u{9}" : "\\u{20}";
  return out;
}

std::string quoted_name(std::string_view name) {
  std::string out;
  bool is_plain = true;
  for (const char c : name) {
    const std::string byte = quoted_byte(c);
    is_plain = is_plain && byte.size() == 1;
    out += byte;
  }
  return is_plain ? out : "\"" + out + "\"";
}

std::string short_name(std::string_view name, size_t most) {
  std::string quoted = quoted_name(name);
  if (quoted.size() <= most) return quoted;
  return "..." + quoted.substr(quoted.size() - (std::max<size_t>(most, 4) - 3));
}

}  // namespace cloche
