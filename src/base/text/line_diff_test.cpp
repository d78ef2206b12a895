#include "base/text/line_diff.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <optional>
#include <random>

#include "base/scratch.hpp"

namespace cloche {
namespace {

// What the hunks make of `before`; none where a line of theirs is not the one that stands there.
std::optional<std::string> applied(std::string_view before, const LineDiff& diff) {
  std::string after;
  size_t line = 0;
  const auto take = [&] {
    const size_t end = std::min(before.find('\n'), before.size() - 1) + 1;
    const std::string_view taken = before.substr(0, end);
    before.remove_prefix(end);
    ++line;
    return taken;
  };
  for (const Hunk& hunk : diff.hunks) {
    while (line < hunk.before_first) after += take();
    for (const DiffLine& changed : hunk.lines) {
      const std::string text = std::string(changed.text) + (changed.has_newline ? "\n" : "");
      if (changed.fate != LineFate::added && (before.empty() || take() != text)) return std::nullopt;
      if (changed.fate != LineFate::removed) after += text;
    }
    if (line != hunk.before_first + hunk.before_count) return std::nullopt;
    const auto newlines = static_cast<size_t>(std::count(after.begin(), after.end(), '\n'));
    const size_t lines = newlines + (after.empty() || after.ends_with('\n') ? 0 : 1);
    if (lines != hunk.after_first + hunk.after_count) return std::nullopt;
  }
  return after + std::string(before);
}

// How long the longest common sequence of lines is, by the plain table.
size_t common_lines(const std::string& before, const std::string& after) {
  const auto lines_of = [](const std::string& text) {
    std::vector<std::string> lines;
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
      lines.push_back(text.substr(at, end - at));
      at = end;
    }
    return lines;
  };
  const auto a = lines_of(before);
  const auto b = lines_of(after);
  std::vector<std::vector<size_t>> best(a.size() + 1, std::vector<size_t>(b.size() + 1, 0));
  for (size_t i = a.size(); i-- > 0;)
    for (size_t j = b.size(); j-- > 0;)
      best[i][j] = a[i] == b[j] ? best[i + 1][j + 1] + 1 : std::max(best[i + 1][j], best[i][j + 1]);
  return best[0][0];
}

std::string random_text(std::mt19937& random, size_t letters, size_t most_lines) {
  std::string text;
  const size_t lines = random() % (most_lines + 1);
  for (size_t i = 0; i < lines; ++i) {
    text += static_cast<char>('a' + random() % letters);
    text += '\n';
  }
  if (!text.empty() && random() % 3 == 0) text.pop_back();
  return text;
}

TEST(LineDiff, ReadsAsDiffWritesIt) {
  struct Row {
    std::string before, after, unified;
  };
  const Row rows[] = {
      {"", "", ""},
      {"a\nb\n", "a\nb\n", ""},
      {"", "a\n", "@@ -0,0 +1 @@\n+a\n"},
      {"", "a\nb", "@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n"},
      {"a\nb\n", "", "@@ -1,2 +0,0 @@\n-a\n-b\n"},
      {"a", "a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"},
      {"a\nb", "c\nb", "@@ -1,2 +1,2 @@\n-a\n+c\n b\n\\ No newline at end of file\n"},
      {"1\n2\n3\n4\n5\n", "1\n2\n3\n4\nfive\n", "@@ -2,4 +2,4 @@\n 2\n 3\n 4\n-5\n+five\n"},
      // The lower of two equal places, and the heading is the last line that begins with a letter.
      {"int f()\n {\n 1\n 2\n 3\n 4\n }\n", "int f()\n {\n 1\n 2\n 3\n 4\n 4\n }\n",
       "@@ -4,4 +4,5 @@ int f()\n  2\n  3\n  4\n+ 4\n  }\n"},
      {"\n", "\n\n", "@@ -1 +1,2 @@\n \n+\n"},
  };
  for (const Row& row : rows) EXPECT_EQ(unified_text(diff_lines(row.before, row.after)), row.unified);
}

TEST(LineDiff, JoinsHunksWhoseContextTouches) {
  const auto numbers = [](std::vector<int> changed) {
    std::string text;
    for (int i = 0; i < 30; ++i)
      text += std::to_string(i) + (std::count(changed.begin(), changed.end(), i) != 0 ? "x\n" : "\n");
    return text;
  };
  EXPECT_EQ(diff_lines(numbers({}), numbers({5, 12})).hunks.size(), 1U);
  EXPECT_EQ(diff_lines(numbers({}), numbers({5, 13})).hunks.size(), 2U);
  EXPECT_EQ(diff_lines(numbers({}), numbers({5, 6}), {.context = 0}).hunks.size(), 1U);
}

TEST(LineDiff, TakesBeforeToAfterAndIsShortest) {
  std::mt19937 random(19);
  for (int round = 0; round < 4000; ++round) {
    const size_t letters = 1 + random() % 6;
    const std::string before = random_text(random, letters, 24);
    const std::string after = random_text(random, letters, 24);
    const LineDiff diff = diff_lines(before, after, {.context = random() % 4});
    ASSERT_EQ(applied(before, diff), after) << before << "->\n" << after;
    const auto lines = static_cast<size_t>(std::count(before.begin(), before.end(), '\n')) +
                       (before.empty() || before.ends_with('\n') ? 0 : 1);
    ASSERT_TRUE(diff.is_minimal);
    ASSERT_EQ(lines - diff.removed, common_lines(before, after)) << before << "->\n" << after;
  }
}

TEST(LineDiff, StaysTrueWhenABoundIsReached) {
  std::mt19937 random(20);
  for (int round = 0; round < 2000; ++round) {
    const std::string before = random_text(random, 3, 200);
    const std::string after = random_text(random, 3, 200);
    const DiffBounds bounds{.work = random() % 2000, .differences = random() % 12};
    ASSERT_EQ(applied(before, diff_lines(before, after, bounds)), after);
  }
}

// Two texts of the same few lines in another order are the worst that there is for the search.
TEST(LineDiff, BoundsTheWorkOnHostileText) {
  std::mt19937 random(21);
  std::string before;
  std::string after;
  for (int i = 0; i < 200'000; ++i) {
    before += std::to_string(random() % 1000) + "\n";
    after += std::to_string(random() % 1000) + "\n";
  }
  const DiffBounds bounds{.work = 3'000'000};
  const LineDiff diff = diff_lines(before, after, bounds);
  EXPECT_FALSE(diff.is_minimal);
  EXPECT_LT(diff.work, 2 * bounds.work);
  EXPECT_EQ(200'000 - diff.removed, 200'000 - diff.added);

  // Equal lines slide over each other.
  const std::string same(100'000, '\n');
  EXPECT_EQ(diff_lines(same, same + same).added, 100'000U);
  std::string comb;
  for (int i = 0; i < 50'000; ++i) comb += "x\nx\ny\n";
  std::string teeth;
  for (int i = 0; i < 50'000; ++i) teeth += "x\ny\n";
  EXPECT_LT(diff_lines(comb, teeth).work, 100'000'000U);
}

// Git itself, with the caller's configuration out of the way.
class Git {
 public:
  static bool is_there() { return std::system("git --version >/dev/null 2>&1") == 0; }

  std::string diff(const std::string& before, const std::string& after) {
    std::ofstream(scratch_.path + "/before", std::ios::binary) << before;
    std::ofstream(scratch_.path + "/after", std::ios::binary) << after;
    const std::string command =
        "cd " + scratch_.path +
        " && GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_DIR=/nonexistent git "
        "-c diff.algorithm=minimal diff --no-index "
        "--no-color --text before after";
    FILE* pipe = ::popen(command.c_str(), "r");
    std::string text;
    char piece[4096];
    while (const size_t got = ::fread(piece, 1, sizeof piece, pipe)) text.append(piece, got);
    ::pclose(pipe);
    const size_t hunks = text.find("\n@@ ");
    return hunks == std::string::npos ? "" : text.substr(hunks + 1);
  }

 private:
  Scratch scratch_;
};

TEST(LineDiff, EqualsGit) {
  if (!Git::is_there()) GTEST_SKIP() << "skipped: no git";
  Git git;
  std::mt19937 random(22);
  for (int round = 0; round < 150; ++round) {
    // Lines that are nearly all different, so that one account is the shortest.
    std::string before;
    std::string after;
    const size_t lines = random() % 60;
    for (size_t i = 0; i < lines; ++i) {
      const char* const shapes[] = {"line ", " line ", "_", "\t$ ", "\xc3\xa4 "};
      const std::string line =
          shapes[random() % 5] + std::to_string(i) + (random() % 8 == 0 ? " \r\n" : "\n");
      if (random() % 8 != 0) before += line;
      if (random() % 8 != 0) after += line;
      if (random() % 12 == 0) after += "new " + std::to_string(i) + "\n";
    }
    if (!before.empty() && random() % 4 == 0) before.pop_back();
    if (!after.empty() && random() % 4 == 0) after.pop_back();
    ASSERT_EQ(unified_text(diff_lines(before, after)), git.diff(before, after)) << before << "->\n" << after;
  }
}

TEST(LineDiff, EqualsGitOnRepeatedLines) {
  if (!Git::is_there()) GTEST_SKIP() << "skipped: no git";
  Git git;
  const std::pair<std::string, std::string> rows[] = {
      {"x\nx\n", "x\nx\nx\n"},
      {"a\n{\n}\n\nb\n{\n}\n", "a\n{\n}\n\nc\n{\n}\n\nb\n{\n}\n"},
      {"a\nb\nb\nb\nc\n", "a\nb\nc\n"},
      {"a\nx\nb\nx\nc\n", "a\nx\nc\n"},
      {"1\n2\n2\n3\n", "1\n2\nnew\n2\n3\n"},
      {"q\n\n\n\nr\n", "q\n\nnew\n\n\n\nr\n"},
      {"x\ny\nx\ny\nx\ny\n", "x\ny\n"},
      {"void a() {\n  1;\n}\n\nvoid c() {\n  1;\n}\n",
       "void a() {\n  1;\n}\n\nvoid b() {\n  2;\n}\n\nvoid c() {\n  1;\n}\n"},
      {"def a():\n    if x:\n        y\n\n    return\n",
       "def a():\n    if x:\n        y\n\n    if z:\n        y\n\n    return\n"},
      {"# A\n\ntext\n\n# C\n\ntext\n", "# A\n\ntext\n\n# B\n\ntext\n\n# C\n\ntext\n"},
  };
  for (const auto& [before, after] : rows)
    EXPECT_EQ(unified_text(diff_lines(before, after)), git.diff(before, after)) << before << "->\n" << after;
}

}  // namespace
}  // namespace cloche
