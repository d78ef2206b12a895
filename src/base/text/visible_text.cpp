#include "base/text/visible_text.hpp"

#include "base/json/json_writer.hpp"
#include "base/text/utf8.hpp"

namespace cloche {
namespace {

bool begins_with_ascii(std::string_view text) {
  return !text.empty() && static_cast<unsigned char>(text[0]) < 0x80;
}

}  // namespace

bool is_control(unsigned code) { return code < 0x20 || (code >= 0x7f && code <= 0x9f); }

bool turns_text_around(unsigned code) {
  constexpr CodeRange ranges[] = {{0x061c, 0x061c}, {0x200e, 0x200f}, {0x202a, 0x202e}, {0x2066, 0x2069}};
  return is_among(ranges, code);
}

bool is_invisible(unsigned code) {
  constexpr CodeRange ranges[] = {
      {0x00ad, 0x00ad},    // soft hyphen
      {0x034f, 0x034f},    // grapheme joiner, which joins nothing
      {0x115f, 0x1160},    // Hangul fillers
      {0x180e, 0x180e},    // Mongolian vowel separator
      {0x200b, 0x200b},    // zero width space
      {0x2028, 0x2029},    // line and paragraph separator
      {0x2060, 0x2065},    // word joiner, invisible operators
      {0x206a, 0x206f},    // deprecated: shaping and digits
      {0x3164, 0x3164},    // Hangul filler
      {0xfeff, 0xfeff},    // byte order mark
      {0xffa0, 0xffa0},    // half width Hangul filler
      {0xfff9, 0xfffb},    // interlinear annotation
      {0x1bca0, 0x1bca3},  // shorthand format controls
      {0x1d173, 0x1d17a},  // musical beams and slurs
      {0xe0000, 0xe007f},  // tags: a whole alphabet that is not visible
  };
  return is_among(ranges, code);
}

bool is_joiner(unsigned code) { return code == 0x200c || code == 0x200d; }

std::string written_out(unsigned code, char kind) {
  constexpr char digits[] = "0123456789abcdef";
  std::string number;
  for (unsigned rest = code; rest != 0 || number.empty(); rest >>= 4) number.insert(0, 1, digits[rest & 0xf]);
  return std::string("\\") + kind + "{" + number + "}";
}

std::string shown(std::string_view text, size_t most) {
  const bool readable = is_utf8(text);
  std::string out;
  bool after_ascii = false;
  while (!text.empty() && out.size() < most) {
    const auto [code, length] =
        readable ? utf8::decode(text) : utf8::CodePoint{static_cast<unsigned char>(text[0]), 1};
    const bool joins_nothing = is_joiner(code) && (after_ascii || begins_with_ascii(text.substr(length)));
    const bool hidden = is_control(code) || turns_text_around(code) || is_invisible(code) || joins_nothing;
    after_ascii = code < 0x80;
    if (hidden || (!readable && code >= 0x80)) {
      out += written_out(code);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return text.empty() ? out : out + "...";
}

}  // namespace cloche
