#include "doors/changes/diff_output.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include "doors/changes/pager.hpp"
#include "doors/cli/print.hpp"

namespace cloche {

DiffOptions options_for_output(const Environment& environment, bool stat) {
  DiffOptions options{.stat = stat};
  if (!is_terminal(1)) return options;
  struct winsize size {};
  if (::ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) options.width = size.ws_col;
  const bool has_colours = environment.get("NO_COLOR").empty() && environment.get("TERM") != "dumb";
  if (has_colours) options.style = {Colour::terminal, TrailingBlanks::marked};
  return options;
}

int page(const std::string& text, std::vector<std::string> writable) {
  if (!is_terminal(1) || !is_terminal(0)) return print_all(text, 0);
  PagerRequest request{.writable_roots = std::move(writable)};
  for (char** entry = environ; *entry != nullptr; ++entry) request.environment.emplace_back(*entry);
  const PagerChoice choice = choose_pager(request, find_program);
  if (!choice.note.empty()) complain(choice.note);
  if (!choice.pager) return print_all(text, 0);
  const auto paged = run_pager(*choice.pager, text);
  if (paged.ok()) return 0;
  complain(describe(paged.error()));
  return print_all(text, 0);
}

}  // namespace cloche
