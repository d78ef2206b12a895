// Words that came by a way that carries UTF-8 alone, as JSON does: %XX stands for the byte XX, and a % of the
// word's own is %25. confine/boxes/inner_command.hpp writes them.
#pragma once

namespace cloche::jail {

// The value of a digit as it is written there, or -1.
constexpr int value_of_hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// In its own place, because it only becomes shorter. False: it is not written like that.
constexpr bool unescape(char* word) {
  char* end = word;
  for (const char* at = word; *at != '\0'; ++at) {
    if (*at != '%') {
      *end++ = *at;
      continue;
    }
    const int high = value_of_hex(*++at);
    const int low = high < 0 ? -1 : value_of_hex(*++at);
    if (low < 0 || (high == 0 && low == 0)) return false;
    *end++ = static_cast<char>(high * 16 + low);
  }
  *end = '\0';
  return true;
}

}  // namespace cloche::jail
