#include "doors/cli/options.hpp"

#include <sys/ioctl.h>

#include <algorithm>

#include "base/text/pieces.hpp"

namespace cloche {
namespace {

// Of the terminal, where the text goes to one.
size_t line_width() {
  constexpr size_t narrowest = 40;
  constexpr size_t widest = 100;
  winsize size{};
  if (::ioctl(1, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return widest;
  return std::clamp(size_t{size.ws_col}, narrowest, widest);
}

// The words of one paragraph in lines, each but the first behind `indent` spaces.
std::string wrapped(std::string_view paragraph, size_t indent) {
  const size_t widest_line = line_width();
  std::string text;
  size_t column = indent;
  while (!paragraph.empty()) {
    const std::string_view word = take_until(paragraph, " ");
    if (column > indent && column + 1 + word.size() > widest_line) {
      text += "\n" + std::string(indent, ' ');
      column = indent;
    }
    if (column > indent) text += ' ';
    column += word.size() + (column > indent ? 1 : 0);
    text += word;
  }
  return text + "\n";
}

std::string paragraphs(std::string_view text) {
  std::string lines;
  while (!text.empty()) lines += wrapped(take_line(text), 0);
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

std::string text_of(const std::vector<HelpRow>& rows) {
  const size_t widest_left = std::min(size_t{24}, line_width() / 4);  // what is longer has a line of its own
  size_t width = 0;
  for (const auto& row : rows)
    if (row.left.size() <= widest_left) width = std::max(width, row.left.size());
  std::string text;
  for (const auto& [left, help] : rows) {
    if (left.empty()) {
      text += (text.empty() ? "" : "\n") + wrapped(help, 0);
      continue;
    }
    text += "  " + left;
    text +=
        left.size() > width ? "\n" + std::string(width + 4, ' ') : std::string(width + 2 - left.size(), ' ');
    text += wrapped(help, width + 4);
  }
  return text;
}

std::string text_of(const HelpPage& page) {
  std::string text(page.usage);
  text += "\n\n" + paragraphs(page.about) + "\n";
  if (!page.rows.empty()) text += text_of(page.rows) + "\n";
  if (!page.notes.empty()) text += paragraphs(page.notes) + "\n";
  text += "Examples:\n";
  for (const auto& example : page.examples) text += "  " + std::string(example) + "\n";
  return text;
}

}  // namespace cloche
