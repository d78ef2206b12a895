#include "doors/help.hpp"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "doors/arguments.hpp"
#include "doors/print.hpp"
#include "model/limits.hpp"

namespace cloche {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Help, MentionsEveryFlag) {
  for (const char* flag : {"--workspace DIR", "--profile P", "--ro SRC[:DST]", "--rw SRC[:DST]", "--view V",
                           "--toolchains T", "-C DIR", "-e NAME[=VALUE]", "--grant debug", "--json",
                           "--dry-run", "--status-fd N", "--raw", "--isolation RUNG", "--backend B"}) {
    EXPECT_TRUE(has(run_help(), std::string("  ") + flag)) << flag;
  }
}

TEST(Help, MentionsEveryLimitWithItsDefault) {
  const Limits defaults;
  for (const auto& row : limit_table) {
    EXPECT_TRUE(has(run_help(), "  " + std::string(row.flag) + " ")) << row.flag;
    EXPECT_TRUE(has(run_help(), std::string(row.what) + " (default " + show_limit(defaults, row) + ")"))
        << row.what;
  }
}

// The other way round: what help names is a flag. Each with a value that at least one kind of flag accepts.
TEST(Help, NamesNoFlagThatIsNotThere) {
  std::istringstream words(run_help());
  std::set<std::string> flags;
  for (std::string word; words >> word;) {
    if (word.starts_with("--") && word.size() > 2)
      flags.insert(word.substr(0, word.find_first_not_of("-abcdefghijklmnopqrstuvwxyz")));
  }
  EXPECT_GE(flags.size(), 20U);
  for (const auto& flag : flags) {
    std::string name = flag;
    std::string value = "1";
    std::string command = "ls";
    char* argv[] = {name.data(), value.data(), command.data()};
    const auto result = parse_run(argv);
    EXPECT_TRUE(result.ok() || !has(result.error().what.text(), "unknown flag")) << flag;
  }
}

TEST(Help, EachTextHasExamplesAndFitsATerminal) {
  for (const std::string& text : {main_help(), run_help(), doctor_help(), profiles_help(), config_help()}) {
    EXPECT_TRUE(has(text, "Examples:\n"));
    EXPECT_TRUE(text.ends_with("\n"));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 130U) << line;
  }
  for (const char* code : {"124", "137", "125", "126", "127", "128+n", "2 bad usage"})
    EXPECT_TRUE(has(run_help(), code)) << code;
}

TEST(Visible, LeavesTextAndTakesWhatActsOrHides) {
  EXPECT_EQ(visible("plain\n\ttext, grüße 漢字"), "plain\n\ttext, grüße 漢字");
  EXPECT_EQ(visible("\x1b]0;title\x07"), "\\u{1b}]0;title\\u{7}");
  EXPECT_EQ(visible("a\rb\bc\x7f"), "a\\u{d}b\\u{8}c\\u{7f}");
  EXPECT_EQ(visible(std::string("a\0b", 3)), "a\\u{0}b");
  EXPECT_EQ(visible("a\u202eb\u2028\xc2\x9b\n"), "a\\u{202e}b\\u{2028}\\u{9b}\n");
  EXPECT_EQ(on_one_line("a\n\tb"), "a\\u{a}\\u{9}b");
}

}  // namespace
}  // namespace cloche
