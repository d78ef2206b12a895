#include "gateway/not_found.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/scratch.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

// A host with a tool in bin, and a view that shows all of it, or something else in its place.
class WhyNotFound : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* directory : {"/bin", "/other", "/work"}) fs::create_directory(root + directory);
    std::ofstream(root + "/bin/tool") << "#!/no/such\n";
    plan.directory = root + "/work";
    plan.argv = {"tool"};
    show(root + "/bin", root + "/bin");
    set_path(root + "/bin");
  }
  void show(const std::string& source, const std::string& target) {
    plan.view.push_back({.kind = EntryKind::tree, .access = Access::run, .target = target, .source = source});
  }
  void set_path(const std::string& path) { plan.environment = {{"PATH", path}}; }
  std::string why() const {
    const NotFound found = why_not_found(plan, "/none:" + root + "/bin");
    return found.why + found.advice;
  }

  const Scratch scratch;
  const std::string root = scratch.path;
  ConfinementPlan plan;
};

TEST_F(WhyNotFound, AnInterpreterIsMissedOnlyByWhatCanBeReached) {
  const std::string missed = "tool: found inside as " + root + "/bin/tool, but its interpreter is not";
  EXPECT_EQ(why(), missed);
  set_path("/nonexist");
  EXPECT_EQ(why(), "tool: not on the PATH inside, which is /nonexist; it is there as " + root + "/bin/tool");
  for (const std::string& name : {std::string("../bin/tool"), root + "/bin/tool"}) {
    plan.argv = {name};
    EXPECT_EQ(why(), name + missed.substr(4)) << "no PATH is asked";
  }
}

TEST_F(WhyNotFound, LinksOfTheViewAreFollowed) {
  plan.view.push_back({.kind = EntryKind::link, .target = "/shortcut", .source = root.substr(1) + "/bin"});
  set_path("/shortcut");
  EXPECT_EQ(why(), "tool: found inside as /shortcut/tool, but its interpreter is not");
  plan.view.back().source = "shortcut";
  EXPECT_NE(why().find("not on the PATH inside"), std::string::npos) << "and not for ever";
}

TEST_F(WhyNotFound, WhatIsShownInItsPlaceIsNamed) {
  show(root + "/other", root + "/bin");
  EXPECT_EQ(why(), "tool: not on the PATH inside, which is " + root + "/bin; instead of the host's " + root +
                       "/bin there is " + root + "/other");
}

TEST_F(WhyNotFound, WhatIsNotInTheViewCouldBeShown) {
  plan.view.clear();
  EXPECT_EQ(why(), "tool: exists on the host as " + root +
                       "/bin/tool and is not in the sandbox's view; show it with --ro " + root + "/bin");
  EXPECT_EQ(why_not_found(plan, root + "/bin").advice, "; show it with --ro " + root + "/bin")
      << "for the operator alone";
  plan.argv = {"no-such-tool"};
  EXPECT_EQ(why(), "");
}

}  // namespace
}  // namespace cloche
