#include "doors/print.hpp"

#include "base/sys.hpp"

namespace cloche {

std::string visible(const std::string& text) {
  std::string out;
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool harmless = (byte >= 0x20 && byte != 0x7f) || c == '\n' || c == '\t';
    out += harmless ? c : '?';
  }
  return out;
}

void print(const std::string& text) { (void)sys::write_all(1, text); }

void complain(const std::string& sentence) { (void)sys::write_all(2, "cloche: " + visible(sentence) + "\n"); }

}  // namespace cloche
