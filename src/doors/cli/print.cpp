#include "doors/cli/print.hpp"

#include <algorithm>

#include "base/sys/sys.hpp"
#include "base/text/visible_text.hpp"

namespace cloche {

std::string visible(std::string_view text) {
  std::string out;
  while (true) {
    const size_t end = std::min(text.find_first_of("\n\t"), text.size());
    out += on_one_line(text.substr(0, end));
    if (end == text.size()) return out;
    out += text[end];
    text.remove_prefix(end + 1);
  }
}

std::string on_one_line(std::string_view text) { return shown(text, std::string_view::npos); }

void print(const std::string& text) { (void)sys::write_all(1, text); }

int print_all(const std::string& text, int exit_code) {
  const auto written = sys::write_all(1, text);
  if (written.ok()) return exit_code;
  complain("the result could not be printed: " + describe(written.error()));
  return 125;
}

void complain(const std::string& sentence) { (void)sys::write_all(2, "cloche: " + visible(sentence) + "\n"); }

void complain_notes(const std::vector<std::string>& notes) {
  for (const auto& note : notes) complain("note: " + note);
}

int exit_code_of(const Error& error) { return error.cause == Cause::usage ? 2 : 125; }

int report(const Error& error) {
  complain(describe(error));
  return exit_code_of(error);
}

std::string padded(std::string_view text, size_t width, size_t gap) {
  std::string out(text);
  out.resize(std::max(out.size() + gap, width), ' ');
  return out;
}

}  // namespace cloche
