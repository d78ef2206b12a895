// How a box that is built from a stage is started.
#include "confine/boxes/box_stage.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/sys/path.hpp"
#include "confine/boxes/boxes_fixture.hpp"

namespace cloche {
namespace {

using namespace fixture;

std::vector<std::string> words_for(Backend backend, const std::string& name) {
  const StagedParts parts{.jail = "/bin/cloche-jail", .program = "/usr/bin/runtime", .name = name};
  return staged_spec(backend, default_plan(), HostProbe{}, CallResources{}, parts).jail.argv;
}

TEST(Staged, ARuntimeCallsTheBoxAsTheCallDoes) {
  for (const Backend backend : {Backend::crun, Backend::runc, Backend::runsc}) {
    EXPECT_EQ(words_for(backend, "cloche-1").back(), "cloche-1") << name_of(backend);
    EXPECT_EQ(words_for(backend, "cloche-2").back(), "cloche-2") << name_of(backend);
  }
}

size_t staged_in_etc(const ConfinementPlan& plan, const LaunchSpec& spec) {
  size_t found = 0;
  for (const auto& mount : spec.jail.mounts) {
    for (const auto& entry : plan.view)
      found += mount.source == entry.source && is_beneath("/etc", entry.source) ? 1 : 0;
  }
  return found;
}

TEST(Staged, TheCuratedEtcIsOneTreeWhereItIsReadyMade) {
  const ConfinementPlan plan = default_plan();
  StagedParts parts{.jail = "/bin/cloche-jail", .program = "/usr/bin/bwrap", .name = "cloche-1"};
  const auto rendered = [&] {
    return staged_spec(Backend::bwrap, plan, HostProbe{}, CallResources{}, parts);
  };
  EXPECT_GT(staged_in_etc(plan, rendered()), 2U);
  parts.etc = CallResources::Ready{"/state/skeletons/1/root", 7, 8};
  const LaunchSpec spec = rendered();
  EXPECT_EQ(staged_in_etc(plan, spec), 0U);
  const auto& mounts = spec.jail.mounts;
  const auto etc = std::find_if(mounts.begin(), mounts.end(), [](const wire::MountText& mount) {
    return mount.source == "/state/skeletons/1/root";
  });
  ASSERT_NE(etc, mounts.end());
  EXPECT_EQ(etc->judged.device, 7U);
  EXPECT_EQ(etc->judged.inode, 8U);
  EXPECT_NE(etc->flags & wire::read_only, 0U);
  EXPECT_NE(etc->flags & wire::no_exec, 0U);
}

}  // namespace
}  // namespace cloche
