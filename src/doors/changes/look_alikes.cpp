#include "doors/changes/look_alikes.hpp"

#include <algorithm>
#include <map>

#include "base/text/ascii.hpp"
#include "base/text/utf8.hpp"
#include "base/text/visible_text.hpp"

namespace cloche {
namespace {

struct LookAlike {
  unsigned code;
  char like;
};

// Sorted by code. Cyrillic, Greek, Armenian and Latin's own rare letters; not the quotation marks and dashes
// of printed text, which are everywhere in prose.
constexpr LookAlike table[] = {
    {0x0131, 'i'}, {0x017f, 'f'}, {0x0184, 'b'}, {0x01bd, 's'}, {0x01c0, 'l'},  {0x01c3, '!'}, {0x0251, 'a'},
    {0x0261, 'g'}, {0x0269, 'i'}, {0x026a, 'i'}, {0x028b, 'u'}, {0x0391, 'A'},  {0x0392, 'B'}, {0x0395, 'E'},
    {0x0396, 'Z'}, {0x0397, 'H'}, {0x0399, 'I'}, {0x039a, 'K'}, {0x039c, 'M'},  {0x039d, 'N'}, {0x039f, 'O'},
    {0x03a1, 'P'}, {0x03a4, 'T'}, {0x03a5, 'Y'}, {0x03a7, 'X'}, {0x03b1, 'a'},  {0x03b3, 'y'}, {0x03b9, 'i'},
    {0x03bd, 'v'}, {0x03bf, 'o'}, {0x03c1, 'p'}, {0x03c3, 'o'}, {0x03c5, 'u'},  {0x03f2, 'c'}, {0x03f3, 'j'},
    {0x0405, 'S'}, {0x0406, 'I'}, {0x0408, 'J'}, {0x0410, 'A'}, {0x0412, 'B'},  {0x0415, 'E'}, {0x0417, '3'},
    {0x041a, 'K'}, {0x041c, 'M'}, {0x041d, 'H'}, {0x041e, 'O'}, {0x0420, 'P'},  {0x0421, 'C'}, {0x0422, 'T'},
    {0x0423, 'Y'}, {0x0425, 'X'}, {0x042c, 'b'}, {0x0430, 'a'}, {0x0432, 'b'},  {0x0433, 'r'}, {0x0435, 'e'},
    {0x043a, 'k'}, {0x043c, 'm'}, {0x043d, 'h'}, {0x043e, 'o'}, {0x0440, 'p'},  {0x0441, 'c'}, {0x0442, 't'},
    {0x0443, 'y'}, {0x0445, 'x'}, {0x044c, 'b'}, {0x0455, 's'}, {0x0456, 'i'},  {0x0458, 'j'}, {0x0475, 'v'},
    {0x04ae, 'Y'}, {0x04af, 'y'}, {0x04bb, 'h'}, {0x04c0, 'I'}, {0x04cf, 'l'},  {0x0501, 'd'}, {0x051b, 'q'},
    {0x051d, 'w'}, {0x0555, 'O'}, {0x0561, 'w'}, {0x0563, 'q'}, {0x0566, 'q'},  {0x0570, 'h'}, {0x0578, 'n'},
    {0x057c, 'n'}, {0x057d, 'u'}, {0x0581, 'g'}, {0x0584, 'f'}, {0x0585, 'o'},  {0x05d5, 'l'}, {0x05e1, 'o'},
    {0x0665, 'o'}, {0x06f5, 'o'}, {0x0966, 'o'}, {0x10e7, 'y'}, {0x1d04, 'c'},  {0x1d0f, 'o'}, {0x1d1c, 'u'},
    {0x1d20, 'v'}, {0x1d21, 'w'}, {0x1d22, 'z'}, {0x2010, '-'}, {0x2011, '-'},  {0x2024, '.'}, {0x2044, '/'},
    {0x2113, 'l'}, {0x212a, 'K'}, {0x2160, 'I'}, {0x2164, 'V'}, {0x2169, 'X'},  {0x216c, 'L'}, {0x216d, 'C'},
    {0x216e, 'D'}, {0x216f, 'M'}, {0x2170, 'i'}, {0x2174, 'v'}, {0x2179, 'x'},  {0x217c, 'l'}, {0x217d, 'c'},
    {0x217e, 'd'}, {0x217f, 'm'}, {0x2212, '-'}, {0x2215, '/'}, {0x2216, '\\'}, {0x2217, '*'}, {0x2223, '|'},
    {0x2236, ':'}, {0x223c, '~'}, {0x29f8, '/'}, {0x2c9f, 'o'}, {0xa4f3, 'n'},  {0xa731, 's'}, {0xa789, ':'},
    {0xab75, 'i'},
};
static_assert(std::is_sorted(std::begin(table), std::end(table),
                             [](const LookAlike& a, const LookAlike& b) { return a.code < b.code; }));

// What it looks like, or 0.
char like(unsigned code) {
  if (code >= 0xff01 && code <= 0xff5e) return static_cast<char>(code - 0xff01 + '!');  // full width
  if (code >= 0x1d400 && code <= 0x1d6a3) {  // mathematical letters: alphabets of 52, one after the other
    const unsigned place = (code - 0x1d400) % 52;
    return static_cast<char>(place < 26 ? 'A' + place : 'a' + place - 26);
  }
  if (code >= 0x1d7ce && code <= 0x1d7ff) return static_cast<char>('0' + (code - 0x1d7ce) % 10);
  const auto* found =
      std::lower_bound(std::begin(table), std::end(table), code,
                       [](const LookAlike& entry, unsigned wanted) { return entry.code < wanted; });
  return found != std::end(table) && found->code == code ? found->like : '\0';
}

bool leaves_no_mark(unsigned code) {
  const bool is_joiner = code == 0x200c || code == 0x200d;
  const bool is_variation = (code >= 0xfe00 && code <= 0xfe0f) || (code >= 0xe0100 && code <= 0xe01ef);
  return is_joiner || is_variation || is_control(code) || turns_text_around(code) || is_invisible(code);
}

// One component at a time: a Russian directory may well hold an English file.
bool mixes_or_hides(std::string_view path) {
  bool has_ascii = false;
  bool has_look_alike = false;
  while (!path.empty()) {
    const size_t length = std::max<size_t>(utf8::sequence_length(path), 1);
    const unsigned code = utf8::sequence_length(path) == 0 ? 0xfffd : utf8::decode(path).value;
    path.remove_prefix(length);
    if (leaves_no_mark(code)) return true;
    if (code == '/') has_ascii = has_look_alike = false;
    has_ascii = has_ascii || (code < 0x80 && ascii::is_letter(static_cast<char>(code)));
    has_look_alike = has_look_alike || like(code) != '\0';
    if (has_ascii && has_look_alike) return true;
  }
  return false;
}

// The few of ASCII that are taken for each other.
char plain_form(char c) {
  switch (c) {
    case '0': return 'O';
    case '1':
    case 'I':
    case '|': return 'l';
    default: return c;
  }
}

}  // namespace

bool looks_like_ascii(unsigned code) { return like(code) != '\0'; }

std::string skeleton(std::string_view name) {
  std::string out;
  while (!name.empty()) {
    const size_t length = utf8::sequence_length(name);
    if (length == 0) {
      out += name[0];
      name.remove_prefix(1);
      continue;
    }
    const unsigned code = utf8::decode(name).value;
    const char same = code < 0x80 ? static_cast<char>(code) : like(code);
    if (!leaves_no_mark(code)) {
      if (same != '\0') {
        out += plain_form(same);
      } else {
        out += name.substr(0, length);
      }
    }
    name.remove_prefix(length);
  }
  return out;
}

std::vector<bool> deceiving_names(const std::vector<std::string_view>& paths) {
  std::map<std::string, std::string_view> first_with;  // skeleton: the first path that has it
  std::map<std::string_view, bool> is_shared;          // by that first path: another one has it too
  std::vector<std::string> skeletons;
  for (const std::string_view path : paths) {
    skeletons.push_back(skeleton(path));
    const auto [place, is_new] = first_with.try_emplace(skeletons.back(), path);
    if (!is_new && place->second != path) is_shared[place->second] = true;
  }
  std::vector<bool> deceiving;
  for (size_t i = 0; i < paths.size(); ++i)
    deceiving.push_back(mixes_or_hides(paths[i]) || is_shared.contains(first_with[skeletons[i]]));
  return deceiving;
}

}  // namespace cloche
