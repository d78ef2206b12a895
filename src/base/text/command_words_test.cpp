// The splitter: by table, against Python's shlex on a generated corpus, and there and back again.
#include "base/text/command_words.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "base/json/json_writer.hpp"
#include "base/sys/sys.hpp"

namespace cloche {
namespace {

using Words = std::vector<std::string>;
using Kind = ShellOperator::Kind;
using std::string_literals::operator""s;

struct Split {
  std::string text;
  Words words;
};

TEST(Words, QuotingIsThatOfPosix) {
  const Split rows[] = {
      {"ls", {"ls"}},
      {"  ls \t -la  ", {"ls", "-la"}},
      {"echo 'a b'", {"echo", "a b"}},
      {"echo 'a'\"b\"c\\ d", {"echo", "abc d"}},
      {"echo ''", {"echo", ""}},
      {"echo \"\" x", {"echo", "", "x"}},
      {"echo '\\'", {"echo", "\\"}},
      {R"(echo "a\"b\\c\d")", {"echo", R"(a"b\c\d)"}},
      {R"(echo "\$x\`")", {"echo", "$x`"}},
      {"echo \\'x\\'", {"echo", "'x'"}},
      {"echo a#b '#c'", {"echo", "a#b", "#c"}},
      {"echo 'it'\"'\"'s'", {"echo", "it's"}},
      {"l's' x", {"ls", "x"}},
      {"echo \xc3\xa4", {"echo", "\xc3\xa4"}},
  };
  for (const auto& row : rows) {
    const SplitWords split = split_words(row.text);
    EXPECT_EQ(split.problem, "") << row.text;
    EXPECT_EQ(split.words, row.words) << row.text;
    EXPECT_TRUE(split.operators.empty()) << row.text;
  }
}

TEST(Words, EachRefusalHasItsOwnReason) {
  const std::pair<std::string, std::string> rows[] = {
      {"echo 'x", "a single quote is not closed"},
      {"echo \"x", "a double quote is not closed"},
      {"echo \"x\\\"", "a double quote is not closed"},
      {"echo x\\", "it ends in a backslash"},
      {"echo a\0b"s, "NUL"},
      {"ls\nrm x", "line break"},
      {"echo 'a\nb'", "line break"},
      {"ls\r", "line break"},
      {"ls \x1b[2J", "control character"},
      {"ls \x7f", "control character"},
      {"ls \xc2\x9b", "control character"},
      {"ls 'a\tb'", "control character"},
      {"ls \"a\tb\"", "control character"},
      {"ls a\\\tb", "control character"},
      {"ls \xe2\x80\xae", "bidirectional"},
      {"ls \u061c", "bidirectional"},
      {"ls \u00ad", "invisible"},
      {"ls \u115f", "invisible"},
      {"ls \u180e", "invisible"},
      {"ls \u2028", "invisible"},
      {"ls \u2065", "invisible"},
      {"ls \u206a", "invisible"},
      {"ls '\u206f'", "invisible"},
      {"ls \u3164", "invisible"},
      {"ls \ufff9", "invisible"},
      {"ls \ufffb", "invisible"},
      {"ls \U0001d173", "invisible"},
      {"ls '\U0001d17a'", "invisible"},
      {"ls \U000e0001", "invisible"},
      {"ls \U000e0041", "invisible"},
      {"ls \xe2\x81\xa6", "bidirectional"},
      {"l\xe2\x80\x8bs", "invisible"},
      {"\xef\xbb\xbfls", "invisible"},
      {"ls \xff", "UTF-8"},
      {"ls \xc0\xaf", "UTF-8"},
      {"", "no command"},
      {" \t ", "no command"},
      {"'' x", "empty"},
      {"\"\"", "empty"},
      {std::string(max_command_bytes + 1, 'x'), "longer than"},
      {std::string(max_argv_bytes, 'x'), "longer than"},
  };
  for (const auto& [text, reason] : rows) {
    const SplitWords split = split_words(text);
    EXPECT_NE(split.problem.find(reason), std::string::npos) << reason << " <> " << split.problem;
    EXPECT_TRUE(split.words.empty()) << reason;
  }
  std::string many;
  for (size_t i = 0; i <= max_argv_words; ++i) many += "x ";
  EXPECT_NE(split_words(many).problem.find("words"), std::string::npos);
}

// Text of every day: emoji with joiners and selectors, scripts that need joiners, marks that can be seen.
TEST(Words, VisibleTextPasses) {
  for (const char* text :
       {"\U0001f468\u200d\U0001f469\u200d\U0001f467", "\u2764\ufe0f", "\u0645\u06cc\u200c\u062e",
        "\u0915\u094d\u200d\u0937", "\u0601\u0661", "\u6f22\u5b57", "e\u0301", "\u00a0"}) {
    EXPECT_EQ(split_words("echo '" + std::string(text) + "'").problem, "") << text;
    EXPECT_EQ(shown(text), text);
  }
}

// A name that only looks like another one.
TEST(Words, AJoinerBesideAsciiIsShown) {
  EXPECT_EQ(shown(".g\u200cit"), ".g\\u{200c}it");
  EXPECT_EQ(shown("\u200cgit"), "\\u{200c}git");
  EXPECT_EQ(shown("git\u200d"), "git\\u{200d}");
  EXPECT_EQ(shown("\u0645\u200cx"), "\u0645\\u{200c}x");
  EXPECT_EQ(shown("\u200d"), "\u200d") << "one character of a text that others put together";
}

TEST(Words, ArgvIsHeldToTheSame) {
  EXPECT_EQ(problem_of({"ls", "-la"}), "");
  for (const Words& argv : {Words{}, Words{""}, Words{"a\0b"s}, Words{"ls", "a\nb"}, Words{"ls", "\x01"},
                            Words{"ls", "a\tb"}, Words{"l\ts"}, Words{"python3", "-c", "if 1:\tpass"},
                            Words{"ls", "\xff"}, Words{"ls", "\xe2\x80\xae"}, Words(max_argv_words + 1, "x"),
                            Words{std::string(max_argv_bytes, 'x')}}) {
    EXPECT_NE(problem_of(argv), "") << argv.size();
  }
}

struct Operators {
  const char* text;
  std::vector<std::pair<Kind, std::string>> found;
};

TEST(Words, WhatAShellWouldActOnIsReported) {
  const Operators rows[] = {
      {"a | b", {{Kind::pipe, "|"}}},
      {"a|b", {{Kind::pipe, "|"}}},
      {"a || b", {{Kind::sequence, "||"}}},
      {"a && b", {{Kind::sequence, "&&"}}},
      {"a; b", {{Kind::sequence, ";"}}},
      {"a &", {{Kind::background, "&"}}},
      {"a &&& b", {{Kind::sequence, "&&"}, {Kind::background, "&"}}},
      {"a > b", {{Kind::redirect, ">"}}},
      {"a 2>&1", {{Kind::redirect, ">"}, {Kind::background, "&"}}},
      {"a >> b", {{Kind::redirect, ">>"}}},
      {"a < b", {{Kind::redirect, "<"}}},
      {"a << EOF", {{Kind::heredoc, "<<"}}},
      {"a $HOME", {{Kind::expansion, "$"}}},
      {"a $(b)", {{Kind::expansion, "$"}, {Kind::group, "("}, {Kind::group, ")"}}},
      {"a `b`", {{Kind::expansion, "`"}, {Kind::expansion, "`"}}},
      {"ls *.py", {{Kind::glob, "*"}}},
      {"ls a?", {{Kind::glob, "?"}}},
      {"ls [ab]", {{Kind::glob, "["}}},
      {"ls ~", {{Kind::home, "~"}}},
      {"ls ~/x", {{Kind::home, "~"}}},
      {"A=1 ls", {{Kind::assignment, "A="}}},
      {"A=1", {{Kind::assignment, "A="}}},
      {"mkdir {src,tests}/unit", {{Kind::braces, "{"}}},
      {"mkdir a{b,'c d'}", {{Kind::braces, "{"}}},
      {"echo {1..3}", {{Kind::braces, "{"}}},
      {"echo {a{b,c}", {{Kind::braces, "{"}}},
      {"echo {$x,{c,d}}", {{Kind::braces, "{"}, {Kind::expansion, "$"}, {Kind::braces, "{"}}},
      {"ls -la # list", {{Kind::comment, "#"}}},
      {"#", {{Kind::comment, "#"}}},
      {"(ls)", {{Kind::group, "("}, {Kind::group, ")"}}},
      {"a \"$HOME\"", {{Kind::expansion, "$"}}},  // which a shell expands there as well
      {"a \"`b`\"", {{Kind::expansion, "`"}, {Kind::expansion, "`"}}},
      // And what is data.
      {"echo '|' \"&&\" \\; '$x' '`b`' \"\\$x \\`b\\`\" '*' \\~ '~'", {}},
      {"echo a=b HEAD~1 x~", {}},
      {"find . -exec cat {} +", {}},
      {"git show stash@{0} HEAD@{1}..HEAD a{b} {a.b} {a,b a,b} {a',b'} \\{a,b} {a\\,b} '{a,b}' \"{a,b}\"",
       {}},
      {"echo a#b \\#c '#d' \"#e\" ''#f", {}},
      {"'A'=1 ls", {}},
      {"A\\=1 ls", {}},
      {"1A=1 ls", {}},
      {"--a=1 ls", {}},
  };
  for (const auto& row : rows) {
    std::vector<std::pair<Kind, std::string>> found;
    for (const auto& seen : split_words(row.text).operators) found.emplace_back(seen.kind, seen.text);
    EXPECT_EQ(found, row.found) << row.text;
  }
}

TEST(Words, WhatAShellMayReadIsToldFromWhatNothingMay) {
  for (const char* text : {"echo 'a\tb'", "echo \"a\tb\" | cat", "printf a\\\tb"})
    EXPECT_TRUE(has_tab_in_word(text)) << text;
  for (const char* text : {"echo\ta", "ls", "echo 'a\tb", "ls 'a\tb' \u202e", "ls 'a\tb\n'"})
    EXPECT_FALSE(has_tab_in_word(text)) << text;
  for (const char* text : {"ls\r\nls", "ls\r", "a\r\nb\r\n", "a\nb"}) {
    EXPECT_TRUE(has_lines(text)) << text;
    EXPECT_EQ(problem_of_lines(text), "") << text;
  }
  for (const char* text : {"echo good\rrm x\n", "a\r\r\nb"}) EXPECT_NE(problem_of_lines(text), "") << text;
}

TEST(Words, WhatIsShownHidesNothing) {
  EXPECT_EQ(shown("plain \xc3\xa4"), "plain \xc3\xa4");
  EXPECT_EQ(shown("a\nb\x1b[0m"), "a\\u{a}b\\u{1b}[0m");
  EXPECT_EQ(shown("a\0b"s), "a\\u{0}b");
  EXPECT_EQ(shown("\xe2\x80\xae"), "\\u{202e}");
  EXPECT_EQ(shown("\xff"
                  "a"),
            "\\u{ff}a");
  EXPECT_EQ(shown("\u2028\u206a\U000e0041"), "\\u{2028}\\u{206a}\\u{e0041}");
  EXPECT_EQ(shown("abcdef", 3), "abc...");
  EXPECT_EQ(shown("abc", 3), "abc");
}

std::string random_text(std::mt19937& random, const std::vector<std::string>& pieces, size_t most) {
  std::string text;
  for (size_t n = random() % most; n > 0; --n) text += pieces[random() % pieces.size()];
  return text;
}

const std::vector<std::string> pieces = {"a",   "b",        "c",  "x",   " ", "  ", "\t", "'", "'", "\"",
                                         "\"",  "\\",       "\\", "\\'", "$", "=",  "A=", "~", "#", "|",
                                         "&",   ";",        ">",  "<",   "*", "?",  "[",  "]", "-", "--",
                                         "/..", "\xc3\xa4", "{",  ",",   "(", ")",  "`",  "!"};

// A call has one verdict, whether it was sent as cmd or as argv.
TEST(Words, QuotingAndSplittingAreInverse) {
  std::mt19937 random(7);
  for (int round = 0; round < 20'000; ++round) {
    Words argv;
    for (size_t n = 1 + random() % 5; n > 0; --n) argv.push_back(random_text(random, pieces, 8));
    if (argv[0].empty()) argv[0] = "p";
    const std::string text = quote_words(argv);
    const SplitWords split = split_words(text);
    ASSERT_EQ(split.problem, problem_of(argv)) << text;
    ASSERT_EQ(split.problem.empty(), text.find('\t') == std::string::npos) << text;
    if (!split.problem.empty()) continue;
    ASSERT_EQ(split.words, argv) << text;
    ASSERT_TRUE(split.operators.empty()) << text;
    ASSERT_EQ(quote_words(split.words), text);
  }
}

// What a file is called does nothing in a shell.
TEST(Words, ToCopyAreTheWordsThemselves) {
  EXPECT_EQ(words_to_copy({"chmod", "u+rx", "/w/plain"}), "chmod u+rx /w/plain");
  EXPECT_EQ(words_to_copy({"chmod", "u+rx", "/w/x; touch HACKED #"}), "chmod u+rx '/w/x; touch HACKED #'");
  EXPECT_EQ(words_to_copy({"--ro", "/w/a\nb"}).find('\n'), std::string::npos);
  EXPECT_EQ(commands_for_one_name("/w/plain"), "cp -p /w/plain /w/plain.new && mv /w/plain.new /w/plain");
  EXPECT_EQ(commands_for_one_name("/w/x; touch HACKED #"),
            "cp -p '/w/x; touch HACKED #' '/w/x; touch HACKED #.new' && "
            "mv '/w/x; touch HACKED #.new' '/w/x; touch HACKED #'");
}

// What `python3 -c script` says to `input`, through two files: nothing here may hang on a full pipe.
std::string python_says(const std::string& script, const std::string& input) {
  char in[] = "/var/tmp/cloche-words-in-XXXXXX";
  char out[] = "/var/tmp/cloche-words-out-XXXXXX";
  const OwnedFd in_fd(::mkstemp(in));
  const OwnedFd out_fd(::mkstemp(out));
  EXPECT_TRUE(sys::write_all(in_fd.get(), input).ok());
  ::lseek(in_fd.get(), 0, SEEK_SET);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(in_fd.get(), 0);
    ::dup2(out_fd.get(), 1);
    ::execl("/usr/bin/python3", "python3", "-I", "-c", script.c_str(), nullptr);
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  auto text = sys::read_file(out, 64 << 20);
  ::unlink(in);
  ::unlink(out);
  return text.ok() ? text.value() : "";
}

std::string as_line(const SplitWords& split) {
  if (!split.problem.empty()) return "refused\n";
  JsonWriter out;
  out.begin_array();
  for (const auto& word : split.words) out.value(word);
  return out.end_array().text() + "\n";
}

// One JSON string a line in, one JSON array or "refused" a line out. A backslash before $ or ` within double
// quotes is the shell's to know, and not shlex's. Where shlex has no opinion (no words at
// all, an empty program) or takes a tab for data, we refuse.
TEST(Words, AgreesWithShlexOnAGeneratedCorpus) {
  if (::access("/usr/bin/python3", X_OK) != 0) GTEST_SKIP() << "skipped: no /usr/bin/python3";
  constexpr const char* script =
      "import json, shlex, sys\n"
      "for line in sys.stdin:\n"
      "  try:\n"
      "    words = shlex.split(json.loads(line))\n"
      "    good = words and words[0] and not any('\\t' in word for word in words)\n"
      "    print(json.dumps(words, ensure_ascii=False, separators=(',', ':')) if good else 'refused')\n"
      "  except ValueError:\n"
      "    print('refused')\n";
  std::mt19937 random(20'26);
  std::string corpus;
  std::string ours;
  for (int round = 0; round < 40'000; ++round) {
    const std::string text = random_text(random, pieces, 16);
    if (text.find("\\$") != std::string::npos || text.find("\\`") != std::string::npos) continue;
    corpus += json_quote(text) + "\n";
    ours += as_line(split_words(text));
  }
  const std::string theirs = python_says(script, corpus);
  EXPECT_EQ(ours.size(), theirs.size());
  EXPECT_TRUE(ours == theirs) << "split_words and shlex.split differ";
}

}  // namespace
}  // namespace cloche
