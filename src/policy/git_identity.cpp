#include "policy/git_identity.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/shown.hpp"
#include "base/utf8.hpp"

namespace cloche {
namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_key_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// What may be said to every command: one line that reads as what it is.
bool is_fit(std::string_view text) {
  if (text.size() > max_identity_bytes) return false;
  while (!text.empty()) {
    if (utf8::sequence_length(text) == 0) return false;
    const auto [code, length] = utf8::decode(text);
    if (is_control(code) || turns_text_around(code) || is_invisible(code)) return false;
    text.remove_prefix(length);
  }
  return true;
}

// git's own grammar, front to back. Where git would give up, this has nothing more to say.
class ConfigReader {
 public:
  explicit ConfigReader(std::string_view text) : rest_(text) {
    if (rest_.starts_with(byte_order_mark)) rest_.remove_prefix(byte_order_mark.size());
  }

  struct Entry {
    bool in_user = false;  // the section [user], and none with a name of its own
    std::string key = {};  // lower case
    std::string value = {};
  };

  std::optional<Entry> next() {
    while (skip_blank()) {
      if (rest_.front() == '[') {
        if (!read_section()) return std::nullopt;
      } else if (rest_.front() == '#' || rest_.front() == ';') {
        skip_line();
      } else {
        return read_entry();
      }
    }
    return std::nullopt;
  }

 private:
  // False: nothing is left.
  bool skip_blank() {
    while (!rest_.empty() && (is_blank(rest_.front()) || rest_.front() == '\n')) rest_.remove_prefix(1);
    return !rest_.empty();
  }
  void skip_line() { rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size())); }

  std::string read_word() {
    std::string word;
    for (; !rest_.empty() && is_key_byte(rest_.front()); rest_.remove_prefix(1)) word += lower(rest_.front());
    return word;
  }

  bool read_section() {
    rest_.remove_prefix(1);
    in_user_ = read_word() == "user";
    bool quoted = false;
    for (; !rest_.empty() && rest_.front() != '\n'; rest_.remove_prefix(1)) {
      const char c = rest_.front();
      if (c == ']' && !quoted) {
        rest_.remove_prefix(1);
        return true;
      }
      in_user_ = false;  // [user "other"], or [user.other]
      if (c == '"') quoted = !quoted;
      if (c == '\\' && rest_.size() > 1) rest_.remove_prefix(1);
    }
    return false;
  }

  std::optional<Entry> read_entry() {
    Entry entry{.in_user = in_user_, .key = read_word()};
    while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
    if (entry.key.empty()) return std::nullopt;
    if (rest_.empty() || rest_.front() == '\n') return entry;  // a key alone is a yes, and no name
    if (rest_.front() != '=') return std::nullopt;
    rest_.remove_prefix(1);
    auto value = read_value();
    if (!value) return std::nullopt;
    entry.value = *std::move(value);
    return entry;
  }

  std::optional<std::string> read_value() {
    std::string value;
    size_t kept = 0;  // without the blanks at its end, unless they are quoted
    bool quoted = false;
    while (!rest_.empty() && rest_.front() != '\n') {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '"') {
        quoted = !quoted;
      } else if (!quoted && (c == '#' || c == ';')) {
        skip_line();
      } else if (!quoted && is_blank(c)) {
        if (kept > 0) value += c;
      } else if (c != '\\') {
        value += c;
        kept = value.size();
      } else if (!read_escape(value, kept)) {
        return std::nullopt;
      }
    }
    if (quoted) return std::nullopt;
    value.resize(kept);
    return value;
  }

  bool read_escape(std::string& value, size_t& kept) {
    constexpr std::string_view written = "ntb\\\"";
    constexpr std::string_view meant = "\n\t\b\\\"";
    if (rest_.empty()) return false;
    const char c = rest_.front();
    rest_.remove_prefix(1);
    if (c == '\n') return true;  // the value goes on in the next line
    const size_t at = written.find(c);
    if (at == std::string_view::npos) return false;
    value += meant[at];
    kept = value.size();
    return true;
  }

  std::string_view rest_;
  bool in_user_ = false;
};

std::string quoted(std::string_view value) {
  std::string out = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

}  // namespace

GitIdentity identity_in(std::string_view git_config) {
  GitIdentity found;
  ConfigReader reader(git_config);
  while (auto entry = reader.next()) {
    if (!entry->in_user) continue;
    if (entry->key == "name") found.name = std::move(entry->value);
    if (entry->key == "email") found.email = std::move(entry->value);
  }
  if (!is_fit(found.name)) found.name.clear();
  if (!is_fit(found.email)) found.email.clear();
  return found;
}

GitIdentity completed(GitIdentity first, const GitIdentity& second) {
  if (first.name.empty()) first.name = second.name;
  if (first.email.empty()) first.email = second.email;
  return first;
}

std::string identity_config(const GitIdentity& identity) {
  std::string text = "[include]\n\tpath = /etc/gitconfig\n[user]\n";
  if (!identity.name.empty()) text += "\tname = " + quoted(identity.name) + "\n";
  if (!identity.email.empty()) text += "\temail = " + quoted(identity.email) + "\n";
  return text;
}

}  // namespace cloche
