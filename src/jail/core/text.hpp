// Small strings on the stack: the jail has no heap and no stdio.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace cloche::jail {

template <size_t N>
class Text {
 public:
  Text& add(const char* text) {
    while (*text != '\0') put(*text++);
    return *this;
  }
  Text& add(uint64_t value) { return add_in_base(value, 10); }
  Text& add_octal(uint64_t value) { return add_in_base(value, 8); }
  Text& clear() {
    size_ = 0;
    return *this;
  }
  const char* c_str() {
    room_[size_] = '\0';
    return room_;
  }
  size_t size() const { return size_; }

 private:
  Text& add_in_base(uint64_t value, unsigned base) {
    char digits[24];
    size_t count = 0;
    do digits[count++] = static_cast<char>('0' + value % base);
    while ((value /= base) != 0);
    while (count > 0) put(digits[--count]);
    return *this;
  }
  void put(char c) {
    if (size_ + 1 >= N) std::abort();  // our own bug: every use is sized for the largest number
    room_[size_++] = c;
  }

  char room_[N];
  size_t size_ = 0;
};

}  // namespace cloche::jail
