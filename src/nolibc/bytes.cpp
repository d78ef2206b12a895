// Functions on bytes and text; the compiler calls some of these on its own.
#include <cstddef>

#include "nolibc/call.hpp"

// Kept from being recognised as the loops they are and turned into calls to themselves.
#ifdef __clang__
#define NOT_A_LOOP __attribute__((used, no_builtin))
#else
#define NOT_A_LOOP __attribute__((optimize("no-tree-loop-distribute-patterns"), used))
#endif

extern "C" {

// The processor's own copy: a few instructions for a few bytes, as fast as memory for many.
NOT_A_LOOP void* memcpy(void* to, const void* from, size_t size) {
  void* at = to;
  asm volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(size) : : "memory");
  return to;
}
NOT_A_LOOP void* memmove(void* to, const void* from, size_t size) {
  auto* out = static_cast<char*>(to);
  const auto* in = static_cast<const char*>(from);
  if (out <= in || out >= in + size) return memcpy(to, from, size);
  while (size-- > 0) out[size] = in[size];  // overlapping, and upwards: from the end
  return to;
}
NOT_A_LOOP void* memset(void* to, int value, size_t size) {
  void* at = to;
  asm volatile("rep stosb" : "+D"(at), "+c"(size) : "a"(value) : "memory");
  return to;
}
NOT_A_LOOP int memcmp(const void* left, const void* right, size_t size) {
  const auto* a = static_cast<const unsigned char*>(left);
  const auto* b = static_cast<const unsigned char*>(right);
  for (size_t i = 0; i < size; ++i) {
    if (a[i] != b[i]) return a[i] - b[i];
  }
  return 0;
}
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
[[noreturn]] void abort() {
  while (true) asm volatile("ud2");
}

}  // extern "C"
