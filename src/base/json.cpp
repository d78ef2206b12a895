#include "base/json.hpp"

namespace cloche {
namespace {

// Length of the UTF-8 sequence at the front of `text`, or 0 when there is none.
size_t sequence_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto follows = [&](size_t i) { return i < text.size() && (byte(i) & 0xc0U) == 0x80U; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return follows(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    if (!follows(1) || !follows(2)) return 0;
    if (lead == 0xe0 && byte(1) < 0xa0) return 0;   // overlong
    if (lead == 0xed && byte(1) >= 0xa0) return 0;  // surrogates
    return 3;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    if (!follows(1) || !follows(2) || !follows(3)) return 0;
    if (lead == 0xf0 && byte(1) < 0x90) return 0;   // overlong
    if (lead == 0xf4 && byte(1) >= 0x90) return 0;  // past U+10FFFF
    return 4;
  }
  return 0;
}

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
    const size_t length = sequence_length(text);
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
    const size_t length = sequence_length(text);
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
