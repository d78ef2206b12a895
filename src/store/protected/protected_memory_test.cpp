// What an earlier look remembers of a tree spares reading it again, and hides nothing.
#include "store/protected/protected_walk_fixture.hpp"

namespace cloche {
namespace {

struct MemoryRow {
  const char* what;
  std::function<void(Tree&)> command;
  std::vector<std::string> suspects;
};

// In a tree of q/w/e/r/t with a file in each, and o/p with an old .npmrc in p; nothing else of the set.
const MemoryRow memory_rows[] = {
    {"nothing", [](Tree&) {}, {}},
    {"in a quiet directory", [](Tree& t) { t.write("q/w/e/.envrc"); }, {"q/w/e/.envrc"}},
    {"in the deepest", [](Tree& t) { t.write("q/w/e/r/t/.ENVRC"); }, {"q/w/e/r/t/.ENVRC"}},
    {"in a new one deep down", [](Tree& t) { t.write("q/w/e/n/m/.envrc"); }, {"q/w/e/n/m/.envrc"}},
    {"a name by a second link", [](Tree& t) { t.hard_link("q/file", "q/w/.envrc"); }, {"q/w/.envrc"}},
    {"an old file that has such a name now",
     [](Tree& t) { t.move("q/w/file", "q/w/.envrc"); },
     {"q/w/.envrc"}},
    {"a quiet directory that is a member now",
     [](Tree& t) { t.move("q/w/e", "q/w/.vscode"); },
     {"q/w/.vscode"}},
    {"a quiet one on the way to a member",
     [](Tree& t) {
       t.move("q/w/e", "q/w/git");
       t.move("q/w", "q/.config");
     },
     {"q/.config/git"}},
    {"a quiet one that was moved away",
     [](Tree& t) {
       t.move("q/w", "z");
       t.write("z/e/.envrc");
     },
     {"z/e/.envrc"}},
    {"moved away and back",
     [](Tree& t) {
       t.move("q/w", "z");
       t.write("z/e/.envrc");
       t.move("z", "q/w");
     },
     {"q/w/e/.envrc"}},
    {"another in its place",
     [](Tree& t) {
       t.write("n/.envrc");
       t.exchange("n", "q/w");
     },
     {"q/w/.envrc"}},
    {"exchanged below",
     [](Tree& t) {
       t.write("n/.vscode/tasks.json");
       t.exchange("n/.vscode", "q/w/e");
     },
     {"n/.vscode"}},
    {"a file in the place of a directory, and the directory under its name",
     [](Tree& t) { t.exchange("q/w/file", "q/w/e"); },
     {}},
    {"a repository",
     [](Tree& t) {
       t.repository("q/w/e/bare");
       t.write("q/w/e/bare/hooks/pre-commit");
     },
     {"q/w/e/bare/hooks/pre-commit"}},
    {"a quiet one that becomes a repository",
     [](Tree& t) {
       t.make("q/w/e/objects");
       t.make("q/w/e/refs");
       t.write("q/w/e/HEAD", "ref: refs/heads/main\n");
       t.write("q/w/e/config", evil_config);
     },
     {"q/w/e/config"}},
    {"its time of modification set back",
     [](Tree& t) {
       const auto then = std::filesystem::last_write_time(t.at("q/w/e"));
       t.write("q/w/e/.envrc");
       std::filesystem::last_write_time(t.at("q/w/e"), then);
     },
     {"q/w/e/.envrc"}},
    {"an old member, changed in its place", [](Tree& t) { t.write("o/p/.npmrc", "y\n"); }, {"o/p/.npmrc"}},
    {"made and removed again",
     [](Tree& t) {
       t.write("q/w/.envrc");
       std::filesystem::remove(t.at("q/w/.envrc"));
     },
     {}},
    {"a link in the place of a quiet one",
     [](Tree& t) {
       t.write("n/e/.envrc");
       t.move("q/w", "old");
       t.link("../n", "q/w");
     },
     {"n/e/.envrc"}},
    {"a closed directory",
     [](Tree& t) {
       t.write("q/w/e/.envrc");
       ::chmod(t.at("q/w/e").c_str(), 0);
       ::chmod(t.at("q/w").c_str(), 0);
     },
     {"q/w/e/.envrc"}},
};

TEST(ProtectedMemory, WhatIsRememberedHidesNothing) {
  for (const auto& row : memory_rows) {
    Tree tree;
    tree.write("q/w/e/r/t/file");
    for (const char* file : {"q/file", "q/w/file", "q/w/e/file", "q/w/e/r/file", "o/p/.npmrc"})
      tree.write(file);
    Tree::let_the_clock_tick();
    const LookAfter earlier = tree.after({}, change_time_now(), {.fewest_remembered = 1});
    const ChangeTime since = change_time_now();
    row.command(tree);
    const LookAfter found = tree.after({}, since, {.fewest_remembered = 1}, earlier.memory);
    EXPECT_EQ(paths_of(found), row.suspects) << row.what;
    // And what this one remembers hides nothing from the next, which comes in the same tick.
    EXPECT_EQ(paths_of(tree.after({}, since, {}, found.memory)), row.suspects) << row.what;
  }
}

TEST(ProtectedMemory, WhatChangedJustNowIsNotRemembered) {
  for (int i = 0; i < 50; ++i) {
    Tree tree;
    tree.write("q/w/file");
    const ChangeTime since = change_time_now();
    const LookAfter earlier = tree.after({}, since, {.fewest_remembered = 1});
    tree.write("q/w/.envrc");  // mostly in the same tick
    EXPECT_EQ(paths_of(tree.after({}, since, {}, earlier.memory)), std::vector<std::string>{"q/w/.envrc"});
  }
}

TEST(ProtectedMemory, AQuietTreeIsNotReadAgain) {
  Tree tree;
  for (int i = 0; i < 100; ++i) tree.write("q/" + std::to_string(i) + "/file");
  Tree::let_the_clock_tick();
  const LookAfter earlier = tree.after({}, change_time_now());
  // Only the names of the root are counted: nothing else is read.
  const LookAfter found = tree.after({}, change_time_now(), {.names = 1}, earlier.memory);
  EXPECT_EQ(found.gap, "");
  EXPECT_EQ(found.memory, earlier.memory);
  EXPECT_NE(tree.after({}, change_time_now(), {.names = 1}).gap, "");
}

}  // namespace
}  // namespace cloche
