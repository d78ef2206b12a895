#include "policy/protected/git_config_reader.hpp"

#include <algorithm>
#include <utility>

#include "base/text/ascii.hpp"

namespace cloche {
namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_key_byte(char c) { return ascii::is_letter_or_digit(c) || c == '-'; }

}  // namespace

std::string kind_of(const GitConfigEntry& entry) {
  return entry.section + (entry.has_name ? ".*." : ".") + entry.key;
}

GitConfigReader::GitConfigReader(std::string_view text) : rest_(text) {
  if (rest_.starts_with(byte_order_mark)) rest_.remove_prefix(byte_order_mark.size());
}

std::optional<GitConfigEntry> GitConfigReader::next() {
  while (!failed_ && skip_blank()) {
    if (rest_.front() == '[') {
      failed_ = !read_section();
    } else if (rest_.front() == '#' || rest_.front() == ';') {
      skip_line();
    } else {
      auto entry = read_entry();
      failed_ = !entry;
      return entry;
    }
  }
  return std::nullopt;
}

// False: nothing is left.
bool GitConfigReader::skip_blank() {
  while (!rest_.empty() && (is_blank(rest_.front()) || rest_.front() == '\n')) rest_.remove_prefix(1);
  return !rest_.empty();
}

void GitConfigReader::skip_line() { rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size())); }

// Nothing at the end of the line, which stays.
std::optional<char> GitConfigReader::take() {
  if (rest_.empty() || rest_.front() == '\n') return std::nullopt;
  const char c = rest_.front();
  rest_.remove_prefix(1);
  return c;
}

std::string GitConfigReader::take_word() {
  std::string word;
  for (; !rest_.empty() && is_key_byte(rest_.front()); rest_.remove_prefix(1))
    word += ascii::lower(rest_.front());
  return word;
}

bool GitConfigReader::read_section() {
  rest_.remove_prefix(1);
  section_ = {.section = take_word()};
  if (section_.section.empty()) return false;
  auto c = take();
  if (c == '.') {
    section_.has_name = true;
    while ((c = take()) && (is_key_byte(*c) || *c == '.')) section_.name += ascii::lower(*c);
  }
  if (c == ']') return true;
  return c && is_blank(*c) && read_section_name();
}

// "origin"], after a blank.
bool GitConfigReader::read_section_name() {
  auto c = take();
  while (c && is_blank(*c)) c = take();
  if (c != '"') return false;
  if (section_.has_name) section_.name += '.';
  section_.has_name = true;
  while ((c = take()) && *c != '"') {
    if (*c == '\\') c = take();
    if (!c) return false;
    section_.name += *c;
  }
  return c == '"' && take() == ']';
}

std::optional<GitConfigEntry> GitConfigReader::read_entry() {
  GitConfigEntry entry = section_;
  if (!ascii::is_letter(rest_.front())) return std::nullopt;
  entry.key = take_word();
  while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
  const auto c = take();
  if (!c) return entry;
  auto value = *c == '=' ? read_value() : std::nullopt;
  if (!value) return std::nullopt;
  entry.value = *std::move(value);
  entry.has_value = true;
  return entry;
}

std::optional<std::string> GitConfigReader::read_value() {
  std::string value;
  size_t kept = 0;  // without the blanks at its end, unless they are quoted
  bool quoted = false;
  while (const auto c = take()) {
    if (*c == '"') {
      quoted = !quoted;
    } else if (!quoted && (*c == '#' || *c == ';')) {
      skip_line();
    } else if (!quoted && is_blank(*c)) {
      if (kept > 0) value += *c;
    } else if (*c != '\\') {
      value += *c;
      kept = value.size();
    } else if (!read_escape(value, kept)) {
      return std::nullopt;
    }
  }
  if (quoted) return std::nullopt;
  value.resize(kept);
  return value;
}

bool GitConfigReader::read_escape(std::string& value, size_t& kept) {
  constexpr std::string_view written = "ntb\\\"";
  constexpr std::string_view meant = "\n\t\b\\\"";
  if (rest_.starts_with("\r\n")) rest_.remove_prefix(1);
  if (rest_.empty()) return true;  // nothing comes any more, and git does not mind
  const char c = rest_.front();
  rest_.remove_prefix(1);
  if (c == '\n') return true;  // the value goes on in the next line
  const size_t at = written.find(c);
  if (at == std::string_view::npos) return false;
  value += meant[at];
  kept = value.size();
  return true;
}

}  // namespace cloche
