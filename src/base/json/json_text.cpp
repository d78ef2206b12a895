#include "base/json/json_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/json/json_writer.hpp"
#include "base/lists.hpp"
#include "base/text/ascii.hpp"
#include "base/text/decimal.hpp"
#include "base/text/near_word.hpp"
#include "base/text/pieces.hpp"
#include "base/text/utf8.hpp"
#include "base/text/visible_text.hpp"

namespace cloche {
namespace {

using ascii::is_digit;

// A number is whole when it is an integer of 64 bits, however it was written.
void find_whole(JsonValue& value) {
  const char* end = value.text.data() + value.text.size();
  const auto read = std::from_chars(value.text.data(), end, value.integer);
  value.whole = read.ec == std::errc() && read.ptr == end;
  if (value.whole || std::floor(value.number) != value.number) return;
  // The double may be whole where the number is not, and be another whole number than it is.
  const Decimal exact = decimal_of(value.text);
  if (!exact.is_whole()) return;
  const std::string digits = to_text(exact);
  const auto again = std::from_chars(digits.data(), digits.data() + digits.size(), value.integer);
  value.whole = again.ec == std::errc() && again.ptr == digits.data() + digits.size();
}

class Reader {
 public:
  Reader(std::string_view text, const std::string& source, const JsonLimits& limits)
      : rest_(text), source_(source), limits_(limits) {}

  Result<JsonValue> read_all() {
    JsonValue value;
    TRY(skip_space());
    TRY(read_value(value, 1));
    TRY(skip_space());
    if (!rest_.empty()) return fail("there is something after the end of the value: " + shown_next());
    return value;
  }

 private:
  Error fail(const std::string& what) const { return json_error(source_, line_, what); }

  std::string shown_next() const {
    if (rest_.empty()) return "the end of the text";
    size_t length = 1;
    while (length < rest_.size() && (static_cast<unsigned char>(rest_[length]) & 0xc0U) == 0x80U) ++length;
    return json_quote(rest_.substr(0, length));
  }

  bool next_is(char c) const { return !rest_.empty() && rest_.front() == c; }

  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  Result<void> skip_space() {
    while (!rest_.empty()) {
      const char c = rest_.front();
      if (c == '/') {
        TRY(skip_comment());
        continue;
      }
      if (c != ' ' && c != '\t' && c != '\n' && c != '\r') break;
      if (c == '\n') ++line_;
      rest_.remove_prefix(1);
    }
    return {};
  }

  Result<void> skip_comment() {
    if (limits_.comments == JsonComments::refused) return fail("a comment is not JSON");
    if (take("//")) {
      rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
      return {};
    }
    if (!take("/*")) return fail("expected a comment after /");
    const size_t end = rest_.find("*/");
    if (end == std::string_view::npos) return fail("a comment that does not end");
    line_ += static_cast<int>(std::count(rest_.begin(), rest_.begin() + static_cast<ptrdiff_t>(end), '\n'));
    rest_.remove_prefix(end + 2);
    return {};
  }

  Result<void> read_value(JsonValue& value, int depth) {
    if (depth > limits_.depth) return fail("nested deeper than " + std::to_string(limits_.depth));
    if (++values_ > limits_.values) return fail("more than " + std::to_string(limits_.values) + " values");
    value.line = line_;
    if (next_is('{')) return read_object(value, depth);
    if (next_is('[')) return read_array(value, depth);
    if (next_is('"')) {
      value.kind = JsonValue::Kind::string;
      return read_string(value.text);
    }
    if (next_is('-') || (!rest_.empty() && is_digit(rest_.front()))) return read_number(value);
    return read_word(value);
  }

  Result<void> read_word(JsonValue& value) {
    value.kind = JsonValue::Kind::boolean;
    if (take("true")) {
      value.truth = true;
    } else if (take("null")) {
      value.kind = JsonValue::Kind::null;
    } else if (!take("false")) {
      return fail("expected a value, not " + shown_next());
    }
    return {};
  }

  Result<void> read_array(JsonValue& value, int depth) {
    value.kind = JsonValue::Kind::array;
    return read_list(']', "an array", [&] { return read_value(value.items.emplace_back(), depth + 1); });
  }

  Result<void> read_object(JsonValue& value, int depth) {
    value.kind = JsonValue::Kind::object;
    TRY(read_list('}', "an object", [&] { return read_member(value.members.emplace_back(), depth); }));
    return refuse_twins(value);
  }

  // From the bracket on.
  template <typename ReadOne>
  Result<void> read_list(char close, const std::string& what, const ReadOne& read_one) {
    const std::string_view end(&close, 1);
    rest_.remove_prefix(1);
    TRY(skip_space());
    if (take(end)) return {};
    while (true) {
      TRY(read_one());
      TRY(skip_space());
      if (take(end)) return {};
      if (!take(","))
        return fail(std::string("expected , or ") + close + " in " + what + ", not " + shown_next());
      TRY(skip_space());
      if (next_is(close)) return fail(std::string("a comma before ") + close);
    }
  }

  Result<void> read_member(JsonMember& member, int depth) {
    if (!next_is('"')) return fail("expected a key in quotes, not " + shown_next());
    member.line = line_;
    TRY(read_string(member.name));
    TRY(skip_space());
    if (!take(":")) return fail("expected : after the key " + json_quote(member.name));
    TRY(skip_space());
    return read_value(member.value, depth + 1);
  }

  // A reader that lets the second one win, and a checker that looks at the first, would not see the same
  // call.
  Result<void> refuse_twins(const JsonValue& object) const {
    std::vector<const JsonMember*> sorted;
    sorted.reserve(object.members.size());
    for (const auto& member : object.members) sorted.push_back(&member);
    std::ranges::stable_sort(sorted, [](auto* a, auto* b) { return a->name < b->name; });
    const auto twin = std::ranges::adjacent_find(sorted, [](auto* a, auto* b) { return a->name == b->name; });
    if (twin == sorted.end()) return {};
    return json_error(source_, twin[1]->line,
                      "the key " + json_quote(twin[1]->name) + " is here twice; first on line " +
                          std::to_string(twin[0]->line));
  }

  Result<void> read_string(std::string& out) {
    rest_.remove_prefix(1);
    while (true) {
      size_t plain = 0;
      for (const char c : rest_) {  // by pointers, as JsonWriter does
        if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20) break;
        ++plain;
      }
      out += rest_.substr(0, plain);
      rest_.remove_prefix(plain);
      if (rest_.empty()) return fail("a string that does not end");
      if (take("\"")) return {};
      if (!take("\\")) return fail("a control character in a string; write it as \\u00XX");
      TRY(read_escape(out));
    }
  }

  Result<void> read_escape(std::string& out) {
    constexpr std::string_view letters = "\"\\/bfnrt";
    constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
    if (take("u")) return read_code_point(out);
    const size_t which = rest_.empty() ? std::string_view::npos : letters.find(rest_.front());
    if (which == std::string_view::npos)
      return fail("an escape that JSON does not have: \\ and " + shown_next());
    out += meanings[which];
    rest_.remove_prefix(1);
    return {};
  }

  Result<void> read_code_point(std::string& out) {
    unsigned code = TRY(read_four_digits());
    if (code >= 0xdc00 && code <= 0xdfff) return fail("the second half of a surrogate pair alone");
    if (code >= 0xd800 && code <= 0xdbff) {
      if (!take("\\u")) return fail("the first half of a surrogate pair alone");
      const unsigned low = TRY(read_four_digits());
      if (low < 0xdc00 || low > 0xdfff) return fail("the first half of a surrogate pair alone");
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    out += utf8::encode(code);
    return {};
  }

  Result<unsigned> read_four_digits() {
    const std::string_view digits = rest_.substr(0, 4);
    if (digits.size() < 4 || !ascii::all(digits, ascii::is_hex))
      return fail("\\u needs four hexadecimal digits");
    unsigned code = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    rest_.remove_prefix(digits.size());
    return code;
  }

  // -? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?
  std::optional<size_t> number_length() const {
    size_t at = 0;
    const auto here = [&](char c) { return at < rest_.size() && rest_[at] == c; };
    const auto digits = [&] {
      const size_t from = at;
      while (at < rest_.size() && is_digit(rest_[at])) ++at;
      return at > from;
    };
    if (here('-')) ++at;
    if (here('0')) {
      ++at;
    } else if (!digits()) {
      return std::nullopt;
    }
    if (here('.') && (++at, !digits())) return std::nullopt;
    if (here('e') || here('E')) {
      ++at;
      if (here('+') || here('-')) ++at;
      if (!digits()) return std::nullopt;
    }
    if (at < rest_.size() && (is_digit(rest_[at]) || rest_[at] == '.')) return std::nullopt;  // 01, 1.2.3
    return at;
  }

  Result<void> read_number(JsonValue& value) {
    const auto length = number_length();
    if (!length) return fail("a number that JSON does not have");
    value.kind = JsonValue::Kind::number;
    value.text = rest_.substr(0, *length);
    rest_.remove_prefix(*length);
    const char* end = value.text.data() + value.text.size();
    const auto read = std::from_chars(value.text.data(), end, value.number);
    if (read.ec != std::errc() || read.ptr != end || !std::isfinite(value.number))
      return fail("a number out of range");
    find_whole(value);
    return {};
  }

  std::string_view rest_;
  const std::string& source_;
  const JsonLimits& limits_;
  int line_ = 1;
  size_t values_ = 0;
};

Result<void> judge_bytes(std::string_view text, const std::string& source, const JsonLimits& limits) {
  if (text.size() > limits.bytes)
    return json_error(source, 1, "longer than " + std::to_string(limits.bytes) + " bytes");
  if (text.starts_with("\xef\xbb\xbf")) return json_error(source, 1, "a byte order mark before the value");
  if (is_utf8(text)) return {};
  int line = 1;
  while (is_utf8(take_line(text))) ++line;  // a sequence never holds a newline byte
  return json_error(source, line, "bytes that are not UTF-8");
}

std::string canonical_number(const JsonValue& value) {
  if (value.whole) return std::to_string(value.integer);
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value.number);
  std::string shortest(digits, end.ptr);
  const Decimal exact = decimal_of(value.text);
  return decimal_of(shortest) == exact ? shortest : to_text(exact);  // a double has not room for each
}

enum class Spelling { written, canonical };

void write(const JsonValue& value, Spelling spelling, std::string& out);

void write_object(const JsonValue& value, Spelling spelling, std::string& out) {
  std::vector<const JsonMember*> order;
  order.reserve(value.members.size());
  for (const auto& member : value.members) order.push_back(&member);
  if (spelling == Spelling::canonical)
    std::ranges::sort(order, [](auto* a, auto* b) { return a->name < b->name; });
  out += '{';
  for (const auto* member : order) {
    if (member != order.front()) out += ',';
    out += json_quote(member->name);
    out += ':';
    write(member->value, spelling, out);
  }
  out += '}';
}

void write(const JsonValue& value, Spelling spelling, std::string& out) {
  switch (value.kind) {
    case JsonValue::Kind::null: out += "null"; return;
    case JsonValue::Kind::boolean: out += value.truth ? "true" : "false"; return;
    case JsonValue::Kind::number:
      out += spelling == Spelling::written ? value.text : canonical_number(value);
      return;
    case JsonValue::Kind::string: out += json_quote(value.text); return;
    case JsonValue::Kind::object: write_object(value, spelling, out); return;
    case JsonValue::Kind::array: break;
  }
  out += '[';
  for (const auto& item : value.items) {
    if (&item != &value.items.front()) out += ',';
    write(item, spelling, out);
  }
  out += ']';
}

}  // namespace

const JsonValue* JsonValue::find(std::string_view name) const {
  for (const auto& member : members)
    if (member.name == name) return &member.value;
  return nullptr;
}

std::string_view name_of(JsonValue::Kind kind) {
  switch (kind) {
    case JsonValue::Kind::null: return "null";
    case JsonValue::Kind::boolean: return "boolean";
    case JsonValue::Kind::number: return "number";
    case JsonValue::Kind::string: return "string";
    case JsonValue::Kind::array: return "array";
    case JsonValue::Kind::object: return "object";
  }
  return "null";
}

Result<JsonValue> read_json(std::string_view text, const std::string& source, const JsonLimits& limits) {
  TRY(judge_bytes(text, source, limits));
  return Reader(text, source, limits).read_all();
}

std::string file_line(const std::string& source, int line) {
  return (source.empty() ? "line " : source + ":") + std::to_string(line);
}

Error json_error(const std::string& source, int line, const std::string& what) {
  return refusal(file_line(source, line) + ": " + what);
}

std::string to_json(const JsonValue& value) {
  std::string out;
  write(value, Spelling::written, out);
  return out;
}

std::string canonical_json(const JsonValue& value) {
  std::string out;
  write(value, Spelling::canonical, out);
  return out;
}

Result<void> refuse_unknown_keys(const JsonValue& object, std::span<const std::string_view> known,
                                 const std::string& source) {
  for (const auto& member : object.members) {
    if (!contains(known, member.name))
      return json_error(
          source, member.line,
          "unknown key " + json_quote(shown(member.name, 80)) + did_you_mean(member.name, known));
  }
  return {};
}

Result<std::string> required_text(const JsonValue& object, std::string_view key, const std::string& source) {
  const JsonValue* value = object.find(key);
  if (value == nullptr || !value->is_string() || value->text.empty())
    return json_error(source, value != nullptr ? value->line : object.line,
                      std::string(key) + " is not a text");
  return value->text;
}

}  // namespace cloche
