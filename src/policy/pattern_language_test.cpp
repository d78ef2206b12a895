// What is said of patterns is what RE2 does with them.
#include "policy/pattern_language.hpp"

#include <gtest/gtest.h>

#include <random>

#include "policy/pattern.hpp"

namespace cloche {
namespace {

using Answer = TextSearch::Answer;

TextSearch search(const std::vector<std::string>& matching, const std::vector<std::string>& failing = {},
                  size_t effort = 1'000'000) {
  std::vector<PatternLanguage> languages;
  for (const auto* list : {&matching, &failing}) {
    for (const auto& pattern : *list) {
      auto language = read_pattern(pattern);
      if (!language) return {};
      languages.push_back(*std::move(language));
    }
  }
  std::vector<const PatternLanguage*> all;
  for (const auto& language : languages) all.push_back(&language);
  const std::span<const PatternLanguage* const> span(all);
  return find_text(span.first(matching.size()), span.subspan(matching.size()), effort);
}

// What the automaton says of one text: the text itself is a pattern too.
Answer matches(const std::string& pattern, const std::string& text) {
  return search({pattern, "\\A" + RE2::QuoteMeta(text) + "\\z"}).answer;
}

bool by_re2(const std::string& pattern, const std::string& text) {
  const auto compiled = compile_pattern(pattern, Dot::matches_newline);
  EXPECT_TRUE(compiled.ok()) << pattern;
  return compiled.ok() && found_in(*compiled.value(), text);
}

const std::vector<std::string> texts = {"",         "a",
                                        "b",        "ab",
                                        "ba",       "abc",
                                        "aab",      "A",
                                        "K",        "\u212a",
                                        "s",        "\u017f",
                                        "git push", "git",
                                        "a b",      "a\nb",
                                        "\n",       "0",
                                        "_",        "a_1",
                                        "-",        "]",
                                        "^",        "$",
                                        "a{2}",     "{",
                                        "rm -rf /", "\u00e9",
                                        "x\u2602y", "'a b'",
                                        "a|b",      "(a)",
                                        ".",        std::string("\0", 1),
                                        "\t",       "\v"};

TEST(PatternLanguage, AgreesWithRe2) {
  const char* const patterns[] = {"",
                                  "a",
                                  "^a",
                                  "a$",
                                  "^a$",
                                  "^$",
                                  "a|b",
                                  "(a|b)c?",
                                  "a*b",
                                  "a+b",
                                  "a{2}b",
                                  "a{1,2}b",
                                  "a{0}b",
                                  "a{2,}",
                                  "a{,2}",
                                  "a{x",
                                  "{",
                                  ".",
                                  "^.$",
                                  "^..$",
                                  "[ab]",
                                  "[^ab]",
                                  "[]]",
                                  "[^]]",
                                  "[a-c]$",
                                  "[-a]",
                                  "[a-]",
                                  "[\\]]",
                                  "[\\d_]",
                                  "[[:alpha:]]",
                                  "[[:^alpha:]]",
                                  "[[:space:]]",
                                  "\\d",
                                  "\\D",
                                  "\\s",
                                  "\\S",
                                  "\\w",
                                  "\\W",
                                  "\\ba\\b",

                                  "\\b",

                                  "\\Aa\\z",
                                  "(?i)a",
                                  "(?i)k",
                                  "(?i)S$",
                                  "(?i)[^k]",
                                  "(?i)[a-z]",
                                  "(?i:A)b",
                                  "(?:a|)b",
                                  "(?P<x>a)b",
                                  "(?s).",
                                  "(?U)a+b",
                                  "\\x41",
                                  "\\x{e9}",
                                  "\\n",
                                  "\\t",
                                  "\\v",
                                  "\\$",
                                  "\\^",
                                  "\\.",
                                  "\\|",
                                  "a^b",
                                  "$a",
                                  "a$b",
                                  "(a$)?b",
                                  "(^a)*b",
                                  "^*a",
                                  "(a|b)*$",
                                  "(a*)*b",
                                  "((a?)+)+$",
                                  "\u00e9",
                                  "[\u00e0-\u00ff]",
                                  "[^\\x00-\\x{10ffff}]",
                                  "a(?i)B|A",
                                  "x.y",
                                  "^git (push|pull)",
                                  "rm\\s+-rf|sudo",
                                  "^'",
                                  "(a(?i)b)A"};
  for (const std::string pattern : patterns) {
    for (const auto& text : texts) {
      const Answer wanted = by_re2(pattern, text) ? Answer::found : Answer::none;
      EXPECT_EQ(matches(pattern, text), wanted) << pattern << " on " << text;
    }
  }
}

TEST(PatternLanguage, AgreesWithRe2OnPatternsNobodyThoughtOf) {
  const std::vector<std::string> pieces = {"a", "b",     ".",   "[ab]", "[^a]", "\\w", "\\W", "^",
                                           "$", "\\b",   "\\B", "(",    ")",    "|",   "*",   "+",
                                           "?", "{0,2}", " ",   "(?i)", "A",    "\\n"};
  std::mt19937 random(7);  // the same patterns every time
  size_t tried = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string pattern;
    for (size_t length = random() % 9; length > 0; --length) pattern += pieces[random() % pieces.size()];
    const auto compiled = compile_pattern(pattern, Dot::matches_newline);
    if (!compiled.ok()) continue;
    const std::string& text = texts[random() % texts.size()];
    const Answer answer = matches(pattern, text);
    if (answer == Answer::unknown) continue;
    ++tried;
    ASSERT_EQ(answer == Answer::found, found_in(*compiled.value(), text)) << pattern << " on " << text;
  }
  EXPECT_GT(tried, 3000U);
}

TEST(PatternLanguage, WhatItFindsIsATextThatRe2Matches) {
  for (const std::string pattern :
       {"^git (push|pull)$", "a{3}[^a]\\b", "\\bx", "(?i)sudo", "[\u00e0-\u00ff]$"}) {
    const TextSearch found = search({pattern});
    ASSERT_EQ(found.answer, Answer::found) << pattern;
    EXPECT_TRUE(by_re2(pattern, found.text)) << pattern << " on " << found.text;
  }
  EXPECT_EQ(search({"^a{3}$"}).text, "aaa");
}

TEST(PatternLanguage, ComparesWhatPatternsMatch) {
  struct Row {
    const char* wide;
    const char* narrow;
    Answer counterexample;
  };
  const Row rows[] = {
      {"^git ", "^git push", Answer::none},
      {"^git push", "^git ", Answer::found},
      {"a.c", "abc", Answer::none},
      {"^(git|ls)\\b", "^ls$", Answer::none},
      {"[a-z]", "x", Answer::none},
      {"(?i)sudo", "SUDO", Answer::none},
      {"sudo", "(?i)sudo", Answer::found},
      {".*", "", Answer::none},
      {"^", "rm", Answer::none},
      {"rm|sudo", "sudo rm", Answer::none},
      {"\\brm\\b", "^rm ", Answer::none},
      {"\\brm\\b", "rm", Answer::found},
      {"^.{0,3}$", "^ab?$", Answer::none},
      {"x", "[^\\x00-\\x{10ffff}]", Answer::none},
      {"(?m)^a", "^a", Answer::unknown},
      {"\\pL", "a", Answer::unknown},
      {"\\Ba", "a", Answer::unknown},
      {"a(?i)*b", "b", Answer::unknown},
      {"\\Qa.b\\E", "a.b", Answer::unknown},
  };
  for (const auto& row : rows)
    EXPECT_EQ(search({row.narrow}, {row.wide}).answer, row.counterexample)
        << row.wide << " and " << row.narrow;
}

TEST(PatternLanguage, GivesUpInsteadOfTryingForEver) {
  EXPECT_EQ(search({"(a|b)*a(a|b){4}$"}, {"x"}, 100'000).answer, Answer::found);
  EXPECT_EQ(search({"(a|b)*a(a|b){14}$"}, {"^(a|b)*a(a|b){14}$"}, 10'000).answer, Answer::unknown);
  EXPECT_FALSE(read_pattern("((a{100}){100}){10}"));
  EXPECT_FALSE(read_pattern(std::string(5000, '(')));
}

}  // namespace
}  // namespace cloche
