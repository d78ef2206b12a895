#include "run/json.hpp"

#include <cstdlib>
#include <utility>

namespace cloche::test {
namespace {

constexpr int deepest = 64;

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::optional<Json> whole() {
    auto value = read_value(0);
    skip_space();
    if (!value || at_ != text_.size()) return {};
    return value;
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }
  bool take(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  bool take_mark(char mark) {
    skip_space();
    return take({&mark, 1});
  }

  std::optional<Json> read_value(int depth) {
    if (depth > deepest) return {};
    skip_space();
    if (at_ >= text_.size()) return {};
    if (take("null")) return Json{};
    if (take("true")) return Json{.kind = Json::Kind::boolean, .boolean = true};
    if (take("false")) return Json{.kind = Json::Kind::boolean};
    switch (text_[at_]) {
      case '"': return read_string_value();
      case '[': return read_array(depth);
      case '{': return read_object(depth);
      default: return read_number();
    }
  }

  std::optional<Json> read_number() {
    const std::string rest(text_.substr(at_, 40));
    if (rest[0] != '-' && (rest[0] < '0' || rest[0] > '9')) return {};
    char* end = nullptr;
    const double number = std::strtod(rest.c_str(), &end);
    if (end == rest.c_str()) return {};
    at_ += static_cast<size_t>(end - rest.c_str());
    return Json{.kind = Json::Kind::number, .number = number};
  }

  std::optional<Json> read_string_value() {
    auto text = read_string();
    if (!text) return {};
    return Json{.kind = Json::Kind::string, .string = std::move(*text)};
  }

  std::optional<std::string> read_string() {
    if (!take_mark('"')) return {};
    std::string out;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return out;
      }
      if (static_cast<unsigned char>(c) < 0x20) return {};
      if (!(c == '\\' ? read_escape(out) : read_utf8(out))) return {};
    }
    return {};
  }

  bool read_escape(std::string& out) {
    const char c = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    at_ += 2;
    constexpr std::string_view names = "\"\\/bfnrt";
    constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
    if (const auto found = names.find(c); c != '\0' && found != std::string_view::npos) {
      out += meanings[found];
      return true;
    }
    if (c != 'u') return false;
    auto code = read_hex();
    if (!code) return false;
    if (*code >= 0xD800 && *code < 0xDC00) {
      if (!take("\\u")) return false;
      const auto low = read_hex();
      if (!low || *low < 0xDC00 || *low > 0xDFFF) return false;
      code = 0x10000 + ((*code - 0xD800) << 10) + (*low - 0xDC00);
    } else if (*code >= 0xDC00 && *code <= 0xDFFF) {
      return false;
    }
    append_utf8(out, *code);
    return true;
  }

  std::optional<unsigned> read_hex() {
    const std::string digits(text_.substr(at_, 4));
    if (digits.size() != 4 || digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
      return {};
    at_ += 4;
    return static_cast<unsigned>(std::strtoul(digits.c_str(), nullptr, 16));
  }

  static void append_utf8(std::string& out, unsigned code) {
    const auto byte = [&out](unsigned bits) { out += static_cast<char>(bits); };
    if (code < 0x80) return byte(code);
    if (code < 0x800) {
      byte(0xC0 | code >> 6);
    } else if (code < 0x10000) {
      byte(0xE0 | code >> 12);
      byte(0x80 | (code >> 6 & 0x3F));
    } else {
      byte(0xF0 | code >> 18);
      byte(0x80 | (code >> 12 & 0x3F));
      byte(0x80 | (code >> 6 & 0x3F));
    }
    byte(0x80 | (code & 0x3F));
  }

  // One well-formed character; overlong forms, surrogates and stray bytes are not.
  bool read_utf8(std::string& out) {
    const auto byte_at = [this](size_t i) -> unsigned {
      return i < text_.size() ? static_cast<unsigned char>(text_[i]) : 0;
    };
    const unsigned first = byte_at(at_);
    const size_t length = first < 0x80                    ? 1
                          : first >= 0xC2 && first < 0xE0 ? 2
                          : first >= 0xE0 && first < 0xF0 ? 3
                          : first >= 0xF0 && first < 0xF5 ? 4
                                                          : 0;
    if (length == 0) return false;
    for (size_t i = 1; i < length; ++i) {
      if ((byte_at(at_ + i) & 0xC0) != 0x80) return false;
    }
    const unsigned second = byte_at(at_ + 1);
    if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F)) return false;
    if ((first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F)) return false;
    out.append(text_.substr(at_, length));
    at_ += length;
    return true;
  }

  std::optional<Json> read_array(int depth) {
    Json out{.kind = Json::Kind::array};
    take_mark('[');
    if (take_mark(']')) return out;
    do {
      auto value = read_value(depth + 1);
      if (!value) return {};
      out.array.push_back(std::move(*value));
    } while (take_mark(','));
    if (!take_mark(']')) return {};
    return out;
  }

  std::optional<Json> read_object(int depth) {
    Json out{.kind = Json::Kind::object};
    take_mark('{');
    if (take_mark('}')) return out;
    do {
      auto key = read_string();
      if (!key || !take_mark(':')) return {};
      auto value = read_value(depth + 1);
      if (!value || !out.object.emplace(std::move(*key), std::move(*value)).second) return {};
    } while (take_mark(','));
    if (!take_mark('}')) return {};
    return out;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

const Json& Json::operator[](const std::string& key) const {
  static const Json nothing;
  const auto found = object.find(key);
  return found != object.end() ? found->second : nothing;
}

std::optional<Json> parse_json(std::string_view text) { return Reader(text).whole(); }

}  // namespace cloche::test
