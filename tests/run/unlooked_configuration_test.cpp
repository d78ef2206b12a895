// The project's configuration after a call whose Cloche was killed: what a command may have made is read by
// nobody, and what was there before is read as ever.
#include "run/fixture.hpp"

namespace cloche::test {
namespace {

constexpr const char* planted =
    R"(mkdir .cloche; echo '{"autonomy": ' > .cloche/config.json; echo > .envrc; echo > made)";

class Unlooked : public Run {
 protected:
  Ran asked(const std::vector<std::string>& words) const {
    Command command = under({}, {});
    command.argv = {cloche()};
    command.argv.insert(command.argv.end(), words.begin(), words.end());
    return run(command);
  }
  void expect_taken_once(const Ran& first) const {
    EXPECT_TRUE(exited(first, 125));
    EXPECT_TRUE(contains(first.err, "came while a call ran there whose Cloche was killed")) << first.err;
    EXPECT_TRUE(contains(first.err, "quarantined as well: .envrc")) << first.err;
    EXPECT_TRUE(contains(first.err, "Nothing was run")) << first.err;
    EXPECT_FALSE(is_there(".cloche"));
    EXPECT_FALSE(is_there(".envrc"));
    EXPECT_FALSE(is_there("ran"));
  }
};
FOR_EVERYONE(Unlooked);

TEST_P(Unlooked, APlantedOneIsTakenAwayBeforeAnythingRuns) {
  for (const std::vector<std::string>& flags : {std::vector<std::string>{}, {"--isolation", "subprocess"}}) {
    killed_after(planted, "made", flags);
    expect_taken_once(cloche_shell(flags, "touch ran"));
    EXPECT_TRUE(exited(cloche_shell(flags, "rm made"), 0));
  }
}

TEST_P(Unlooked, ACallTakesItAwayToo) {
  killed_after(planted, "made");
  const std::vector<std::string> call = {"call", "run_shell", R"({"argv": ["touch", "ran"]})", "--commands",
                                         "any"};
  expect_taken_once(asked(call));
  EXPECT_TRUE(exited(asked(call), 0));
}

// Whoever only asks changes nothing, and is not told what it says either.
TEST_P(Unlooked, NobodyReadsIt) {
  killed_after(planted, "made");
  for (const std::vector<std::string>& words : {std::vector<std::string>{"explain", "run", "--", "true"},
                                                {"config"},
                                                {"run", "--dry-run", "--", "true"}}) {
    const Ran ran = asked(words);
    EXPECT_TRUE(exited(ran, 125));
    EXPECT_TRUE(contains(ran.err, "and it is not read")) << ran.err;
  }
  EXPECT_TRUE(is_there(".cloche"));
}

TEST_P(Unlooked, OneThatWasThereBeforeIsItsOwnersToEdit) {
  file(".cloche/config.json", R"({"limits": {"timeout": "50s"}})");
  killed_after("echo > made", "made");
  file(".cloche/config.json", R"({"limits": {"timeout": "40s"}})");
  const Ran ran = cloche_shell({}, "cat .cloche/config.json");
  EXPECT_TRUE(exited(ran, 0));
  EXPECT_TRUE(contains(ran.out, "40s")) << ran.out;
  EXPECT_TRUE(is_there(".cloche/config.json"));
}

// Nothing is read from it, and so it is just another member of the protected set.
TEST_P(Unlooked, OneWithoutAFileIsTakenByTheNextCommand) {
  killed_after("mkdir .cloche; echo > made", "made");
  const Answer next = answer({}, {"true"});
  EXPECT_TRUE(exited(next.ran, 0));
  ASSERT_EQ(next.json["quarantined"].array.size(), 1U);
  EXPECT_EQ(next.json["quarantined"].array[0]["path"].string, ".cloche");
}

}  // namespace
}  // namespace cloche::test
