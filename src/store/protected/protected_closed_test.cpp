// What a look cannot open: closed by the command or before it, in one way or another, or when there are no
// descriptors left. Nothing is taken for clean that nobody has seen.
#include <sys/prctl.h>
#include <sys/resource.h>

#include "store/protected/protected_walk_fixture.hpp"

namespace cloche {
namespace {

// To root nothing is closed.
class AsOrdinaryUser {
 public:
  AsOrdinaryUser() {
    if (is_root_) set_user(65534);
  }
  ~AsOrdinaryUser() {
    if (is_root_) set_user(0);
  }
  AsOrdinaryUser(const AsOrdinaryUser&) = delete;
  AsOrdinaryUser& operator=(const AsOrdinaryUser&) = delete;

 private:
  static void set_user(uid_t user) {
    EXPECT_EQ(::seteuid(user), 0);
    EXPECT_EQ(::prctl(PR_SET_DUMPABLE, 1), 0);  // or its own /proc would be root's
  }
  const bool is_root_ = ::geteuid() == 0;
};

class FewDescriptors {
 public:
  explicit FewDescriptors(rlim_t most) {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    const rlimit few{most, before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  }
  ~FewDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

 private:
  rlimit before_{};
};

void close_by(Tree& tree, const std::string& name, mode_t mode) {
  EXPECT_EQ(::chmod(tree.at(name).c_str(), mode), 0);
}

// Without the right to read, to search, to either.
constexpr mode_t closed_modes[] = {0000, 0300, 0400, 0444, 0600, 0200, 0100};

TEST(ProtectedClosed, WhatACommandClosesIsOpenedAgain) {
  const AsOrdinaryUser ordinary;
  for (const mode_t mode : closed_modes) {
    const std::vector<WalkRow> rows = {
        {"what it made",
         {},
         [&](Tree& t) {
           t.write("a/.envrc");
           close_by(t, "a", mode);
         },
         {"a/.envrc"}},
        {"further down",
         [](Tree& t) { t.make("a/b"); },
         [&](Tree& t) {
           t.write("a/b/c/.envrc");
           for (const char* name : {"a/b/c", "a/b", "a"}) close_by(t, name, mode);
         },
         {"a/b/c/.envrc"}},
        {"a member of its own",
         {},
         [&](Tree& t) {
           t.write("a/.vscode/tasks.json");
           close_by(t, "a/.vscode", mode);
         },
         {"a/.vscode"}},
        {"a member that was there",
         [](Tree& t) { t.make("a/.vscode"); },
         [&](Tree& t) {
           t.write("a/.vscode/tasks.json");
           close_by(t, "a/.vscode", mode);
         },
         {"a/.vscode"}},
        {"hooks",
         [](Tree& t) { t.repository("a/.git"); },
         [&](Tree& t) {
           t.write("a/.git/hooks/pre-commit");
           close_by(t, "a/.git/hooks", mode);
         },
         {"a/.git/hooks"}},
    };
    for (const auto& row : rows) {
      SCOPED_TRACE(mode);
      expect_suspects(row);
      expect_suspects_in_remembered_tree(row);
    }
  }
}

TEST(ProtectedClosed, WhatWasClosedBeforeIsLeftAlone) {
  const AsOrdinaryUser ordinary;
  for (const mode_t mode : {0000, 0400, 0600, 0200}) {
    Tree tree;
    tree.write("a/.envrc");
    close_by(tree, "a", mode);
    Tree::let_the_clock_tick();
    const auto known = tree.before();
    const LookAfter found = tree.after(known, change_time_now());
    EXPECT_EQ(paths_of(found), std::vector<std::string>{}) << mode;
    EXPECT_EQ(found.gap, "") << mode;
    EXPECT_FALSE(known.is_complete) << "what is in there is not known";
    EXPECT_FALSE(found.has_all_leads);
    EXPECT_EQ(std::filesystem::status(tree.at("a")).permissions(), std::filesystem::perms(mode));
    close_by(tree, "a", 0700);
  }
}

TEST(ProtectedClosed, WhoKnowsTheNamesNeedNotReadThem) {
  const AsOrdinaryUser ordinary;
  Tree tree;
  tree.make("a/b");
  tree.write("a/.vscode/settings.json");
  close_by(tree, "a", 0300);
  Tree::let_the_clock_tick();
  const auto known = tree.before();
  const ChangeTime since = change_time_now();
  tree.write("a/b/.envrc");
  EXPECT_EQ(tree.after(known, since).gap, "'a' can be entered, but not be read");
  close_by(tree, "a", 0700);
  close_by(tree, "a/.vscode", 0300);
  Tree::let_the_clock_tick();
  EXPECT_EQ(tree.after(known, change_time_now()).gap, "'a/.vscode' can be entered, but not be read");
  close_by(tree, "a/.vscode", 0700);
}

constexpr int deep = 60;

std::string way_down() {
  std::string path;
  for (int i = 0; i < deep; ++i) path += "d/";
  return path;
}

TEST(ProtectedClosed, WithoutDescriptorsTheLookIsNotComplete) {
  Tree tree;
  tree.make(way_down());
  Tree::let_the_clock_tick();
  const auto known = tree.before();
  const ChangeTime since = change_time_now();
  tree.write(way_down() + ".envrc");
  {
    const FewDescriptors few(deep / 2);
    const LookAfter found = tree.after(known, since);
    EXPECT_TRUE(paths_of(found).empty());
    EXPECT_TRUE(found.gap.ends_with("could not be opened: Too many open files")) << found.gap;
  }
  const LookAfter found = tree.after(known, since);
  EXPECT_EQ(paths_of(found), std::vector<std::string>{way_down() + ".envrc"});
  EXPECT_EQ(found.gap, "");
}

TEST(ProtectedClosed, AsManyWorktreesAsACommandMayMakeTakeNoDescriptors) {
  Tree tree;
  tree.repository(".git");
  for (int i = 0; i < 200; ++i) {
    const std::string part = ".git/worktrees/w" + std::to_string(i);
    tree.write(part + "/HEAD");
    tree.write(part + "/commondir", "../..\n");
    tree.write(part + "/gitdir", "/elsewhere/.git\n");
  }
  Tree::let_the_clock_tick();
  const FewDescriptors few(100);
  const auto known = tree.before();
  const LookAfter found = tree.after(known, change_time_now());
  EXPECT_EQ(paths_of(found), std::vector<std::string>{});
  EXPECT_EQ(found.gap, "");
}

TEST(ProtectedClosed, NothingBeginsWithoutDescriptorsForWhatIsToBeShown) {
  Tree tree;
  for (const char* name : {".envrc", ".bashrc", ".profile", ".mcp.json"}) tree.write(name);
  const std::string root = tree.root();
  TreeFacts found;
  std::vector<OwnedFd> held;
  const BeforeQuery query{{}, tree.git, {}, {}};
  int next = ::dup(0);
  ::close(next);
  const FewDescriptors few(static_cast<rlim_t>(next) + 3);
  const auto looked = look_before(root, query, found, held);
  ASSERT_FALSE(looked.ok());
  EXPECT_TRUE(looked.error().what.text().ends_with(": Too many open files")) << looked.error().what;
}

}  // namespace
}  // namespace cloche
