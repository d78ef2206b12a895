#include "policy/gates/bare_word.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

struct WordRow {
  std::string word;
  bool bare;
};

TEST(BareWords, AreNamesAndNothingElse) {
  const WordRow rows[] = {
      {"T-001", true},
      {"c-0001", true},
      {"r-20261115-223015-ab12", true},
      {"a", true},
      {"a.b_c-D9", true},
      {"-x", true},
      {std::string(64, 'a'), true},
      {std::string(65, 'a'), false},
      {"", false},
      {".", false},
      {"..", false},
      {".hidden", false},
      {"a/b", false},
      {"/", false},
      {"a b", false},
      {"a\n", false},
      {std::string("a\0b", 3), false},
      {"\xc3\xa9", false},
      {"a:b", false},
      {"~", false},
  };
  for (const auto& [word, bare] : rows) {
    EXPECT_EQ(is_bare_word(word), bare) << word;
    EXPECT_EQ(check_run_id(word).ok(), bare) << word;
    EXPECT_EQ(check_call_id(word).ok(), bare) << word;
    EXPECT_EQ(check_task_id(word).ok(), bare) << word;
  }
  EXPECT_TRUE(check_call_id("a.jsonl").ok());
  EXPECT_FALSE(check_task_id("a.jsonl").ok()) << "it would stand where the transcript of task a is";
}

}  // namespace
}  // namespace cloche
