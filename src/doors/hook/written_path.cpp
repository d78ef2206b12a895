#include "doors/hook/written_path.hpp"

#include <algorithm>

#include "base/json/json_writer.hpp"
#include "base/lists.hpp"
#include "base/text/ascii.hpp"
#include "base/text/pieces.hpp"
#include "base/text/utf8.hpp"
#include "base/text/visible_text.hpp"

namespace cloche {
namespace {

// Unicode's White_Space, and the byte order mark, which JavaScript trims as well.
bool is_space(unsigned code) {
  return (code >= 0x09 && code <= 0x0d) || code == 0x20 || code == 0x85 || code == 0xa0 || code == 0x1680 ||
         (code >= 0x2000 && code <= 0x200a) || code == 0x2028 || code == 0x2029 || code == 0x202f ||
         code == 0x205f || code == 0x3000 || code == 0xfeff;
}

// How long the white space at the front is; 0: there is none.
size_t space_at_front(std::string_view text) {
  const size_t length = text.empty() ? 0 : utf8::sequence_length(text);
  return length != 0 && is_space(utf8::decode(text).value) ? length : 0;
}

size_t space_at_back(std::string_view text) {
  size_t start = text.size();
  while (start > 0 && (static_cast<unsigned char>(text[--start]) & 0xc0U) == 0x80U) continue;
  const size_t length = space_at_front(text.substr(start));
  return start + length == text.size() ? length : 0;
}

Error bad(std::string_view path, const std::string& why) {
  return refusal("the path '" + shown(path) + "' " + why,
                 "write it absolute or relative to the current directory, with the exact names of the files");
}

bool begins_with_scheme(std::string_view path) {
  constexpr std::string_view scheme = "file:";
  return ascii::same_without_case(path.substr(0, scheme.size()), scheme);
}

bool begins_with_drive(std::string_view path) {
  return path.size() >= 3 && ascii::is_letter(path[0]) && path[1] == ':' && path[2] == '/';
}

// Beginnings that an agent may expand, strip or translate. A file whose name really begins so can be written
// with ./ before it.
Result<void> check_beginning(std::string_view path) {
  if (path.starts_with('~')) return bad(path, "begins with ~, which an agent may take for a home");
  if (path.starts_with('$')) return bad(path, "begins with $, which an agent may take for a variable");
  if (path.find_first_of("\"'`") == 0) return bad(path, "begins with a quote, which an agent may strip");
  if (begins_with_scheme(path)) return bad(path, "is a URL");
  if (begins_with_drive(path)) return bad(path, "begins like a path of Windows");
  return {};
}

Result<void> check_characters(std::string_view path) {
  if (!is_utf8(path)) return bad(path, "is not UTF-8");
  for (std::string_view rest = path; !rest.empty();) {
    const auto [code, length] = utf8::decode(rest);
    if (is_control(code)) return bad(path, "has a control character in it");
    if (code != ' ' && is_space(code)) return bad(path, "has white space in it that is not a plain blank");
    rest.remove_prefix(length);
  }
  if (!is_composed(path))
    return bad(path, "has letters in it that an agent may combine, as e and an accent into one letter");
  if (path.find('\\') != std::string_view::npos)
    return bad(path, "has a backslash in it, which an agent may take for a slash");
  return {};
}

// Only the signs of every agent's globs: to some agents @ and ! are letters, and then the name may be a link.
bool is_pattern(std::string_view name) { return name.find_first_of("*?[{") != std::string_view::npos; }

// Also among alternatives, as in {a,..}/b.
bool goes_up(std::string_view glob) {
  constexpr std::string_view ends = "/*?[]{}()!+@|,^";
  for (size_t at = 0; at <= glob.size();) {
    const size_t end = std::min(glob.find_first_of(ends, at), glob.size());
    if (glob.substr(at, end - at) == "..") return true;
    at = end + 1;
  }
  return false;
}

constexpr std::string_view header_mark = "***";
constexpr std::string_view naming_headers[] = {
    "*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "};
constexpr std::string_view bare_headers[] = {"*** Begin Patch", "*** End Patch", "*** End of File"};

bool is_bare_header(std::string_view line) { return contains(bare_headers, line); }

// The file that the line names; empty: it names none.
Result<std::string> file_in(std::string_view line) {
  if (!without_space_around(line).starts_with(header_mark) || is_bare_header(line)) return std::string();
  for (const auto header : naming_headers) {
    if (!line.starts_with(header) || line.size() == header.size()) continue;
    const std::string path(line.substr(header.size()));
    TRY(check_written_path(path));
    return path;
  }
  return refusal("the patch has a line that looks like a header and is none: '" + shown(line, 120) + "'",
                 "write headers exactly, and use another tool for lines that begin with ***");
}

}  // namespace

std::string_view without_space_around(std::string_view text) {
  while (const size_t length = space_at_front(text)) text.remove_prefix(length);
  while (const size_t length = space_at_back(text)) text.remove_suffix(length);
  return text;
}

Result<void> check_written_path(std::string_view path) {
  if (without_space_around(path).size() != path.size())
    return bad(path, "begins or ends with white space, which an agent may leave out");
  TRY(check_characters(path));
  return check_beginning(path);
}

Result<std::string> where_glob_begins(std::string_view glob) {
  TRY(check_written_path(glob));
  if (goes_up(glob)) return bad(glob, "goes up by ..");
  size_t length = 0;
  for (size_t at = 0; at < glob.size();) {
    const size_t end = std::min(glob.find('/', at), glob.size());
    if (is_pattern(glob.substr(at, end - at))) break;
    length = end == 0 ? 1 : end;  // of the first slash itself
    at = end + 1;
  }
  return std::string(glob.substr(0, length));
}

Result<std::vector<std::string>> files_of_patch(std::string_view patch) {
  std::vector<std::string> files;
  while (!patch.empty()) {
    std::string_view line = take_line(patch);
    if (line.ends_with('\r')) line.remove_suffix(1);
    std::string file = TRY(file_in(line));
    if (!file.empty()) files.push_back(std::move(file));
  }
  return files;
}

}  // namespace cloche
