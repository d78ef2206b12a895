#include "store/commit/commit_steps.hpp"

#include <gtest/gtest.h>

#include "store/commit/commit_fixture.hpp"

namespace cloche {
namespace {

struct Row {
  const char* name;
  Model before;
  Model after;
  std::set<std::string> withheld;
  std::vector<std::string> steps;  // "add PATH ENTRIES"
  std::vector<std::string> left;
};

std::vector<std::string> shown_steps(const std::vector<Step>& steps) {
  std::vector<std::string> answer;
  for (const Step& step : steps) {
    answer.push_back(std::string(name_of(step.kind)) + " " + step.path);
    if (step.entries != 1) answer.back() += " " + std::to_string(step.entries);
  }
  return answer;
}

const Model new_tree = {
    {"d", a_directory()}, {"d/a", a_file("a")}, {"d/b", a_directory()}, {"d/b/c", a_file("c")}};

const std::vector<Row> rows = {
    {"a file comes", {}, {{"f", a_file("x")}}, {}, {"add f"}, {}},
    {"a file changes", {{"f", a_file("x")}}, {{"f", a_file("y")}}, {}, {"replace f"}, {}},
    {"only the mode of a file changes",
     {{"f", a_file("x")}},
     {{"f", a_file("x", 0755)}},
     {},
     {"replace f"},
     {}},
    {"a file goes", {{"f", a_file("x")}}, {}, {}, {"remove f"}, {}},
    {"a tree comes by one rename", {}, new_tree, {}, {"add d 4"}, {}},
    {"a tree goes by one rename", new_tree, {}, {}, {"remove d 4"}, {}},
    {"a new tree without one entry",
     {},
     new_tree,
     {"d/a"},
     {"make directory d", "add d/b 2", "settle directory d"},
     {}},
    {"a new tree without an entry deep in it",
     {},
     new_tree,
     {"d/b/c"},
     {"make directory d", "make directory d/b", "add d/a", "settle directory d/b", "settle directory d"},
     {}},
    {"a new directory that is withheld keeps what is in it",
     {},
     new_tree,
     {"d/b"},
     {"make directory d", "add d/a", "settle directory d"},
     {"d/b/c"}},
    {"a deleted tree of which one file stays", new_tree, {}, {"d/b/c"}, {"remove d/a"}, {"d", "d/b"}},
    {"a directory's mode",
     {{"d", a_directory()}},
     {{"d", a_directory(0700)}},
     {},
     {"settle directory d"},
     {}},
    {"deepest first",
     {{"d", a_directory()}, {"d/e", a_directory()}},
     {{"d", a_directory(0500)}, {"d/e", a_directory(0500)}},
     {},
     {"settle directory d/e", "settle directory d"},
     {}},
    {"the root's own mode", {{"", a_directory()}}, {{"", a_directory(0700)}}, {}, {"settle directory "}, {}},
    {"a file becomes a directory", {{"d", a_file("x")}}, new_tree, {}, {"remove d", "add d 4"}, {}},
    {"a file becomes a directory without one entry",
     {{"d", a_file("x")}},
     new_tree,
     {"d/b"},
     {"remove d", "make directory d", "add d/a", "settle directory d"},
     {"d/b/c"}},
    {"a directory becomes a link", new_tree, {{"d", a_link("x")}}, {}, {"remove d 4", "add d"}, {}},
    {"a directory cannot become a link while a file stays",
     new_tree,
     {{"d", a_link("x")}},
     {"d/a"},
     {},
     {"d", "d/b", "d/b/c"}},
    {"a file becomes a link at once", {{"f", a_file("x")}}, {{"f", a_link("x")}}, {}, {"replace f"}, {}},
    {"a name that sorts between a directory and what is in it",
     {},
     {{"d", a_directory()}, {"d-e", a_file("x")}, {"d/f", a_file("x")}},
     {},
     {"add d 2", "add d-e"},
     {}},
    {"everything withheld", {}, new_tree, {"d", "d/a", "d/b", "d/b/c"}, {}, {}},
};

const Model repository = {
    {".git", a_directory()},      {".git/objects", a_directory()},   {".git/objects/old", a_file("x")},
    {".git/refs", a_directory()}, {".git/refs/old", a_file("x")},    {".git/HEAD", a_file("x")},
    {".git/index", a_file("x")},  {".git/packed-refs", a_file("x")}, {"src", a_file("x")}};

TEST(CommitSteps, Table) {
  for (const Row& row : rows) {
    const ChangeSet set = difference(row.before, row.after);
    auto verdicts = all_committed(set);
    for (size_t i = 0; i < verdicts.size(); ++i) {
      if (row.withheld.contains(set.changes[i].path)) verdicts[i].fate = Fate::withheld;
    }
    const CommitSteps planned = plan_steps(set, verdicts);
    EXPECT_EQ(shown_steps(planned.steps), row.steps) << row.name;
    std::vector<std::string> left;
    for (const size_t change : planned.left) left.push_back(set.changes[change].path);
    EXPECT_EQ(left, row.left) << row.name;
  }
}

TEST(CommitSteps, ReferencesComeAfterObjectsAndGoBeforeThem) {
  Model after = repository;
  for (const char* path : {".git/HEAD", ".git/index", ".git/packed-refs", "src"}) after[path].text = "y";
  after.erase(".git/objects/old");
  after.erase(".git/refs/old");
  after[".git/objects/new"] = a_file("x");
  after[".git/refs/new"] = a_file("x");
  const ChangeSet set = difference(repository, after);
  const std::vector<std::string> expected = {
      "add .git/objects/new", "replace src",       "replace .git/index",   "replace .git/packed-refs",
      "add .git/refs/new",    "replace .git/HEAD", "remove .git/refs/old", "remove .git/objects/old"};
  EXPECT_EQ(shown_steps(plan_steps(set, all_committed(set)).steps), expected);
}

// A worktree's or submodule's git directory is a tree of its own.
TEST(CommitSteps, OrderGoesAcrossTrees) {
  ChangeSet set = difference({}, {{"src", a_file("x")}});
  const ChangeSet git = difference({}, {{"HEAD", a_file("x")}, {"objects", a_directory()}}, 1);
  set.trees = {{"/w", 1, 1}, {"/r/.git", 1, 2}};
  set.changes.insert(set.changes.end(), git.changes.begin(), git.changes.end());
  const std::vector<std::string> expected = {"add objects", "add src", "add HEAD"};
  EXPECT_EQ(shown_steps(plan_steps(set, all_committed(set)).steps), expected);
}

TEST(CommitSteps, WithoutVerdictsNothingIsCommitted) {
  EXPECT_TRUE(plan_steps(difference({}, new_tree), {}).steps.empty());
}

}  // namespace
}  // namespace cloche
