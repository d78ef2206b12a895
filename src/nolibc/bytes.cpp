// Functions on bytes and text; the compiler calls some of these on its own.
#include <cstddef>
#include <cstdint>

#include "nolibc/call.hpp"

// Kept from being recognised as the loops they are and turned into calls to themselves.
#ifdef __clang__
#define NOT_A_LOOP __attribute__((used, no_builtin))
#else
#define NOT_A_LOOP __attribute__((optimize("no-tree-loop-distribute-patterns"), used))
#endif

namespace {

using Sixteen [[gnu::vector_size(16)]] = char;

// Unaligned, by the compiler's own moves; a call of memcpy would be a call of ourselves.
template <typename Word>
Word load(const void* from) {
  struct [[gnu::packed, gnu::may_alias]] Unaligned {
    Word word;
  };
  return static_cast<const Unaligned*>(from)->word;
}
template <typename Word>
void store(void* to, Word word) {
  struct [[gnu::packed, gnu::may_alias]] Unaligned {
    Word word;
  };
  static_cast<Unaligned*>(to)->word = word;
}

}  // namespace

extern "C" {

// Most copies are of a few bytes: two moves that overlap. Many are the business of a processor that has a
// copy of its own.
NOT_A_LOOP void* memcpy(void* to, const void* from, size_t size) {
  auto* out = static_cast<char*>(to);
  const auto* in = static_cast<const char*>(from);
#ifdef __x86_64__
  if (size > 256) {
    asm volatile("rep movsb" : "+D"(out), "+S"(in), "+c"(size) : : "memory");
    return to;
  }
#endif
  if (size >= 16) {
    const Sixteen last = load<Sixteen>(in + size - 16);
    for (size_t at = 0; at + 16 < size; at += 16) store(out + at, load<Sixteen>(in + at));
    store(out + size - 16, last);
  } else if (size >= 8) {
    const auto last = load<uint64_t>(in + size - 8);
    store(out, load<uint64_t>(in));
    store(out + size - 8, last);
  } else if (size >= 4) {
    const auto last = load<uint32_t>(in + size - 4);
    store(out, load<uint32_t>(in));
    store(out + size - 4, last);
  } else {
    for (size_t i = 0; i < size; ++i) out[i] = in[i];
  }
  return to;
}
NOT_A_LOOP void* memmove(void* to, const void* from, size_t size) {
  auto* out = static_cast<char*>(to);
  const auto* in = static_cast<const char*>(from);
  if (out <= in || out >= in + size) {
    // Downwards: what is read was not written yet, block by block and in the processor's own copy alike; the
    // last block of memcpy above is read before anything is written.
    return memcpy(to, from, size);
  }
  while (size >= 8) {  // upwards: from the end
    size -= 8;
    store(out + size, load<uint64_t>(in + size));
  }
  while (size-- > 0) out[size] = in[size];
  return to;
}
NOT_A_LOOP void* memset(void* to, int value, size_t size) {
#ifdef __x86_64__
  void* at = to;
  asm volatile("rep stosb" : "+D"(at), "+c"(size) : "a"(value) : "memory");
#else
  auto* out = static_cast<unsigned char*>(to);
  const uint64_t eight = static_cast<unsigned char>(value) * 0x0101010101010101U;
  for (; size >= 8; size -= 8, out += 8) store(out, eight);
  while (size-- > 0) *out++ = static_cast<unsigned char>(value);
#endif
  return to;
}
NOT_A_LOOP int memcmp(const void* left, const void* right, size_t size) {
  const auto* a = static_cast<const unsigned char*>(left);
  const auto* b = static_cast<const unsigned char*>(right);
  size_t i = 0;
  while (i + 8 <= size && load<uint64_t>(a + i) == load<uint64_t>(b + i)) i += 8;
  for (; i < size; ++i) {
    if (a[i] != b[i]) return a[i] - b[i];
  }
  return 0;
}
NOT_A_LOOP int bcmp(const void* left, const void* right, size_t size) { return memcmp(left, right, size); }
NOT_A_LOOP void* memchr(const void* where, int value, size_t size) {
  const auto* bytes = static_cast<const char*>(where);
  for (size_t i = 0; i < size; ++i) {
    if (bytes[i] == static_cast<char>(value)) return const_cast<char*>(bytes + i);
  }
  return nullptr;
}
NOT_A_LOOP size_t strlen(const char* text) {
  size_t size = 0;
  while (text[size] != '\0') ++size;
  return size;
}
NOT_A_LOOP char* strchr(const char* text, int value) {
  for (;; ++text) {
    if (*text == static_cast<char>(value)) return const_cast<char*>(text);
    if (*text == '\0') return nullptr;
  }
}
NOT_A_LOOP int strncmp(const char* a, const char* b, size_t most) {
  while (most > 0 && *a != '\0' && *a == *b) ++a, ++b, --most;
  return most == 0 ? 0 : static_cast<unsigned char>(*a) - static_cast<unsigned char>(*b);
}
NOT_A_LOOP int strcmp(const char* a, const char* b) { return strncmp(a, b, ~size_t{0}); }
NOT_A_LOOP char* strcpy(char* to, const char* from) {
  memcpy(to, from, strlen(from) + 1);
  return to;
}
[[noreturn]] void abort() { __builtin_trap(); }

}  // extern "C"
