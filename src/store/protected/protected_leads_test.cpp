// Where leads led before a command, and where they lead afterwards: what was moved to their end is another,
// however old it is and whatever else is known of it; and what they said before counts when a command has
// changed what said so.
#include "store/protected/leads.hpp"

#include "store/protected/protected_walk_fixture.hpp"

namespace cloche {
namespace {

void configured(Tree& tree, const std::string& checkout, const std::string& config) {
  tree.repository(checkout + ".git");
  tree.write(checkout + ".git/config", "[core]\n\t" + config + "\n");
}

// What earlier calls left is staged: nothing of it is new to this one.
const std::vector<WalkRow>& rows() {
  static const std::vector<WalkRow> all = {
      {"a directory with a link to something known comes to a place that was not there",
       [](Tree& tree) {
         configured(tree, "", "hooksPath = tools/hooks");
         tree.write(".config/pre-commit");
         tree.make("a");
         tree.link("../.config", "a/hooks");
       },
       [](Tree& tree) { tree.move("a", "tools"); },
       {"tools/hooks"}},
      {"another directory in place of the one that a hook's link leads through",
       [](Tree& tree) {
         tree.repository(".git");
         tree.write("scripts/pre-commit");
         tree.link("../../scripts/pre-commit", ".git/hooks/pre-commit");
         tree.repository("r");
         tree.make("new");
         tree.link("../r/config", "new/pre-commit");
       },
       [](Tree& tree) {
         tree.move("scripts", "old");
         tree.move("new", "scripts");
       },
       {"scripts/pre-commit"}},
      {"likewise, with an old file in it",
       [](Tree& tree) {
         tree.repository(".git");
         tree.write("scripts/pre-commit");
         tree.link("../../scripts/pre-commit", ".git/hooks/pre-commit");
         tree.write("new/pre-commit");
       },
       [](Tree& tree) {
         tree.move("scripts", "old");
         tree.move("new", "scripts");
       },
       {"scripts/pre-commit"}},
      {"a program that was not there, by a link that leads out of the tree",
       [](Tree& tree) {
         configured(tree, "", "fsmonitor = tools/fsm");
         tree.make("a");
         tree.link("/bin/sh", "a/fsm");
       },
       [](Tree& tree) { tree.move("a", "tools"); },
       {"tools/fsm"}},
      {"a link of the user's that led out of the tree is replaced",
       [](Tree& tree) {
         configured(tree, "", "hooksPath = tools/hooks");
         tree.link("/usr/share", "tools");
         tree.write("a/hooks/pre-commit");
       },
       [](Tree& tree) {
         std::filesystem::remove(tree.at("tools"));
         tree.move("a", "tools");
       },
       {"tools/hooks"}},
      {"the repository that names the place is moved away",
       [](Tree& tree) {
         configured(tree, "sub/", "hooksPath = ../hk");
         tree.write("hk/pre-commit");
         tree.make("d");
       },
       [](Tree& tree) {
         tree.move("sub", "d/sub");
         tree.write("hk/pre-commit", "evil\n");
       },
       {"hk/pre-commit"}},
      {"its configuration says nothing any more",
       [](Tree& tree) {
         configured(tree, "sub/", "hooksPath = hk");
         tree.write("sub/hk/pre-commit");
       },
       [](Tree& tree) {
         tree.write("sub/.git/config", "[core]\n\tbare = false\n");
         tree.write("sub/hk/pre-commit", "evil\n");
       },
       {"sub/hk/pre-commit"}},
      {"a repository with its own hooks may be renamed",
       [](Tree& tree) {
         configured(tree, "sub/", "hooksPath = hk");
         tree.write("sub/hk/pre-commit");
         tree.link("../../scripts/x", "sub/.git/hooks/pre-push");
         tree.write("sub/scripts/x");
       },
       [](Tree& tree) { tree.move("sub", "other"); },
       {}},
      {"what is beside them may change",
       [](Tree& tree) {
         configured(tree, "", "hooksPath = tools/hooks");
         tree.write("tools/hooks/pre-commit");
         tree.write("tools/other");
       },
       [](Tree& tree) {
         tree.write("tools/other", "changed\n");
         tree.write("tools/another");
       },
       {}},
      {"a .git that is a link to a repository of the tree",
       [](Tree& tree) { tree.repository("r/.git"); },
       [](Tree& tree) {
         tree.make("x");
         tree.link("../r/.git", "x/.git");
       },
       {}},
      {"a .git that is a link and leads out of the tree",
       nullptr,
       [](Tree& tree) {
         tree.make("x");
         tree.link("/usr/share/.git", "x/.git");
       },
       {"x/.git"}},
      {"a git directory that has its common part elsewhere",
       [](Tree& tree) {
         tree.make("g/objects");
         tree.make("g/refs");
         tree.write("g/HEAD", "ref: refs/heads/main\n");
       },
       [](Tree& tree) { tree.write("g/commondir", "/usr/share\n"); },
       {"g/commondir"}},
      {"where a .git file leads becomes a link that leads out",
       [](Tree& tree) {
         tree.repository("p/g");
         tree.write("x/.git", "gitdir: ../p/g\n");
         tree.make("a");
         tree.link("/usr/share", "a/g");
       },
       [](Tree& tree) {
         tree.move("p", "old");
         tree.move("a", "p");
       },
       {"p/g"}},
      {"a configuration that is older than what makes git read it",
       [](Tree& tree) { tree.write("g/config.worktree", evil_config); },
       [](Tree& tree) {
         tree.write("g/commondir", "../r\n");
         tree.write("g/HEAD", "ref: refs/heads/main\n");
         tree.repository("r");
       },
       {"g/config.worktree"}},
      {"a common part that is older than the HEAD that makes git look for it",
       [](Tree& tree) { tree.write("g/commondir", "/usr/share\n"); },
       [](Tree& tree) { tree.write("g/HEAD", "ref: refs/heads/main\n"); },
       {"g/commondir"}},
      {"a worktree's part in which git has written",
       [](Tree& tree) {
         tree.repository(".git");
         tree.write(".git/worktrees/w/commondir", "../..\n");
         tree.write(".git/worktrees/w/HEAD", "ref: refs/heads/main\n");
         tree.write(".git/worktrees/w/config.worktree", "[core]\n\thooksPath = /opt/hooks\n");
       },
       [](Tree& tree) {
         tree.write(".git/worktrees/w/HEAD.lock", "ref: refs/heads/other\n");
         tree.move(".git/worktrees/w/HEAD.lock", ".git/worktrees/w/HEAD");
       },
       {}},
      {"a repository is moved to where what it names is a link out of the tree",
       [](Tree& tree) {
         configured(tree, "p/sub/", "fsmonitor = ../../tools/fsm");
         tree.make("d/tools");
         tree.link("/bin/sh", "d/tools/fsm");
       },
       [](Tree& tree) { tree.move("p", "d/p"); },
       {"d/tools/fsm"}},
      {"a pointer is moved to where it leads out by a link",
       [](Tree& tree) {
         tree.repository("d/l/g");
         tree.write("d/x/.git", "gitdir: ../l/g\n");
         tree.link("/usr/share", "l");
       },
       [](Tree& tree) { tree.move("d/x", "x"); },
       {"x/.git"}},
      {"hooks for who pushes to it",
       [](Tree& tree) { configured(tree, "sub/", "hooksPath = hk"); },
       [](Tree& tree) { tree.write("sub/.git/hk/pre-receive"); },
       {"sub/.git/hk"}},
      {"a checkout in a bare repository is left alone",
       [](Tree& tree) {
         tree.repository("repo");
         tree.write("repo/main/editor/tasks.json");
         tree.make("repo/main/.vscode");
         tree.link("../editor/tasks.json", "repo/main/.vscode/tasks.json");
         configured(tree, "repo/main/sub/", "hooksPath = hk");
         tree.write("repo/main/sub/hk/pre-commit");
       },
       [](Tree& tree) { tree.write("repo/main/other"); },
       {}},
      {"a link in a member with very many names in it",
       [](Tree& tree) {
         for (int i = 0; i < 1100; ++i) tree.write(".direnv/" + std::to_string(i));
         tree.repository(".git");
         tree.write("scripts/pre-commit");
         tree.link("../../scripts/pre-commit", ".git/hooks/pre-commit");
         tree.write("new/pre-commit");
       },
       [](Tree& tree) {
         tree.move("scripts", "old");
         tree.move("new", "scripts");
       },
       {"scripts/pre-commit"}},
  };
  return all;
}

TEST(ProtectedLeads, WhatIsAtTheirEndIsWhatWasThere) {
  for (const auto& row : rows()) expect_suspects(row);
}

TEST(ProtectedLeads, LikewiseInATreeThatIsRemembered) {
  for (const auto& row : rows()) expect_suspects_in_remembered_tree(row);
}

void fill(Tree& tree) {
  for (int i = 0; i < 100; ++i) tree.make("many/" + std::to_string(i));
}

// The look before does not come there, but another did.
TEST(ProtectedLeads, AreKnownWhereTheLookBeforeDoesNotReach) {
  Tree tree;
  fill(tree);
  configured(tree, "many/99/", "hooksPath = tools/hooks");
  tree.write("a/hooks/pre-commit");
  Tree::let_the_clock_tick();
  const TreeFacts unaware = tree.before();
  EXPECT_FALSE(unaware.is_complete);
  const LookAfter earlier = tree.after(unaware, change_time_now());
  const TreeFacts known = tree.before({}, earlier.leads);
  Tree::let_the_clock_tick();
  const ChangeTime since = change_time_now();
  tree.move("a", "many/99/tools");
  EXPECT_EQ(paths_of(tree.after(known, since)), std::vector<std::string>{"many/99/tools/hooks"});
  // And when nobody has told, by the directory that came.
  EXPECT_EQ(paths_of(tree.after(unaware, since)), std::vector<std::string>{"many/99/tools/hooks"});
}

TEST(ProtectedLeads, AProjectMayBeRenamedAndBack) {
  Tree tree;
  configured(tree, "a/", "hooksPath = hk");
  tree.write("a/hk/pre-commit");
  tree.write("a/scripts/lib");
  tree.link("../scripts", "a/hk/lib");
  std::vector<RememberedLead> remembered;
  for (const auto& [from, to] : {std::pair("a", "b"), std::pair("b", "a"), std::pair("a", "b")}) {
    Tree::let_the_clock_tick();
    const TreeFacts known = tree.before(remembered);
    const ChangeTime since = change_time_now();
    tree.move(from, to);
    const LookAfter found = tree.after(known, since);
    EXPECT_EQ(paths_of(found), std::vector<std::string>{}) << from;
    remembered = found.leads;
  }
}

// Between two calls nobody but the host can have done that.
TEST(ProtectedLeads, WhatTheHostGivesUpIsNoneAnyMore) {
  Tree tree;
  configured(tree, "", "hooksPath = scripts");
  tree.write("scripts/build");
  Tree::let_the_clock_tick();
  const LookAfter earlier = tree.after(tree.before(), change_time_now());
  tree.write(".git/config", "[core]\n\tbare = false\n");
  Tree::let_the_clock_tick();
  const TreeFacts known = tree.before(earlier.leads);
  const ChangeTime since = change_time_now();
  tree.write("scripts/build", "changed\n");
  EXPECT_EQ(paths_of(tree.after(known, since)), std::vector<std::string>{});
}

// What names it is moved away by one call, what it names is changed by the next, and a third moves it back.
TEST(ProtectedLeads, ThatAreLostAreNotForgotten) {
  for (const char* between : {"", "evil\n"}) {
    Tree tree;
    tree.make("node_modules");  // the look before does not go there
    configured(tree, "p/sub/", "hooksPath = ../../hk");
    tree.write("hk/pre-commit");
    tree.make("d");
    std::vector<RememberedLead> remembered;
    const auto look = [&](const std::function<void()>& command) {
      Tree::let_the_clock_tick();
      const TreeFacts known = tree.before(remembered);
      const ChangeTime since = change_time_now();
      command();
      LookAfter found = tree.after(known, since);
      remembered = found.leads;
      return paths_of(found);
    };
    EXPECT_EQ(look([&] { tree.move("p", "d/p"); }), std::vector<std::string>{});
    const bool changes = std::string(between) != "";
    EXPECT_EQ(look([&] {
                if (changes) tree.write("hk/pre-commit", between);
              }),
              changes ? std::vector<std::string>{"hk/pre-commit"} : std::vector<std::string>{});
    EXPECT_EQ(look([&] { tree.move("d/p", "p"); }), std::vector<std::string>{});
  }
}

struct Story {
  const char* what;
  std::function<void(Tree&)> stage;
  std::vector<std::function<void(Tree&)>> calls;
  std::vector<std::string> suspects;  // of all of them
};

TEST(ProtectedLeads, AreJudgedOverSeveralCalls) {
  const auto staged = [](Tree& tree) {
    tree.make("node_modules");
    configured(tree, "p/sub/", "hooksPath = ../../x/hk");
    tree.write("x/hk/pre-commit");
    tree.write("y/hk/pre-commit", "evil\n");
    tree.make("d");
  };
  const auto away = [](Tree& tree) { tree.move("p", "d/p"); };
  const auto back = [](Tree& tree) { tree.move("d/p", "p"); };
  const auto swap = [](Tree& tree) {
    tree.move("x", "x.old");
    tree.move("y", "x");
  };
  const std::vector<Story> stories = {
      {"the end of a lost lead is another", staged, {away, swap, back}, {"x/hk"}},
      {"in two steps",
       staged,
       {away, [](Tree& tree) { tree.move("x", "x.old"); }, [](Tree& tree) { tree.move("y", "x"); }, back},
       {"x/hk"}},
      {"a link of the user's on the way stays",
       [](Tree& tree) {
         tree.make("node_modules");
         tree.link("x1", "cur");
         configured(tree, "p/sub/", "hooksPath = ../../cur/hk");
         tree.write("x1/hk/pre-commit");
         tree.make("d");
       },
       {away, back},
       {}},
  };
  for (const auto& story : stories) {
    Tree tree;
    story.stage(tree);
    std::vector<RememberedLead> remembered;
    std::vector<std::string> suspects;
    for (const auto& call : story.calls) {
      Tree::let_the_clock_tick();
      TreeFacts known = tree.before(remembered);
      known.is_complete = true;  // as of a tree whose leads were all looked for
      const ChangeTime since = change_time_now();
      call(tree);
      const LookAfter found = tree.after(known, since);
      for (const auto& path : paths_of(found)) {
        suspects.push_back(path);
        std::filesystem::remove_all(tree.at(path));
      }
      remembered = found.leads;
    }
    EXPECT_EQ(suspects, story.suspects) << story.what;
  }
}

TEST(ProtectedLeads, MoreThanAreWrittenDownAreFoundAllTheSame) {
  Tree tree;
  tree.make(".claude/bin");
  for (int i = 0; i < 17'000; ++i) tree.link("../../x", ".claude/bin/" + std::to_string(i));
  const HeldRoot held{tree.root(), std::move(sys::open(tree.root(), O_RDONLY | O_DIRECTORY)).value()};
  const AllLeads all = find_leads(held, {});
  EXPECT_TRUE(all.is_complete);
  EXPECT_EQ(all.leads.size(), 17'000U);
}

TEST(ProtectedLeads, AreFoundInTheWholeTreeWithoutTouchingAnything) {
  Tree tree;
  fill(tree);
  configured(tree, "many/99/", "hooksPath = hk");
  tree.make(".claude");
  tree.link("../many", ".claude/all");
  const HeldRoot held{tree.root(), std::move(sys::open(tree.root(), O_RDONLY | O_DIRECTORY)).value()};
  const AllLeads all = find_leads(held, {});
  EXPECT_TRUE(all.is_complete);
  const auto has = [&](const LeadName& name, const std::string& end) {
    return std::count(all.leads.begin(), all.leads.end(), RememberedLead{name, end}) == 1;
  };
  EXPECT_TRUE(has({tree.root() + "/many/99/hk", LeadFact::Kind::hooks}, tree.root() + "/many/99/hk"));
  EXPECT_TRUE(has({tree.root() + "/.claude/all", LeadFact::Kind::link}, tree.root() + "/many"));
}

// A command may have made as many as it likes in an earlier call.
TEST(ProtectedLeads, ManyDirectoriesDoNotHideTheRepositoryOfTheTree) {
  Tree tree;
  tree.repository(".git");
  for (int i = 0; i < 1200; ++i) {
    std::string name = ".github";
    for (int bit = 0; bit < 11; ++bit) name += (i >> bit) & 1 ? "\u200c" : "\u200d";
    tree.make(name);
  }
  const auto known = tree.before();
  for (const char* member : {"/.git/config", "/.git/hooks"}) {
    const bool kept = std::any_of(known.files.begin(), known.files.end(), [&](const ProtectedFact& fact) {
      return fact.kept && fact.file.path == tree.root() + member;
    });
    EXPECT_TRUE(kept) << member;
  }
}

TEST(ProtectedLeads, AreWrittenDownAndReadAgain) {
  const std::vector<LeadFact> leads = {
      {"/w/a\nb/.envrc", LeadFact::Kind::link, {"/w/end", 1, 2, {3, 4}}, {{"/w/link", 5, 6, {7, 8}}}},
      {"/w/hk", LeadFact::Kind::hooks, {}, {}, 77},
      {"/w/r", LeadFact::Kind::git_directory, {"/w/r", 1, 2, {3, 4}}, {}, 0, {"core\nhookspath=a", "b"}},
      {"/w/.git",
       LeadFact::Kind::repository,
       {"/out", 9, 10, {-11, 12}},
       {{"/w/x", 1, 1, {}}, {"/w/y", 2, 2, {}}}}};
  const std::string text = text_of_leads(leads);
  EXPECT_EQ(leads_in(text), leads);
  EXPECT_EQ(leads_in(std::string_view(text).substr(0, text.size() - 1)).size(), 3U);
  EXPECT_TRUE(leads_in(std::string("9\0/w\0", 5)).empty());
  const std::vector<RememberedLead> remembered = {
      {{"/w/a\nb", LeadFact::Kind::link}, "/w/end", 0, {"/w/l", "/w/m"}},
      {{"/w/hk", LeadFact::Kind::program}, "", 7}};
  EXPECT_EQ(remembered_in(text_of_remembered(remembered)), remembered);
}

}  // namespace
}  // namespace cloche
