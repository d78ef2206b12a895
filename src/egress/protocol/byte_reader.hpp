// Reads numbers and runs of bytes off the front of a buffer, in network order. Past the end it gives zeros
// and remembers: a parser reads a whole structure and asks once, and can never look beyond what it was given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace cloche {

using Bytes = std::span<const uint8_t>;

class ByteReader {
 public:
  explicit ByteReader(Bytes bytes, size_t at = 0) : bytes_(bytes), at_(at), good_(at <= bytes.size()) {}

  uint8_t u8() { return static_cast<uint8_t>(number(1)); }
  uint16_t u16() { return static_cast<uint16_t>(number(2)); }
  uint32_t u24() { return number(3); }
  uint32_t u32() { return number(4); }
  Bytes bytes(size_t count) {
    if (!good_ || count > left()) {
      good_ = false;
      return {};
    }
    const Bytes taken = bytes_.subspan(at_, count);
    at_ += count;
    return taken;
  }
  void skip(size_t count) { (void)bytes(count); }
  // What stands behind a length of one or two bytes.
  Bytes block8() { return bytes(u8()); }
  Bytes block16() { return bytes(u16()); }

  bool good() const { return good_; }
  size_t at() const { return at_; }
  size_t left() const { return good_ ? bytes_.size() - at_ : 0; }
  bool at_end() const { return good_ && left() == 0; }

 private:
  uint32_t number(size_t width) {
    uint32_t value = 0;
    for (const uint8_t byte : bytes(width)) value = value << 8 | byte;
    return value;
  }

  Bytes bytes_;
  size_t at_;
  bool good_;
};

}  // namespace cloche
