// Message: text for a reader. It is built, extended and shown. Nothing searches, compares or cuts it: what
// code has to know is a typed field beside the message.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>

namespace cloche {

class Message {
 public:
  Message() = default;
  Message(std::string text) : text_(std::move(text)) {}  // NOLINT: implicit by design
  Message(std::string_view text) : text_(text) {}        // NOLINT: implicit by design
  Message(const char* text) : text_(text) {}             // NOLINT: implicit by design

  Message& operator+=(const Message& behind) {
    text_ += behind.text_;
    return *this;
  }
  friend Message operator+(Message front, const Message& behind) { return std::move(front += behind); }

  bool empty() const { return text_.empty(); }
  // For a door, a record or another message.
  const std::string& text() const { return text_; }

  template <typename Character, typename Traits>
  friend std::basic_ostream<Character, Traits>& operator<<(std::basic_ostream<Character, Traits>& out,
                                                           const Message& message) {
    return out << message.text_;
  }

 private:
  std::string text_;
};

}  // namespace cloche
