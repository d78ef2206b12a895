// `cloche run` on rungs that another tool keeps: what goes wrong only when there is more than one call.
#include <future>

#include "run/fixture.hpp"

namespace cloche::test {
namespace {

class Rungs : public Run {};
FOR_EVERYONE(Rungs);

// The control socket of a box has its name where the whole host can see it.
TEST_P(Rungs, TwoBoxesAtOnceDoNotEndEachOther) {
  NEEDS("runc");
  NEEDS("runsc");
  for (const std::string backend : {"runc", "runsc"}) {
    const auto one = [&](const char* seconds) {
      return cloche_run({"--backend", backend}, {"sleep", seconds});
    };
    auto longer = std::async(std::launch::async, one, "3");
    const Ran shorter = one("1");
    EXPECT_TRUE(exited(shorter, 0)) << backend << shorter.err;
    const Ran first = longer.get();
    EXPECT_TRUE(exited(first, 0)) << backend << first.err;
  }
}

// The box that was asked for, not the one that others get.
TEST_P(Rungs, ARefusalNamesTheBackendThatWasAskedFor) {
  const Ran ran = cloche_run({"--json", "--isolation", "subprocess", "--ro", "/usr/share:/data"}, {"true"});
  EXPECT_EQ(ran.exit_code, 125);
  EXPECT_TRUE(contains(ran.out, R"("backend":"subprocess")")) << ran.out;
}

}  // namespace
}  // namespace cloche::test
