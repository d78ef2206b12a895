// Text in a buffer of fixed size: for parsers that neither allocate nor fail to. What does not fit is said,
// never cut.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cloche {

template <size_t capacity>
class FixedText {
  static_assert(capacity <= UINT16_MAX);

 public:
  [[nodiscard]] bool append(char c) {
    if (length_ == capacity) return false;
    bytes_[length_++] = c;
    return true;
  }
  [[nodiscard]] bool append(std::string_view text) {
    if (text.size() > capacity - length_) return false;
    for (const char c : text) bytes_[length_++] = c;
    return true;
  }
  void clear() { length_ = 0; }
  std::string_view view() const { return {bytes_.data(), length_}; }
  size_t size() const { return length_; }
  friend bool operator==(const FixedText& a, const FixedText& b) { return a.view() == b.view(); }

 private:
  std::array<char, capacity> bytes_ = {};
  uint16_t length_ = 0;
};

}  // namespace cloche
