// Writes JSON, and nothing else: the network gate, which has no C library, links no parser.
// Objects keep the order in which keys are written, so equal values give equal bytes and a digest can be
// taken.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace cloche {

// Whether the text is UTF-8 as RFC 3629 has it.
bool is_utf8(std::string_view text);
// A quoted JSON string; each byte that is not UTF-8 becomes U+FFFD.
std::string json_quote(std::string_view text);
void add_quoted(std::string& out, std::string_view text);
// JSON on one line and with nothing in it that a terminal acts on: line breaks can only stand between its
// words, and what is written as an escape instead only in its strings. What is no JSON stays none.
std::string json_on_one_line(std::string_view json);

class JsonWriter {
 public:
  enum class Layout { compact, indented };
  explicit JsonWriter(Layout layout = Layout::compact) : layout_(layout) {}

  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return shut('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return shut(']'); }
  JsonWriter& key(std::string_view name);
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(bool truth) { return raw(truth ? "true" : "false"); }
  template <std::integral T>
  JsonWriter& value(T number) {
    return raw(std::to_string(number));
  }
  // A list, each element by itself.
  template <typename List>
  requires(!std::convertible_to<List, std::string_view>) && requires(const List& list) { list.begin(); }
  JsonWriter& value(const List& list) {
    begin_array();
    for (const auto& element : list) value(element);
    return end_array();
  }
  JsonWriter& null() { return raw("null"); }
  template <typename T>
  JsonWriter& member(std::string_view name, const T& what) {
    return key(name).value(what);
  }
  // Text that is JSON already.
  JsonWriter& raw(std::string_view json);

  // Room for a text whose size is roughly known.
  JsonWriter& reserve(size_t bytes) {
    text_.reserve(bytes);
    return *this;
  }
  const std::string& text() const { return text_; }
  std::string take() { return std::move(text_); }  // and the writer is done

 private:
  JsonWriter& open(char bracket);
  JsonWriter& shut(char bracket);
  void separate();
  void break_line();

  Layout layout_;
  std::string text_;
  size_t depth_ = 0;
  bool first_ = true;
  bool after_key_ = false;
};

}  // namespace cloche
