#include "base/json/json_writer.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/text/utf8.hpp"
#include "base/text/visible_text.hpp"

namespace cloche {
namespace {

constexpr std::array<bool, 256> stands_as_it_is = [] {
  std::array<bool, 256> plain{};
  for (unsigned char c = 0x20; c < 0x7f; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}();

// How much of the front of `text` stands in a JSON string as it is. The loops over whole texts go by
// pointers: this code is built for size, where each look at text[i] is a call.
size_t plain_length(std::string_view text) {
  const bool* const plain = stands_as_it_is.data();
  size_t length = 0;
  for (const char c : text) {
    if (!plain[static_cast<unsigned char>(c)]) break;
    ++length;
  }
  return length;
}

// How much of the front of `text` is ASCII that is no control.
size_t printable_length(std::string_view text) {
  size_t length = 0;
  for (const char c : text) {
    if (c < 0x20 || c >= 0x7f) break;
    ++length;
  }
  return length;
}

// How much of the front of `text` is ASCII, by words of eight bytes.
size_t ascii_length(std::string_view text) {
  size_t length = 0;
  uint64_t word = 0;
  for (; length + sizeof word <= text.size(); length += sizeof word) {
    std::memcpy(&word, text.data() + length, sizeof word);
    if ((word & 0x8080808080808080U) != 0) break;
  }
  while (length < text.size() && static_cast<unsigned char>(text[length]) < 0x80) ++length;
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

void add_code_unit(std::string& out, unsigned unit) {
  constexpr char digits[] = "0123456789abcdef";
  out += "\\u";
  for (const unsigned shift : {12U, 8U, 4U, 0U}) out += digits[(unit >> shift) & 0xf];
}

// A terminal acts on the C1 controls as it does on escape sequences, and a person does not see the others: in
// JSON they stand as escapes, which mean the same to every reader.
bool hides_or_acts(unsigned code) {
  return is_control(code) || turns_text_around(code) || is_invisible(code);
}

void add_code_point(std::string& out, std::string_view encoded) {
  const unsigned code = utf8::decode(encoded).value;
  if (!hides_or_acts(code)) {
    out += encoded;
  } else if (code < 0x10000) {
    add_code_unit(out, code);
  } else {
    add_code_unit(out, 0xd800 + ((code - 0x10000) >> 10));
    add_code_unit(out, 0xdc00 + ((code - 0x10000) & 0x3ff));
  }
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (true) {
    text.remove_prefix(ascii_length(text));
    if (text.empty()) return true;
    const size_t length = utf8::sequence_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
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
      add_code_point(out, text.substr(0, length));
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out += '"';
}

std::string json_on_one_line(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  while (!json.empty()) {
    const size_t printable = printable_length(json);
    out += json.substr(0, printable);
    json.remove_prefix(printable);
    if (json.empty()) break;
    const size_t length = std::max<size_t>(utf8::sequence_length(json), 1);
    const bool breaks_line = json[0] == '\n' || json[0] == '\r';
    if (breaks_line) {
      out += ' ';
    } else if (length == 1 && json[0] != 0x7f) {
      out += json[0];
    } else {
      add_code_point(out, json.substr(0, length));
    }
    json.remove_prefix(length);
  }
  return out;
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
