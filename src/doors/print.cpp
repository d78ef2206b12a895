#include "doors/print.hpp"

#include "base/json.hpp"
#include "base/sys.hpp"

namespace cloche {

std::string visible(const std::string& text) {
  std::string out;
  const bool readable = is_utf8(text);
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    const bool control = byte < 0x20 ? byte != '\n' && byte != '\t' : byte == 0x7f;
    const bool wide_control = byte == 0xc2 && next >= 0x80 && next <= 0x9f;  // a C1 control in UTF-8
    if (wide_control) ++i;
    out += control || wide_control || (byte >= 0x80 && !readable) ? '?' : static_cast<char>(byte);
  }
  return out;
}

void print(const std::string& text) { (void)sys::write_all(1, text); }

void complain(const std::string& sentence) { (void)sys::write_all(2, "cloche: " + visible(sentence) + "\n"); }

}  // namespace cloche
