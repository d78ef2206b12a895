#include "doors/cli/options.hpp"

#include <sys/ioctl.h>

#include <algorithm>

#include "base/text/pieces.hpp"
#include "doors/cli/print.hpp"

namespace cloche {
namespace {

std::string paragraphs(std::string_view text, const Screen& screen) {
  std::string lines;
  while (!text.empty()) lines += fitted(take_line(text), 0, screen) + "\n";
  return lines;
}

}  // namespace

std::string_view take_name(std::string_view& names) {
  const std::string_view one = names.substr(0, names.find(", "));
  names.remove_prefix(std::min(one.size() + 2, names.size()));
  return one;
}

bool has_name(std::string_view names, std::string_view name) {
  while (!names.empty()) {
    if (take_name(names) == name) return true;
  }
  return false;
}

bool ask_for_json(std::span<char* const> words) {
  for (const std::string_view word : words) {
    if (word == "--") return false;
    if (word == "--json") return true;
  }
  return false;
}

std::vector<HelpRow> operator+(std::vector<HelpRow> rows, std::vector<HelpRow> behind) {
  for (auto& row : behind) rows.push_back(std::move(row));
  return rows;
}

void show_defaults(std::vector<HelpRow>& rows, const Limits& defaults) {
  for (auto& row : rows) {
    for (const auto& limit : limit_table) {
      if (row.left.starts_with(std::string(limit.flag) + " "))
        row.help += " (default " + show_limit(defaults, limit) + ")";
    }
  }
}

Screen help_screen() {
  constexpr size_t narrowest = 40;
  constexpr size_t widest = 100;
  winsize size{};
  if (::ioctl(1, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return {.columns = widest};
  return {.columns = std::clamp(size_t{size.ws_col}, narrowest, widest)};
}

std::string text_of(const std::vector<HelpRow>& rows, const Screen& screen) {
  const size_t widest_left = std::min(size_t{24}, screen.columns / 4);  // what is longer has its own line
  size_t width = 0;
  for (const auto& row : rows)
    if (row.left.size() <= widest_left) width = std::max(width, row.left.size());
  std::string text;
  for (const auto& [left, help] : rows) {
    if (left.empty()) {
      text += (text.empty() ? "" : "\n") + fitted(help, 0, screen) + "\n";
      continue;
    }
    std::string line = "  " + left;
    if (left.size() > width) {
      text += fitted(line, 4, screen) + "\n";
      line.clear();
    }
    text += fitted(padded(line, width + 4, 0) + help, width + 4, screen) + "\n";
  }
  return text;
}

std::string text_of(const HelpPage& page, const Screen& screen) {
  std::string text = fitted(page.usage, 4, screen);
  text += "\n\n" + paragraphs(page.about, screen) + "\n";
  if (!page.rows.empty()) text += text_of(page.rows, screen) + "\n";
  if (!page.notes.empty()) text += paragraphs(page.notes, screen) + "\n";
  text += "Examples:\n";
  // A command line is there to be copied, and stays one line.
  for (const auto& example : page.examples) text += "  " + std::string(example) + "\n";
  return text;
}

}  // namespace cloche
