// Each thing once per call: how many system calls Cloche itself makes for one, as a budget. What its children
// do is not counted. A step that looks at something again shows here; a budget goes down with what was saved,
// and up only with a reason in the commit.
#include <gtest/gtest.h>

#include <iostream>
#include <set>
#include <sstream>

#include "harness/harness.hpp"

namespace cloche::test {
namespace {

struct Counts {
  int all = 0;
  int opens = 0;  // openat and openat2
  int stats = 0;  // whatever asks what a path or a descriptor is
};

std::string shown(const Counts& counts) {
  return std::to_string(counts.all) + " system calls, " + std::to_string(counts.opens) + " to open, " +
         std::to_string(counts.stats) + " to look";
}

// Lines of strace: NAME(ARGUMENTS) = RESULT.
Counts counted(const std::string& trace) {
  const std::set<std::string> opening = {"open", "openat", "openat2"};
  const std::set<std::string> looking = {"stat",      "fstat",      "lstat",    "newfstatat",
                                         "statx",     "statfs",     "fstatfs",  "access",
                                         "faccessat", "faccessat2", "readlink", "readlinkat"};
  Counts counts;
  std::istringstream lines(trace);
  for (std::string line; std::getline(lines, line);) {
    const size_t bracket = line.find('(');
    if (bracket == std::string::npos || line.starts_with("+++")) continue;
    const std::string name = line.substr(0, bracket);
    ++counts.all;
    if (opening.count(name) != 0) ++counts.opens;
    if (looking.count(name) != 0) ++counts.stats;
  }
  return counts;
}

class SystemCallBudget : public testing::TestWithParam<As> {
 protected:
  void SetUp() override {
    for (const char* name : {"README", "a.py", "src/b.py", "src/c.py"})
      scene.write(std::string("workspace/") + name, "text\n");
    scene.write("home/.profile", "");
    const std::string commit =
        "git init -q && git add . && git -c user.name=t -c user.email=t@t commit -qm t";
    const Ran made = run_as({"/bin/sh", "-c", commit});
    ASSERT_EQ(made.exit_code, 0) << made.err;
  }
  Ran run_as(const std::vector<std::string>& argv) const {
    return run({.argv = argv,
                .as = GetParam(),
                .cwd = scene.workspace(),
                .env = {{"HOME", (scene.root() / "home").string()}}});
  }

  // The first time proves the box and makes what is kept. Of the others the one with the fewest calls: now
  // and then a call also removes what killed ones have left.
  Counts count(std::vector<std::string> words) const {
    words.insert(words.begin(), cloche());
    EXPECT_EQ(run_as(words).exit_code, 0);
    const std::string trace = (scene.root() / "home/trace").string();
    words.insert(words.begin(), {"strace", "-qq", "-e", "signal=none", "-o", trace});
    Counts least;
    for (int times = 0; times < 3; ++times) {
      const Ran ran = run_as(words);
      EXPECT_EQ(ran.exit_code, 0) << ran.err;
      const Counts counts = counted(read_file(trace));
      if (times == 0 || counts.all < least.all) least = counts;
    }
    return least;
  }

  static void expect_within(const std::string& what, const Counts& counts, const Counts& budget) {
    std::cout << what << " as " << name_of(GetParam()) << ": " << shown(counts) << "\n";
    EXPECT_GT(counts.all, 100) << "this cannot be all of it";
    EXPECT_LE(counts.all, budget.all);
    EXPECT_LE(counts.opens, budget.opens);
    EXPECT_LE(counts.stats, budget.stats);
  }

  Scene scene{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Everyone, SystemCallBudget, testing::ValuesIn(identities()),
                         [](const auto& given) { return name_of(given.param); });

TEST_P(SystemCallBudget, OfACommand) {
  expect_within("run -- true", count({"run", "--", "true"}), {.all = 1000, .opens = 220, .stats = 380});
}

TEST_P(SystemCallBudget, OfAToolCall) {
  expect_within("call run_shell", count({"call", "run_shell", R"({"argv": ["ls"]})"}),
                {.all = 1080, .opens = 236, .stats = 382});
}

TEST_P(SystemCallBudget, OfAFileThatIsRead) {
  expect_within("call read_artifact", count({"call", "read_artifact", R"({"path": "README"})"}),
                {.all = 340, .opens = 52, .stats = 140});
}

}  // namespace
}  // namespace cloche::test
