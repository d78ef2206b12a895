#include "store/layers/layer_place.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/scratch.hpp"
#include "base/sys/directory.hpp"
#include "store/layers/layers_fixture.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

struct Root {
  Scratch scratch;
  std::string path = scratch.path + "/layers";

  std::vector<std::string> running() const { return names_in(path + "/running"); }
  bool has_spare() const { return fs::exists(path + "/spare"); }

  LayerPlace make() const {
    auto place = LayerPlace::make(path);
    EXPECT_TRUE(place.ok());
    return std::move(place).value();
  }

  // As the kernel leaves a layer to which nothing was written.
  LayerPlace used(int layers = 1) const {
    LayerPlace place = make();
    for (int i = 0; i < layers; ++i) {
      const std::string layer = place.directory() + "/" + std::to_string(i);
      fs::create_directories(layer + "/u");
      fs::create_directories(layer + "/w/work/incompat/volatile");
      write_text(layer + "/w/work/incompat/volatile/dirty", "");
      for (const char* closed : {"/w/work/incompat/volatile", "/w/work/incompat", "/w/work"})
        fs::permissions(layer + closed, fs::perms::none);
    }
    return place;
  }
};

TEST(LayerPlace, IsUsedAgainOnceALaterCallHasEmptiedIt) {
  const Root root;
  { const LayerPlace first = root.used(2); }
  ASSERT_EQ(root.running().size(), 1U);
  EXPECT_TRUE(root.running().front().starts_with("ended-"));
  EXPECT_TRUE(fs::exists(root.path + "/running/" + root.running().front() + "/1/u")) << "removed by the end";
  {
    const LayerPlace second = root.make();
    EXPECT_TRUE(fs::is_empty(second.directory()));
    clear_ended_layers(second.root());
    EXPECT_EQ(root.running().size(), 1U);
  }
  ASSERT_TRUE(root.has_spare());
  const LayerPlace third = root.make();
  EXPECT_FALSE(root.has_spare());
  EXPECT_EQ(names_in(third.directory()), std::vector<std::string>{"0"});
  EXPECT_TRUE(fs::is_empty(third.directory() + "/0/u")) << "a new one";
  EXPECT_EQ(names_in(third.directory() + "/0").size(), 2U);
  EXPECT_TRUE(fs::is_empty(third.directory() + "/0/w"));
}

TEST(LayerPlace, ThereIsOneSpare) {
  const Root root;
  {
    const LayerPlace first = root.used();
    const LayerPlace second = root.used();
  }
  ASSERT_EQ(root.running().size(), 2U);
  const LayerPlace third = root.make();
  clear_ended_layers(third.root());
  EXPECT_EQ(root.running().size(), 1U);
  EXPECT_TRUE(root.has_spare());
}

// The kernel would not mount it again.
TEST(LayerPlace, AWorkDirectoryWithSomethingElseIsNotUsedAgain) {
  const Root root;
  {
    const LayerPlace first = root.used();
    for (const char* opened : {"/0/w/work", "/0/w/work/incompat"})
      fs::permissions(first.directory() + opened, fs::perms::owner_all);
    fs::create_directories(first.directory() + "/0/w/work/incompat/unknown");
  }
  const LayerPlace second = root.make();
  clear_ended_layers(second.root());
  EXPECT_EQ(root.running().size(), 1U);
  EXPECT_FALSE(root.has_spare());
}

TEST(LayerPlace, AnUpperDirectoryThatIsNotEmptyIsNotUsedAgain) {
  const Root root;
  { const LayerPlace first = root.used(); }
  ASSERT_EQ(root.running().size(), 1U);
  write_text(root.path + "/running/" + root.running().front() + "/0/u/file", "written since");
  const LayerPlace second = root.make();
  clear_ended_layers(second.root());
  EXPECT_EQ(root.running().size(), 1U);
  EXPECT_FALSE(root.has_spare());
}

TEST(LayerPlace, WhatWasWrittenIsRemovedAtOnce) {
  const Root root;
  {
    const LayerPlace first = root.used(2);
    write_text(first.directory() + "/1/u/file", "written");
  }
  EXPECT_TRUE(root.running().empty());
  EXPECT_FALSE(root.has_spare());
}

TEST(LayerPlace, ACallThatRunsKeepsItsOwn) {
  const Root root;
  const LayerPlace running = root.used();
  const LayerPlace other = root.make();
  clear_ended_layers(other.root());
  EXPECT_EQ(root.running().size(), 2U);
  EXPECT_TRUE(fs::exists(running.directory() + "/0/w/work"));
}

TEST(LayerPlace, WhatIsKeptIsNotUsedAgain) {
  const Root root;
  std::string kept;
  {
    LayerPlace first = root.used();
    kept = first.as_kept("set-1").value().path;
    ASSERT_TRUE(first.keep("set-1").ok());
  }
  const LayerPlace second = root.make();
  clear_ended_layers(second.root());
  EXPECT_FALSE(root.has_spare());
  EXPECT_TRUE(fs::exists(kept + "/0/w/work"));
}

TEST(LayerPlace, APlaceOfAnotherUserIsRefused) {
  const Root root;
  fs::create_directories(root.path);
  fs::permissions(root.path, fs::perms::all);
  const auto place = LayerPlace::make(root.path);
  ASSERT_FALSE(place.ok());
  EXPECT_NE(describe(place.error()).find("not a directory of yours alone"), std::string::npos);
}

// With a set of that name, and of a call that runs, it stays.
TEST(LayerPlace, WhatBelongsToNoSetIsRemoved) {
  const Root root;
  const std::string stored = root.path + "/stored";
  LayerPlace running = root.used();
  ASSERT_TRUE(running.keep("running").ok());
  for (const char* id : {"known", "orphan"}) {
    LayerPlace place = root.used();
    ASSERT_TRUE(place.keep(id).ok());
  }
  remove_orphans(root.path, [](const std::string& id) { return id == "known"; });
  EXPECT_EQ(names_in(stored), (std::vector<std::string>{"known", "running"}));
}

}  // namespace
}  // namespace cloche
