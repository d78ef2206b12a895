#include "doors/changes/visible_bytes.hpp"

#include <algorithm>
#include <map>

#include "base/text/ascii.hpp"
#include "base/text/utf8.hpp"
#include "base/text/visible_text.hpp"

namespace cloche {
namespace {

constexpr unsigned no_character = 0xfffd;  // for a byte that is no UTF-8
constexpr size_t most_combining = 3;       // Hebrew with vowels and accents

struct Character {
  unsigned code = no_character;
  std::string_view bytes = {};
  bool is_utf8 = false;
};

std::vector<Character> characters_of(std::string_view text) {
  std::vector<Character> characters;
  characters.reserve(text.size());
  while (!text.empty()) {
    const size_t length = utf8::sequence_length(text);
    characters.push_back({length == 0 ? no_character : utf8::decode(text).value,
                          text.substr(0, std::max<size_t>(length, 1)), length > 0});
    text.remove_prefix(characters.back().bytes.size());
  }
  return characters;
}

// Cyrillic, Greek, Armenian and Latin's own rare letters; not the quotation marks and dashes of printed text,
// which are everywhere in prose. The second text has at the same place what each of the first is taken for.
constexpr std::u32string_view deceivers =
    U"\u0131\u017f\u0184\u01bd\u01c0\u01c3\u0251\u0261\u0269\u026a\u028b\u0391\u0392\u0395\u0396\u0397"
    U"\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03b1\u03b3\u03b9\u03bd\u03bf\u03c1\u03c3"
    U"\u03c5\u03f2\u03f3\u0405\u0406\u0408\u0410\u0412\u0415\u0417\u041a\u041c\u041d\u041e\u0420\u0421"
    U"\u0422\u0423\u0425\u042c\u0430\u0432\u0433\u0435\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443"
    U"\u0445\u044c\u0455\u0456\u0458\u0475\u04ae\u04af\u04bb\u04c0\u04cf\u0501\u051b\u051d\u0555\u0561"
    U"\u0563\u0566\u0570\u0578\u057c\u057d\u0581\u0584\u0585\u05d5\u05e1\u0665\u06f5\u0966\u10e7\u1d04"
    U"\u1d0f\u1d1c\u1d20\u1d21\u1d22\u2010\u2011\u2024\u2044\u2113\u212a\u2160\u2164\u2169\u216c\u216d"
    U"\u216e\u216f\u2170\u2174\u2179\u217c\u217d\u217e\u217f\u2212\u2215\u2216\u2217\u2223\u2236\u223c"
    U"\u29f8\u2c9f\ua4f3\ua731\ua789\uab75";
constexpr std::string_view taken_for =
    "ifbsl!agiiuABEZHIKMNOPTYXayivopoucjSIJABE3KMHOPCTYXbabrekmhopctyxbsijvYyhIldqwOwqqhn"
    "nugfolooooycouvwz--./lKIVXLCDMivxlcdm-/\\*|:~/ons:i";
static_assert(deceivers.size() == taken_for.size());

// What a character outside ASCII looks like, or 0.
char like(unsigned code) {
  if (code < 0x80) return '\0';
  if (code >= 0xff01 && code <= 0xff5e) return static_cast<char>(code - 0xff01 + '!');  // full width
  if (code >= 0x1d400 && code <= 0x1d6a3) {  // mathematical letters: alphabets of 52, one after the other
    const unsigned place = (code - 0x1d400) % 52;
    return static_cast<char>(place < 26 ? 'A' + place : 'a' + place - 26);
  }
  if (code >= 0x1d7ce && code <= 0x1d7ff) return static_cast<char>('0' + (code - 0x1d7ce) % 10);
  const size_t place = deceivers.find(static_cast<char32_t>(code));
  return place == std::u32string_view::npos ? '\0' : taken_for[place];
}

bool is_ascii(unsigned code) { return code < 0x80; }
bool is_ascii_letter(unsigned code) { return is_ascii(code) && ascii::is_letter(static_cast<char>(code)); }
bool is_ascii_word(unsigned code) {
  return is_ascii(code) && (ascii::is_letter_or_digit(static_cast<char>(code)) || code == '_');
}
bool is_variation(unsigned code) { return code >= 0xfe00 && code <= 0xfe0f; }
bool acts_or_hides(unsigned code) {
  return is_control(code) || turns_text_around(code) || is_invisible(code);
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

// The signs of printed text are no part of a word, unless they pass for ASCII.
bool ends_word(const Character& character) {
  constexpr CodeRange ranges[] = {{0x2010, 0x205e}, {0x3000, 0x303f}, {0xff00, 0xff0f}};
  const unsigned code = character.code;
  if (is_ascii(code) || !character.is_utf8) return !is_ascii_word(code);
  return is_among(ranges, code) && like(code) == '\0';
}

// Whether a character is not seen where it stands: behind `base`, which `marks` combining ones stand on
// already, and before `next`.
bool is_hidden(unsigned code, unsigned base, size_t marks, unsigned next) {
  if (code == '\t') return false;
  if (acts_or_hides(code) || hides_in_contents(code)) return true;
  // A mark needs a letter to stand on: at the front of a line it would change the sign of the diff.
  if (is_combining(code)) return marks >= most_combining || (is_ascii(base) && !is_ascii_word(base));
  if (is_variation(code)) return is_ascii(base) || is_variation(base);
  return is_joiner(code) && (is_ascii(base) || is_joiner(base) || is_ascii(next));
}

// For each character whether it looks like one of ASCII in a word that has letters of ASCII. Words of one
// script are left alone.
std::vector<bool> deceiving_characters(const std::vector<Character>& line) {
  std::vector<bool> deceives(line.size(), false);
  for (auto begin = line.begin(); begin != line.end();) {
    const auto end = std::find_if(begin, line.end(), ends_word);
    const bool mixes =
        std::any_of(begin, end, [](const Character& one) { return is_ascii_letter(one.code); });
    for (; begin != end; ++begin)
      deceives[static_cast<size_t>(begin - line.begin())] = mixes && like(begin->code) != '\0';
    if (begin != line.end()) ++begin;
  }
  return deceives;
}

bool leaves_no_mark(unsigned code) {
  const bool is_other_variation = code >= 0xe0100 && code <= 0xe01ef;
  return is_joiner(code) || is_variation(code) || is_other_variation || acts_or_hides(code);
}

// One component at a time: a Russian directory may well hold an English file.
bool mixes_or_hides(std::string_view path) {
  bool has_ascii = false;
  bool has_look_alike = false;
  for (const auto& [code, bytes, is_utf8] : characters_of(path)) {
    if (leaves_no_mark(code)) return true;
    if (code == '/') has_ascii = has_look_alike = false;
    has_ascii = has_ascii || is_ascii_letter(code);
    has_look_alike = has_look_alike || like(code) != '\0';
    if (has_ascii && has_look_alike) return true;
  }
  return false;
}

// The few of ASCII that are taken for each other.
char plain_form(char c) {
  if (c == '0') return 'O';
  return c == '1' || c == 'I' || c == '|' ? 'l' : c;
}

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

std::string visible_line(std::string_view line, const EscapeMark& mark) {
  const auto characters = characters_of(line);
  const auto deceives = deceiving_characters(characters);
  std::string out;
  unsigned base = ' ';  // that a mark could stand on
  size_t marks = 0;
  for (size_t i = 0; i < characters.size(); ++i) {
    const auto& [code, bytes, is_utf8] = characters[i];
    const unsigned next = i + 1 < characters.size() && characters[i + 1].is_utf8 ? characters[i + 1].code : 0;
    const bool hidden = !is_utf8 || is_hidden(code, base, marks, next);
    const std::string_view rest = line.substr(static_cast<size_t>(bytes.data() - line.data()));
    const bool reads_as_ours = rest.starts_with("\\u{") || rest.starts_with("\\x{");
    if (hidden || reads_as_ours || deceives[i]) {
      out += mark.begin;
      out += is_utf8 ? written_out(code) : written_out(static_cast<unsigned char>(bytes[0]), 'x');
      out += mark.end;
    } else {
      out += bytes;
    }
    marks = is_utf8 && is_combining(code) ? marks + 1 : 0;
    if (marks == 0) base = hidden ? ' ' : code;
  }
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

std::string skeleton(std::string_view name) {
  std::string out;
  for (const auto& [code, bytes, is_utf8] : characters_of(name)) {
    const char same = is_ascii(code) ? static_cast<char>(code) : like(code);
    if (!leaves_no_mark(code)) same != '\0' ? out += plain_form(same) : out += bytes;
  }
  return out;
}

std::vector<bool> deceiving_names(const std::vector<std::string_view>& paths) {
  std::map<std::string, std::string_view> first_with;  // skeleton: the first path that has it
  std::map<std::string, bool> is_shared;               // skeleton: another path has it too
  for (const std::string_view path : paths) {
    const std::string plain = skeleton(path);
    is_shared[plain] |= first_with.try_emplace(plain, path).first->second != path;
  }
  std::vector<bool> deceiving;
  for (const std::string_view path : paths)
    deceiving.push_back(mixes_or_hides(path) || is_shared[skeleton(path)]);
  return deceiving;
}

}  // namespace cloche
