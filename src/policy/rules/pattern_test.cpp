// A set of patterns says what each of them says by itself, or that it cannot tell.
#include "policy/rules/pattern.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace cloche {
namespace {

using Patterns = std::vector<std::shared_ptr<const RE2>>;

Patterns compile_all(const std::vector<std::string>& texts) {
  Patterns patterns;
  for (const auto& text : texts) {
    auto compiled = compile_pattern(text, Dot::matches_newline);
    EXPECT_TRUE(compiled.ok()) << text;
    if (compiled.ok()) patterns.push_back(std::move(compiled).value());
  }
  return patterns;
}

std::vector<int> asked_alone(const Patterns& patterns, std::string_view text) {
  std::vector<int> found;
  for (size_t i = 0; i < patterns.size(); ++i)
    if (found_in(*patterns[i], text)) found.push_back(static_cast<int>(i));
  return found;
}

std::optional<std::vector<int>> asked_together(const PatternSet& set, std::string_view text) {
  auto found = set.find(text);
  if (found) std::sort(found->begin(), found->end());
  return found;
}

class Generator {
 public:
  std::string piece() {
    static const char* pieces[] = {"a",          "b",      "ab",     "[a-c]",    "[^a]",    ".",
                                   "\\b",        "\\B",    "^",      "$",        "(?m:^)",  "(?m:$)",
                                   "\\s",        "(?i:K)", "(?i:s)", "\xc3\xbc", "\\pL",    "\\n",
                                   "(?:a{2,3})", "\\z",    "\\A",    "(a|)",     "(?:b|ca)"};
    static const char* counts[] = {"", "", "", "", "*", "+", "?"};
    const std::string one = pick(pieces);
    const bool is_place = one == "^" || one == "$" || one[0] == '\\' || one.starts_with("(?m");
    return is_place ? one : one + pick(counts);
  }
  std::string pattern() {
    std::string text;
    for (size_t left = 1 + below(5); left > 0; --left) text += piece() + (below(9) == 0 ? "|" : "");
    return text;
  }
  std::string text() {
    static const char* letters[] = {"a",      "b",      "c", "k",  "K", "\u212a",
                                    "\u017f", "\u00fc", " ", "\n", "-", "B"};
    std::string text;
    for (size_t left = below(12); left > 0; --left) text += pick(letters);
    return text;
  }
  size_t below(size_t bound) { return random_() % bound; }

 private:
  template <typename List>
  std::string pick(const List& list) {
    return list[below(std::size(list))];
  }
  std::mt19937 random_{11};
};

TEST(PatternSet, SaysWhatEachPatternSays) {
  Generator generate;
  size_t found = 0;
  for (int round = 0; round < 60; ++round) {
    std::vector<std::string> texts;
    for (int i = 0; i < 100; ++i) texts.push_back(generate.pattern());
    const Patterns patterns = compile_all(texts);
    const PatternSet set(patterns);
    for (int asked = 0; asked < 100; ++asked) {
      const std::string text = generate.text();
      const auto together = asked_together(set, text);
      ASSERT_TRUE(together);
      ASSERT_EQ(*together, asked_alone(patterns, text)) << text;
      found += together->size();
    }
  }
  EXPECT_GT(found, 10'000U);
}

// Whatever the memory, an answer is the right one; with too little of it there is none.
TEST(PatternSet, WithoutMemoryItSaysThatItCannotTell) {
  Generator generate;
  size_t right = 0;
  size_t untold = 0;
  for (int64_t bytes = 1000; bytes < 2'000'000; bytes += bytes / 8) {
    std::vector<std::string> texts;
    for (int i = 0; i < 100; ++i) texts.push_back(generate.pattern());
    const Patterns patterns = compile_all(texts);
    const PatternSet set(patterns, bytes);
    for (int asked = 0; asked < 20; ++asked) {
      const std::string text = generate.text();
      const auto together = asked_together(set, text);
      (together ? right : untold) += 1;
      if (together) {
        ASSERT_EQ(*together, asked_alone(patterns, text)) << bytes;
      }
    }
  }
  EXPECT_GT(right, 100U);
  EXPECT_GT(untold, 100U);
}

TEST(PatternSet, LeavesFewPatternsAndLongTextsToEach) {
  const Patterns few = compile_all(std::vector<std::string>(64, "a"));
  EXPECT_FALSE(PatternSet(few).find("a"));
  const Patterns many = compile_all(std::vector<std::string>(65, "[ab]*a[ab]{100}c"));
  const PatternSet set(many);
  EXPECT_EQ(set.find("b"), std::vector<int>());
  EXPECT_FALSE(set.find(std::string(100'000, 'a')));
  EXPECT_FALSE(PatternSet({}).find("a"));
}

// Where RE2 has no memory for its fast way, which is a set's only one.
TEST(Pattern, HasAnAnswerWhereRe2RunsOutOfMemory) {
  std::string written = "[ab]*a[ab]{900}";
  for (int i = 0; i < 30; ++i) written += "(?:x[0-9]{900}y)?";
  const auto pattern = compile_pattern(written + "c$", Dot::matches_newline);
  ASSERT_TRUE(pattern.ok()) << pattern.error().what;
  RE2::Set control(pattern.value()->options(), RE2::UNANCHORED);
  ASSERT_EQ(control.Add(pattern.value()->pattern(), nullptr), 0);
  EXPECT_FALSE(control.Compile());
  std::mt19937 random(3);
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "ab"[random() % 2];
  EXPECT_FALSE(found_in(*pattern.value(), text));
  EXPECT_TRUE(found_in(*pattern.value(), text + "a" + std::string(900, 'b') + "c"));
}

}  // namespace
}  // namespace cloche
