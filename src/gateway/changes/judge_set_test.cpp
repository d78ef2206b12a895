// What is judged is what comes in: a set of which a part is withheld, over real trees.
#include "gateway/changes/judge_set.hpp"

#include <gtest/gtest.h>

#include "store/changes/change_facts_fixture.hpp"

namespace cloche {
namespace {

JudgedChanges judge_as_a_call(const Project& project) {
  return project.with_layers([&](const std::vector<TreeLayers>& layers, const GitSources& git) {
    return std::move(judge_set(project.set(), layers, git, {})).value();
  });
}

// A repository without a configuration; the call writes one and takes `refs` away, by which it would be no
// repository. But the one file in there is moved to where it is withheld, and so stays.
constexpr const char* half_repository =
    "git init -q --bare store; rm -r store/config store/hooks store/info store/refs/tags; git -C . init -q "
    ".; "
    "echo 1234 > store/refs/heads/main";
constexpr const char* writes_config =
    "cp -p store/refs/heads/main .envrc; rm -r store/refs; printf '[core]\n\tfsmonitor = ./x\n' > "
    "store/config";

TEST(JudgeSet, WhatIsLeftIsJudgedBesideWhatStays) {
  Project project;
  project.run(half_repository);
  project.begin();
  project.run(writes_config);
  project.end();
  // The control: beside all that the call did, the configuration is a file like any other.
  const JudgedChanges at_once = project.judge();
  const auto withheld = paths_with(project.set(), at_once, Fate::withheld);
  EXPECT_EQ(std::count(withheld.begin(), withheld.end(), "store/config"), 0);
  EXPECT_EQ(std::count(withheld.begin(), withheld.end(), ".envrc"), 1);
  const JudgedChanges judged = judge_as_a_call(project);
  const auto then = paths_with(project.set(), judged, Fate::withheld);
  EXPECT_EQ(std::count(then.begin(), then.end(), "store/config"), 1) << reasons_of(project.set(), judged);
}

TEST(JudgeSet, WhatPassesWholeIsJudgedOnce) {
  Project project;
  project.run(repository);
  project.begin();
  project.run("echo c > c; git add c; git commit -qm two");
  project.end();
  EXPECT_EQ(reasons_of(project.set(), judge_as_a_call(project)), "");
}

// The directory around the repository is asked about as well, because that stays.
TEST(JudgeSet, TheQuestionIsAboutTheRepositoryItself) {
  Project project;
  project.run("git init -q clone; cd clone; echo a > a; git add a; git commit -qm one");
  project.begin();
  project.run("rm -rf clone");
  project.end();
  const JudgedChanges judged = judge_as_a_call(project);
  ASSERT_EQ(paths_with(project.set(), judged, Fate::asked).front(), "clone");
  const ChangeVerdict* question = most_telling_question(judged.verdicts);
  ASSERT_NE(question, nullptr);
  EXPECT_EQ(question->reason, "it deletes a repository with its history");
  EXPECT_EQ(most_telling_question({{.fate = Fate::committed}, {.fate = Fate::withheld}}), nullptr);
  EXPECT_NE(most_telling_question({judged.verdicts.front()}), nullptr)
      << "one that follows is a question too";
}

TEST(JudgeSet, TheRestOfASetWithAHookPasses) {
  Project project;
  project.run(repository);
  project.begin();
  project.run("echo x > .git/hooks/pre-commit; echo c > c; git add c; git commit -qnm two");
  project.end();
  const JudgedChanges judged = judge_as_a_call(project);
  EXPECT_EQ(paths_with(project.set(), judged, Fate::withheld),
            (std::vector<std::string>{".git/hooks/pre-commit"}));
  EXPECT_FALSE(judged.stage);
}

}  // namespace
}  // namespace cloche
