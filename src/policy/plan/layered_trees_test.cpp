#include "policy/plan/layered_trees.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

struct Tree {
  const char* source;
  const char* target;
  Access access = Access::write_run;
  bool file = false;
  EntryRole role = EntryRole::shown;
  uint64_t mount = 1;
};

ViewEntry entry(const Tree& tree) {
  return {.kind = EntryKind::tree,
          .access = tree.access,
          .target = tree.target,
          .source = tree.source,
          .file = tree.file,
          .role = tree.role,
          .owned = true,
          .mount = tree.mount};
}

TEST(LayeredTrees, EachWritableDirectoryHasOneLayer) {
  const struct {
    const char* name;
    std::vector<Tree> trees;
    std::vector<std::string> layered;  // targets; "!": refused
    std::vector<std::string> live;
  } rows[] = {
      {"the workspace", {{"/w", "/w"}}, {"/w"}, {}},
      {"what is only read has none", {{"/w", "/w"}, {"/r", "/r", Access::run}}, {"/w"}, {}},
      {"a directory in it is seen through it", {{"/w", "/w"}, {"/w/a", "/w/a"}}, {"/w"}, {}},
      {"also where the wider one comes later", {{"/w/a", "/w/a"}, {"/w", "/w"}}, {"/w"}, {}},
      {"but one on a mount of its own has its own",
       {{"/w", "/w"}, {"/w/m", "/w/m", Access::write_run, false, EntryRole::shown, 2}},
       {"/w", "/w/m"},
       {}},
      {"the same directory twice", {{"/w", "/w"}, {"/w", "/w"}}, {"/w"}, {}},
      {"a directory beside it has its own", {{"/w", "/w"}, {"/wa", "/wa"}}, {"/w", "/wa"}, {}},
      {"one in it at another place is a link", {{"/w", "/w"}, {"/w/a", "/b"}}, {"/w"}, {}},
      {"and so is itself", {{"/w", "/w"}, {"/w", "/b"}}, {"/w"}, {}},
      {"but not with more in it", {{"/w", "/w"}, {"/w", "/b"}, {"/o", "/b/o"}}, {"!"}, {}},
      {"one that is only read in it has none", {{"/w", "/w"}, {"/w/a", "/b", Access::run}}, {"/w"}, {}},
      {"a file is written live", {{"/w", "/w"}, {"/f", "/f", Access::write, true}}, {"/w"}, {"/f"}},
      {"but for one in a layer", {{"/w", "/w"}, {"/w/f", "/w/f", Access::write, true}}, {"/w"}, {}},
      {"a task's home is Cloche's own",
       {{"/w", "/w"}, {"/s/home", "/home/x", Access::write_run, false, EntryRole::placed}},
       {"/w"},
       {}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    ConfinementPlan plan;
    for (const Tree& tree : row.trees) plan.view.push_back(entry(tree));
    const auto done = layer_writes(plan);
    if (row.layered == std::vector<std::string>{"!"}) {
      EXPECT_FALSE(done.ok());
      continue;
    }
    ASSERT_TRUE(done.ok()) << describe(done.error());
    std::vector<std::string> layered;
    for (const ViewEntry* tree : layered_trees(plan)) layered.push_back(tree->target);
    std::vector<std::string> live;
    for (const ViewEntry* tree : live_trees(plan)) live.push_back(tree->target);
    EXPECT_EQ(layered, row.layered);
    EXPECT_EQ(live, row.live);
  }
}

TEST(LayeredTrees, LiveDirectoriesAreShownAboveTheLayerTheyLieIn) {
  ConfinementPlan plan;
  plan.view.push_back(entry({"/w", "/in"}));
  plan.view.push_back(entry({"/r", "/r", Access::run}));
  ASSERT_TRUE(layer_writes(plan).ok());
  std::vector<FileFact> facts;
  for (const char* path : {"/w/target", "/w", "/r/a", "/elsewhere"})
    facts.push_back({.kind = FileFact::Kind::directory, .path = path});
  show_live(plan, facts);
  const auto live = live_trees(plan);
  ASSERT_EQ(live.size(), 1U);
  EXPECT_EQ(live[0]->source, "/w/target");
  EXPECT_EQ(live[0]->target, "/in/target");
  EXPECT_EQ(layered_trees(plan).size(), 1U);
}

TEST(LayeredTrees, WhatIsHiddenOrHoldsSomethingHiddenIsNotShownLive) {
  ConfinementPlan plan;
  plan.view.push_back(entry({"/w", "/w"}));
  plan.view.push_back({.kind = EntryKind::tmpfs, .access = Access::none, .target = "/w/target"});
  plan.view.push_back({.kind = EntryKind::tree, .access = Access::none, .target = "/w/data/deep/.env"});
  ASSERT_TRUE(layer_writes(plan).ok());
  show_live(plan, {{.kind = FileFact::Kind::directory, .path = "/w/target"},
                   {.kind = FileFact::Kind::directory, .path = "/w/target/debug"},
                   {.kind = FileFact::Kind::directory, .path = "/w/data"},
                   {.kind = FileFact::Kind::directory, .path = "/w/other"}});
  ASSERT_EQ(live_trees(plan).size(), 1U);
  EXPECT_EQ(live_trees(plan)[0]->target, "/w/other");
}

}  // namespace
}  // namespace cloche
