#include "doors/cli/screen.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "base/lists.hpp"
#include "base/text/utf8.hpp"
#include "base/text/visible_text.hpp"

namespace cloche {
namespace {

constexpr size_t least_columns = 40;  // on a narrower terminal lines are as for this one
constexpr size_t least_room = 20;     // of text that is wrapped
constexpr size_t next_line = 4;       // blanks before columns that do not fit beside the others
constexpr size_t below_row = 8;
constexpr size_t gap = 2;
constexpr std::string_view reset = "\x1b[m";

// Sorted. Scripts whose characters take two columns, and the emoji.
constexpr CodeRange wide[] = {{0x1100, 0x115f},   {0x2e80, 0xa4cf},  {0xac00, 0xd7a3}, {0xf900, 0xfaff},
                              {0xfe30, 0xfe6f},   {0xff00, 0xff60},  {0xffe0, 0xffe6}, {0x1f300, 0x1f64f},
                              {0x1f680, 0x1faff}, {0x20000, 0x3fffd}};
// Sorted. Marks above and below the character before them, and what joins two.
constexpr CodeRange without_width[] = {{0x300, 0x36f}, {0x200c, 0x200d}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}};

// One thing that is not taken apart: a character, or a colour.
struct Piece {
  size_t bytes;
  size_t columns;
};
Piece first_piece(std::string_view text) {
  if (text.starts_with("\x1b[")) {
    const size_t end = text.find('m');
    if (end != std::string_view::npos) return {end + 1, 0};
  }
  const size_t length = utf8::sequence_length(text);
  if (length == 0) return {1, 1};
  const unsigned code = utf8::decode(text).value;
  if (is_among(without_width, code)) return {length, 0};
  return {length, is_among(wide, code) ? size_t{2} : size_t{1}};
}

// The longest beginning that takes no more columns; one character at least.
size_t bytes_within(std::string_view text, size_t columns) {
  size_t bytes = 0;
  size_t taken = 0;
  while (bytes < text.size()) {
    const Piece piece = first_piece(text.substr(bytes));
    if (taken + piece.columns > columns && taken > 0) break;
    bytes += piece.bytes;
    taken += piece.columns;
  }
  return bytes;
}

// Where the line is broken: before the first word that does not fit, or within one that has no room on a line
// of its own either.
size_t break_of(std::string_view line, size_t start, size_t columns, size_t room) {
  const size_t most = start + bytes_within(line.substr(start), columns);
  if (most == line.size() || line[most] == ' ') return most;
  const size_t blank = line.rfind(' ', most);
  const size_t first_word = line.find_first_not_of(' ', start);
  if (blank == std::string_view::npos || blank <= first_word) return most;
  const size_t end = std::min(line.find(' ', most), line.size());
  return display_width(line.substr(blank + 1, end - blank - 1)) <= room ? blank : most;
}

std::string fitted_line(std::string_view line, size_t hang, size_t columns) {
  if (display_width(line) <= columns) return std::string(line);
  const size_t indent = hang + least_room > columns ? next_line : hang;
  const size_t room = columns - indent;
  size_t at = break_of(line, 0, columns, room);
  std::string text(line.substr(0, at));
  while (true) {
    while (text.ends_with(' ')) text.pop_back();
    at = std::min(line.find_first_not_of(' ', at), line.size());
    if (at == line.size()) return text;
    const size_t end = break_of(line, at, room, room);
    text += "\n" + std::string(indent, ' ') + std::string(line.substr(at, end - at));
    at = end;
  }
}

struct Place {
  bool begins_line = false;
  size_t at = 0;
  size_t width = 0;  // with what parts it from the next
};

std::vector<size_t> widths_of(std::span<const Column> columns, std::span<const TableRow> rows) {
  std::vector<size_t> widths;
  for (size_t i = 0; i < columns.size(); ++i) {
    size_t width = columns[i].name.size();
    for (const TableRow& row : rows) width = std::max(width, display_width(row.cells[i]));
    widths.push_back(width + gap);
  }
  return widths;
}

std::vector<Place> places_of(const std::vector<size_t>& widths, size_t columns) {
  std::vector<Place> places;
  size_t at = 0;
  for (size_t i = 0; i < widths.size(); ++i) {
    const bool is_last = i + 1 == widths.size();
    const size_t needs = is_last ? std::min(widths[i] - gap, least_room) : widths[i] - gap;
    const bool begins_line = at > next_line && at + needs > columns;
    if (begins_line) at = next_line;
    places.push_back({begins_line, at, widths[i]});
    at += widths[i];
  }
  return places;
}

std::string line_of(const std::vector<std::string>& cells, const std::vector<Place>& places,
                    const Screen& screen) {
  std::string text;
  for (size_t first = 0; first < cells.size();) {
    std::string line(places[first].at, ' ');
    size_t last = first;
    while (true) {
      line += cells[last];
      const bool ends = last + 1 == cells.size() || places[last + 1].begins_line;
      if (ends) break;
      const size_t width = display_width(cells[last]);
      line += std::string(std::max(places[last].width, width + 1) - width, ' ');
      ++last;
    }
    while (line.ends_with(' ')) line.pop_back();
    if (!line.empty() || first == 0) text += fitted(line, places[last].at, screen) + "\n";
    first = last + 1;
  }
  return text;
}

std::string with_below(std::string line, const TableRow& row, const Screen& screen) {
  for (const std::string& below : row.below)
    line += fitted(std::string(below_row, ' ') + below, below_row, screen) + "\n";
  return line;
}

std::vector<size_t> fixed_widths(std::span<const Column> columns) {
  std::vector<size_t> widths;
  for (const Column& column : columns) widths.push_back(std::max(column.width, gap));
  return widths;
}

}  // namespace

Screen screen_of_output(const Environment& environment) {
  if (::isatty(1) != 1) return {};
  winsize size{};
  const bool is_known = ::ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_col != 0;
  const bool has_colours = environment.get("NO_COLOR").empty() && environment.get("TERM") != "dumb";
  return {is_known ? std::max(least_columns, size_t{size.ws_col}) : size_t{80},
          has_colours ? Colour::terminal : Colour::none};
}

std::string painted(Colour colour, std::string_view sequence, std::string_view text) {
  if (colour == Colour::none || sequence.empty()) return std::string(text);
  return std::string(sequence) + std::string(text) + std::string(reset);
}

std::string painted_state(Colour colour, std::string_view word, std::string_view shown) {
  constexpr std::string_view good[] = {"allow", "holds"};
  constexpr std::string_view waits[] = {"ask", "staged"};
  constexpr std::string_view bad[] = {"deny", "refused", "withheld", "failed", "missing", "timeout", "limit"};
  if (contains(bad, word)) return painted(colour, red, shown);
  if (contains(waits, word)) return painted(colour, yellow, shown);
  return contains(good, word) ? painted(colour, green, shown) : std::string(shown);
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    const Piece piece = first_piece(text);
    width += piece.columns;
    text.remove_prefix(piece.bytes);
  }
  return width;
}

std::string fitted(std::string_view text, size_t hang, const Screen& screen) {
  if (screen.columns == 0) return std::string(text);
  std::string lines;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    lines += fitted_line(line, hang, screen.columns);
    if (line.size() < text.size()) lines += '\n';
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return lines;
}

std::string table_text(std::span<const Column> columns, std::span<const TableRow> rows,
                       const Screen& screen) {
  const auto places = screen.columns == 0 ? places_of(fixed_widths(columns), ~size_t{0} / 2)
                                          : places_of(widths_of(columns, rows), screen.columns);
  std::vector<std::string> names;
  for (const Column& column : columns) names.push_back(painted(screen.colour, bold, column.name));
  std::string text = line_of(names, places, screen);
  for (const TableRow& row : rows) text += with_below(line_of(row.cells, places, screen), row, screen);
  return text;
}

std::string row_text(std::span<const Column> columns, const TableRow& row, const Screen& screen) {
  const size_t columns_there = screen.columns == 0 ? ~size_t{0} / 2 : screen.columns;
  return with_below(line_of(row.cells, places_of(fixed_widths(columns), columns_there), screen), row, screen);
}

std::string local_time(const std::string& utc) {
  struct tm parts {};
  const char* rest = utc.size() == 24 ? ::strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%S", &parts) : nullptr;
  if (rest == nullptr || *rest != '.' || utc.back() != 'Z') return utc;
  const time_t seconds = ::timegm(&parts);
  struct tm local {};
  char text[32];
  if (::localtime_r(&seconds, &local) == nullptr ||
      std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &local) == 0)
    return utc;
  return text;
}

}  // namespace cloche
