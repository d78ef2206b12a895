// Text as wide as the terminal: at 80 and at 40 columns no line is longer, and where it is none nothing is
// changed.
#include "doors/cli/screen.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <sstream>

#include "doors/cli/options.hpp"

namespace cloche {
namespace {

constexpr Screen at_80{.columns = 80};
constexpr Screen at_40{.columns = 40};

TEST(Fitted, BreaksAtBlanksWithAHangingIndent) {
  const struct {
    const char* text;
    size_t hang;
    const char* at_40;
  } rows[] = {
      {"short", 4, "short"},
      {"", 4, ""},
      {"\n\n", 4, "\n\n"},
      {"a name    with words that go on and on for longer", 10,
       "a name    with words that go on and on\n          for longer"},
      {"with little room beside it the indent is as small as it can be", 25,
       "with little room beside it the indent is\n    as small as it can be"},
      {"12345678901234567890123456789012345678901234567890", 4,
       "1234567890123456789012345678901234567890\n    1234567890"},
      {"a 345678901234567890123456789012345678901234567890", 4,
       "a 34567890123456789012345678901234567890\n    1234567890"},
      {"a 34567890123456789012345678901234567890", 4, "a 34567890123456789012345678901234567890"},
      {"漢字漢字漢字漢字漢字漢字漢字漢字漢字漢 漢字", 4, "漢字漢字漢字漢字漢字漢字漢字漢字漢字漢\n    漢字"},
      {"\x1b[31mred\x1b[m 567890123456789012345678901234567 90", 4,
       "\x1b[31mred\x1b[m 567890123456789012345678901234567 90"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(fitted(row.text, row.hang, at_40), row.at_40);
    EXPECT_EQ(fitted(row.text, row.hang, {}), row.text);
  }
}

TEST(Table, ColumnsThatDoNotFitGoToTheNextLine) {
  const Column columns[] = {{"ONE", 12}, {"TWO", 6}, {"THREE", 0}};
  const TableRow rows[] = {
      {{"first", "2", "words that are wrapped where they stand, because there is room"}, {"a line about it"}},
      {{"much longer than that", "12", ""}}};
  EXPECT_EQ(table_text(columns, rows, {}),
            "ONE         TWO   THREE\n"
            "first       2     words that are wrapped where they stand, because there is room\n"
            "        a line about it\n"
            "much longer than that 12\n");
  EXPECT_EQ(table_text(columns, rows, at_80),
            "ONE                    TWO  THREE\n"
            "first                  2    words that are wrapped where they stand, because\n"
            "                            there is room\n"
            "        a line about it\n"
            "much longer than that  12\n");
  EXPECT_EQ(table_text(columns, rows, at_40),
            "ONE                    TWO\n"
            "    THREE\n"
            "first                  2\n"
            "    words that are wrapped where they\n"
            "    stand, because there is room\n"
            "        a line about it\n"
            "much longer than that  12\n");
}

TEST(LocalTime, IsThatOfTheCaller) {
  const char* before = std::getenv("TZ");
  const std::string was = before == nullptr ? "" : before;
  ::setenv("TZ", "XST-5:30", 1);
  ::tzset();
  EXPECT_EQ(local_time("2026-11-19T20:30:04.000Z"), "2026-11-20 02:00:04");
  for (const char* text :
       {"", "then", "2026-11-19T20:30:04Z", "2026-11-19T20:30:04+000Z", "2026-99-19T20:30:04.000Z"})
    EXPECT_EQ(local_time(text), text);
  before == nullptr ? ::unsetenv("TZ") : ::setenv("TZ", was.c_str(), 1);
  ::tzset();
}

void expect_fits(const std::string& text, size_t columns) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), columns) << line;
}

// But for the command lines, which are there to be copied.
TEST(Help, FitsTheTerminal) {
  struct Nothing {
    bool help = false;
  };
  constexpr Option<Nothing> options[] = {
      {"--a-flag-with-a-long-name", "VALUE", "What it does, in a sentence that does not fit beside it."},
      help_option<Nothing>};
  const HelpPage page{.usage = "cloche something [--a-flag-with-a-long-name VALUE] [WORDS...] -- CMD ARG...",
                      .about = "A sentence about it that is longer than forty columns are wide.",
                      .rows = rows_of<Nothing>(options)};
  EXPECT_EQ(text_of(page, at_40),
            "cloche something\n"
            "    [--a-flag-with-a-long-name VALUE]\n"
            "    [WORDS...] -- CMD ARG...\n"
            "\n"
            "A sentence about it that is longer than\n"
            "forty columns are wide.\n"
            "\n"
            "  --a-flag-with-a-long-name VALUE\n"
            "              What it does, in a\n"
            "              sentence that does not fit\n"
            "              beside it.\n"
            "  -h, --help  Show this text.\n"
            "\n"
            "Examples:\n");
  expect_fits(text_of(page, at_80), 80);
}

}  // namespace
}  // namespace cloche
