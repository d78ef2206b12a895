// Help is made from the tables that the words are read by: every option that parses is shown, aligned and
// wrapped.
#include "doors/cli/help_pages.hpp"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "doors/cli/arguments.hpp"
#include "doors/cli/call_arguments.hpp"
#include "doors/cli/print.hpp"

namespace cloche {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct Words {
  bool loud = false;
  bool help = false;
  std::string name = {};
  std::vector<std::string> more = {};
};

constexpr Option<Words> options[] = {
    {"", "", "What it does:"},
    {"--loud", "", "Say it aloud.", raise<&Words::loud>, 1},
    {"-n, --name", "NAME",
     "Who is spoken to, in a sentence that is so long that it does not fit on one line of a terminal.",
     keep<&Words::name>},
    {"--more-than-fits-in-a-column", "X", "Behind it on the next line.", add<&Words::more>, 2},
    help_option<Words>};

Result<Words> read(unsigned command, std::vector<std::string> words,
                   std::vector<std::string>* others = nullptr, OptionsEnd end = OptionsEnd::dashes) {
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  Words read;
  const auto rest = TRY(read_options(read, argv, OptionTables<Words>{{options}, command}, end, "see it"));
  if (others != nullptr) others->assign(rest.begin(), rest.end());
  return read;
}

TEST(Options, AreStoredAndTheOtherWordsAreLeft) {
  std::vector<std::string> others;
  auto words = read(1, {"a", "--loud", "-n", "x", "-", "--", "--loud"}, &others);
  ASSERT_TRUE(words.ok());
  EXPECT_TRUE(words.value().loud);
  EXPECT_EQ(words.value().name, "x");
  EXPECT_EQ(others, (std::vector<std::string>{"a", "-", "--loud"}));
  words = read(2, {"--name=x=y", "--more-than-fits-in-a-column", "1", "a", "--loud"}, &others,
               OptionsEnd::first_word);
  ASSERT_TRUE(words.ok());
  EXPECT_EQ(words.value().name, "x=y");
  EXPECT_EQ(words.value().more, std::vector<std::string>{"1"});
  EXPECT_EQ(others, (std::vector<std::string>{"a", "--loud"}));
}

TEST(Options, WhatDoesNotFitIsRefused) {
  const std::pair<std::vector<std::string>, const char*> rows[] = {
      {{"--none"}, "unknown flag --none"},
      {{"-x"}, "unknown flag -x"},
      {{"--more-than-fits-in-a-column=1"}, "unknown flag"},  // of the other command
      {{"--loud=1"}, "--loud takes no value"},
      {{"--name"}, "--name needs a value"},
      {{"--name="}, "empty value"},
      {{"-n=x"}, "unknown flag -n=x"},
  };
  for (const auto& [given, says] : rows) {
    const auto words = read(1, given);
    ASSERT_FALSE(words.ok()) << says;
    EXPECT_EQ(words.error().cause, Cause::usage);
    EXPECT_TRUE(has(words.error().what.text(), says)) << words.error().what;
  }
}

TEST(Options, TheHelpOfACommandHasItsRowsAligned) {
  EXPECT_EQ(
      text_of(rows_of(OptionTables<Words>{{options}, 2})),
      "What it does:\n"
      "  -n, --name NAME  Who is spoken to, in a sentence that is so long that it does not fit on one line\n"
      "                   of a terminal.\n"
      "  --more-than-fits-in-a-column X\n"
      "                   Behind it on the next line.\n"
      "  -h, --help       Show this text.\n");
}

TEST(Help, ShowsEveryLimitWithItsDefault) {
  const Limits defaults;
  for (const auto& row : limit_table) {
    EXPECT_TRUE(has(text_of(run_help()), "  " + std::string(row.flag) + " ")) << row.flag;
    EXPECT_TRUE(
        has(text_of(run_help()), std::string(row.what) + " (default " + show_limit(defaults, row) + ")"))
        << row.what;
  }
  const auto rows = call_options_of(CallCommand::call);
  EXPECT_TRUE(has(text_of(rows), "stdout and stderr together (default 16M)"));
  EXPECT_TRUE(has(text_of(rows), "wall clock (default 10m)"));
}

// Also what a sentence mentions.
TEST(Help, NamesNoFlagThatIsNotThere) {
  std::istringstream words(text_of(run_help()));
  std::set<std::string> flags;
  for (std::string word; words >> word;) {
    if (word.starts_with("--") && word.size() > 2)
      flags.insert(word.substr(0, word.find_first_not_of("-abcdefghijklmnopqrstuvwxyz")));
  }
  EXPECT_GE(flags.size(), 40U);
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
  for (const std::string& text : {text_of(run_help()), text_of(wrap_help())}) {
    EXPECT_TRUE(has(text, "Examples:\n"));
    EXPECT_TRUE(text.ends_with("\n"));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 110U) << line;
  }
  for (const char* code : {"124", "137", "125", "126", "127", "128+n", "2 bad usage"})
    EXPECT_TRUE(has(text_of(run_help()), code)) << code;
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
