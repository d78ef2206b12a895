// The readings of one argument. What the gate makes of them is in gates_test.cpp.
#include "policy/rules/path_candidates.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace cloche {
namespace {

PathCandidate sure(const std::string& text) { return {text, PathRole::argument}; }
PathCandidate guess(const std::string& text) { return {text, PathRole::guess}; }

TEST(PathCandidates, EveryReadingIsFound) {
  const struct {
    std::string word;
    std::vector<PathCandidate> pieces;
  } rows[] = {
      {"", {}},
      {"a", {sure("a")}},
      {"../x", {sure("../x")}},
      {"-o", {}},
      {"-", {sure("-")}},
      {"-o../x", {sure("../x"), guess("/x")}},
      {"-I/usr", {sure("/usr")}},
      {"-Iinclude/sub", {sure("include/sub"), guess("/sub")}},
      {"-qc/etc", {sure("c/etc"), guess("/etc")}},
      {"-qc../x", {sure("c../x"), sure("../x"), guess("/x")}},
      {"-1/2", {guess("/2")}},
      {"--opt=/etc", {sure("/etc")}},
      {"--opt=a=/etc", {sure("a=/etc"), sure("/etc"), sure("a")}},
      {"--paths=a:/b,c", {sure("a:/b,c"), sure("a"), sure("/b"), sure("c")}},
      {"if=/etc", {sure("if=/etc"), sure("/etc"), sure("if")}},
      {"@/etc/x", {sure("@/etc/x"), sure("/etc/x")}},
      {"+/etc/x", {sure("+/etc/x"), sure("/etc/x")}},
      {"a/c++/x", {sure("a/c++/x")}},
      {"a /b", {sure("a /b"), guess("a"), guess("/b")}},
      {"https://host/x?a=/b", {sure("https://host/x?a=/b")}},
      {"http:///etc", {sure("http:///etc"), guess("///etc")}},
      {"http://h,/etc", {sure("http://h,/etc"), sure("/etc")}},
      {"x://etc", {sure("x://etc"), guess("//etc")}},
      {"git+file:///etc", {sure("git+file:///etc"), sure("/etc")}},
      {"--url=FILE://h/etc", {sure("FILE://h/etc"), sure("h/etc"), sure("/etc")}},
      {"://etc", {sure("://etc"), sure("//etc")}},
  };
  for (const auto& row : rows) EXPECT_EQ(paths_in(row.word), row.pieces) << row.word;
}

// Overlapping values grow with the square of the word: they are counted, and too many are refused, not cut
// off.
TEST(PathCandidates, AWordOfManyValuesIsRefusedSoon) {
  EXPECT_FALSE(paths_in(std::string(60'000, '=')));
  EXPECT_FALSE(paths_in("-" + std::string(60'000, '=')));
  std::string commas;
  for (int i = 0; i < 5000; ++i) commas += "a" + std::to_string(i) + ",";
  EXPECT_FALSE(paths_in(commas));
  EXPECT_TRUE(paths_in(std::string(60'000, 'x')));
  std::string addresses;
  for (int i = 0; i < 10'000; ++i) addresses += "a://b,";
  EXPECT_TRUE(paths_in(addresses)) << "one piece, however often it stands there";
}

// Whatever surrounds it, a path behind a separator is judged as the path that it is.
TEST(PathCandidates, APathBehindASeparatorIsAlwaysFound) {
  std::mt19937 random(7);
  const std::string letters = "ab/.-+~x1";
  const std::string cuts = "=,:;@ \t";
  for (int round = 0; round < 20'000; ++round) {
    std::string word;
    for (size_t n = random() % 12; n > 0; --n)
      word += random() % 4 == 0 ? cuts[random() % cuts.size()] : letters[random() % letters.size()];
    word += cuts[random() % cuts.size()];
    word += "/etc/x";
    const auto pieces = paths_in(word);
    ASSERT_TRUE(pieces) << word;
    // After "a:" two slashes more would begin an address.
    const bool found = std::any_of(pieces->begin(), pieces->end(),
                                   [](const PathCandidate& path) { return path.written == "/etc/x"; });
    const bool in_an_address = word.find("://") != std::string::npos;
    EXPECT_TRUE(found || in_an_address) << word;
  }
}

TEST(PathCandidates, Homes) {
  for (const char* text : {"~", "~/x", "~root", "~_x/y"}) EXPECT_TRUE(is_home(sure(text))) << text;
  for (const char* text : {"", "a~", "~1.2", "~-", "./~"}) EXPECT_FALSE(is_home(sure(text))) << text;
  EXPECT_TRUE(is_home(guess("~/x")));
  EXPECT_FALSE(is_home(guess("~"))) << "a sign in a sentence";
}

}  // namespace
}  // namespace cloche
