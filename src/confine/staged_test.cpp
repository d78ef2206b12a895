// How a box that is built from a stage is started.
#include "confine/staged.hpp"

#include <gtest/gtest.h>

#include "confine/boxes_fixture.hpp"

namespace cloche {
namespace {

using namespace fixture;

std::vector<std::string> words_for(Backend backend, const std::string& name) {
  const StagedParts parts{.jail = "/bin/cloche-jail", .program = "/usr/bin/runtime", .name = name};
  return render_staged(backend, default_plan(), HostProbe{}, CallResources{}, parts).jail.argv;
}

TEST(Staged, ARuntimeCallsTheBoxAsTheCallDoes) {
  for (const Backend backend : {Backend::crun, Backend::runc, Backend::runsc}) {
    EXPECT_EQ(words_for(backend, "cloche-1").back(), "cloche-1") << name_of(backend);
    EXPECT_EQ(words_for(backend, "cloche-2").back(), "cloche-2") << name_of(backend);
  }
}

}  // namespace
}  // namespace cloche
