#include "policy/protected/folded_name.hpp"

#include <algorithm>

#include "base/lists.hpp"
#include "base/text/ascii.hpp"
#include "base/text/utf8.hpp"
#include "base/text/visible_text.hpp"

namespace cloche {
namespace {

// What HFS+ (git's list for .git) and case-folding ext4 (Unicode's default ignorable code points) pass over
// when they compare names.
constexpr CodeRange ignorable[] = {
    {0x00ad, 0x00ad},   {0x034f, 0x034f},   {0x061c, 0x061c}, {0x115f, 0x1160}, {0x17b4, 0x17b5},
    {0x180b, 0x180f},   {0x200b, 0x200f},   {0x202a, 0x202e}, {0x2060, 0x206f}, {0x3164, 0x3164},
    {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0}, {0xfff0, 0xfff8}, {0x1bca0, 0x1bca3},
    {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

// The code points outside ASCII that full case folding turns into ASCII letters; there are no others.
struct Folding {
  unsigned from;
  std::string_view to;
};
constexpr Folding foldings[] = {
    {0x00df, "ss"}, {0x017f, "s"},   {0x1e9e, "ss"},  {0x212a, "k"},  {0xfb00, "ff"}, {0xfb01, "fi"},
    {0xfb02, "fl"}, {0xfb03, "ffi"}, {0xfb04, "ffl"}, {0xfb05, "st"}, {0xfb06, "st"},
};

void add_folded(std::string& out, std::string_view sequence) {
  const unsigned code = utf8::decode(sequence).value;
  if (is_among(ignorable, code)) return;
  const Folding* folding = find_by(foldings, &Folding::from, code);
  out += folding != nullptr ? folding->to : sequence;
}

// Windows takes "\" for a separator, ends a name at ":" (a stream) and drops dots and blanks at its end.
void end_as_windows_does(std::string& name) {
  name.resize(std::min(name.size(), name.find(':')));
  while (!name.empty() && (name.back() == '.' || name.back() == ' ')) name.pop_back();
}

// In lower case, and without what is ignored.
std::string caseless(std::string_view name) {
  std::string folded;
  for (std::string_view rest = name; !rest.empty();) {
    const size_t length = std::max<size_t>(utf8::sequence_length(rest), 1);
    if (length > 1) {
      add_folded(folded, rest.substr(0, length));
    } else {
      folded += ascii::lower(rest[0]);
    }
    rest.remove_prefix(length);
  }
  return folded;
}

}  // namespace

std::string folded_name(std::string_view name) {
  std::string folded = caseless(name);
  end_as_windows_does(folded);
  return folded.empty() ? std::string(name) : folded;
}

NameForms forms_of_name(std::string_view name) {
  NameForms forms = {ascii::lowered(name)};
  for (std::string form : {caseless(name), folded_name(name)})
    if (!form.empty() && !contains(forms, form)) forms.push_back(std::move(form));
  return forms;
}

}  // namespace cloche
