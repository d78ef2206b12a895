// How text for a person is laid out: lines that fit the terminal, columns, colours and the local time. Where
// stdout is no terminal, lines are as long as they are and have no colour.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/sys/environment.hpp"

namespace cloche {

enum class Colour { none, terminal };

struct Screen {
  size_t columns = 0;  // 0: no terminal
  Colour colour = Colour::none;
};
// What stdout is.
Screen screen_of_output(const Environment& environment);

inline constexpr std::string_view red = "\x1b[31m";
inline constexpr std::string_view green = "\x1b[32m";
inline constexpr std::string_view yellow = "\x1b[33m";
inline constexpr std::string_view bold = "\x1b[1m";
std::string painted(Colour colour, std::string_view sequence, std::string_view text);
// A decision, a call's end or a set's state: what was let through is green, what waits yellow, what was
// refused or kept back red; no colour for any other word.
std::string painted_state(Colour colour, std::string_view word, std::string_view shown);

// Columns that the text takes on a terminal; colours take none.
size_t display_width(std::string_view text);

// The lines of `text`, each wrapped at its blanks, and within a word that fits on no line. What follows a
// break stands behind `hang` blanks, or behind four where so many would leave little room.
std::string fitted(std::string_view text, size_t hang, const Screen& screen);

struct Column {
  std::string_view name;
  size_t width;  // where stdout is no terminal; on one it is as wide as what stands in it
};
struct TableRow {
  std::vector<std::string> cells;       // one for each column, without line breaks
  std::vector<std::string> below = {};  // lines about this row
};
// Columns that do not fit beside the others go to the next line, in every row.
std::string table_text(std::span<const Column> columns, std::span<const TableRow> rows, const Screen& screen);
// Without the names of the columns, for rows that come one by one: then their widths are fixed.
std::string row_text(std::span<const Column> columns, const TableRow& row, const Screen& screen);

// "2026-11-19T15:30:04.000Z" as "2026-11-19 15:30:04" by the clock of the caller; other text stays as it is.
std::string local_time(const std::string& utc);

}  // namespace cloche
