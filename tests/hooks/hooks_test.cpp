// What cannot be had on the kernel of the day is met by a knob that only test builds have: an older Landlock.
#include <gtest/gtest.h>

#include "harness/harness.hpp"

namespace cloche::test {
namespace {

Ran run_with_abi(const std::string& abi, As as) {
  const Scene scene(as);
  return run({.argv = under_cloche({"--workspace", scene.workspace()}, {"/bin/true"}),
              .as = as,
              .env = {{"CLOCHE_TEST_LANDLOCK_ABI", abi}}});
}

TEST(OldLandlock, IsRefusedByName) {
  for (As as : identities()) {
    for (const char* abi : {"-1", "0", "1"}) {
      const Ran ran = run_with_abi(abi, as);
      EXPECT_EQ(ran.exit_code, 125) << name_of(as) << " ABI " << abi << ran.err;
      EXPECT_NE(ran.err.find("missing layer landlock"), std::string::npos) << ran.err;
      EXPECT_NE(ran.err.find("lsm="), std::string::npos) << "the fix is missing: " << ran.err;
    }
  }
}

TEST(OldLandlock, TheLeastThatIsSafeRuns) {
  for (As as : identities()) {
    const Ran ran = run_with_abi("2", as);
    EXPECT_EQ(ran.exit_code, 0) << name_of(as) << ran.err;
  }
}

}  // namespace
}  // namespace cloche::test
