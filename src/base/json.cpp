#include "base/json.hpp"

#include "base/utf8.hpp"

namespace cloche {
namespace {

// How much of the front of `text` stands in a JSON string as it is.
size_t plain_length(std::string_view text) {
  size_t length = 0;
  while (length < text.size() && text[length] >= 0x20 && text[length] < 0x7f && text[length] != '"' &&
         text[length] != '\\')
    ++length;
  return length;
}

void add_escaped(std::string& out, char c) {
  constexpr char digits[] = "0123456789abcdef";
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
  }
  if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) {
    out += c;
    return;
  }
  out += "\\u00";
  out += digits[static_cast<unsigned char>(c) >> 4];
  out += digits[static_cast<unsigned char>(c) & 0xf];
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = utf8::sequence_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

void add_quoted(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    // Most text is plain, and is copied by runs.
    const size_t plain = plain_length(text);
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const size_t length = utf8::sequence_length(text);
    if (length == 1) {
      add_escaped(out, text[0]);
    } else if (length == 0) {
      out += "\xef\xbf\xbd";
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out += '"';
}

std::string json_quote(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  add_quoted(out, text);
  return out;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  separate();
  add_quoted(text_, text);
  first_ = false;
  return *this;
}

void JsonWriter::break_line() {
  if (layout_ == Layout::compact) return;
  text_ += '\n';
  text_.append(2 * depth_, ' ');
}

void JsonWriter::separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (!first_) text_ += ',';
  if (depth_ > 0) break_line();
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  ++depth_;
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::shut(char bracket) {
  --depth_;
  if (!first_) break_line();
  text_ += bracket;
  first_ = false;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  add_quoted(text_, name);
  text_ += layout_ == Layout::compact ? ":" : ": ";
  first_ = false;
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  separate();
  text_ += json;
  first_ = false;
  return *this;
}

}  // namespace cloche
