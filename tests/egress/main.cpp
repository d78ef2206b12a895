// The egress tests: every one of them in a network of the test's own, from which nothing leads anywhere.
#include <gtest/gtest.h>
#include <unistd.h>

#include <exception>

#include "egress/stage.hpp"

namespace cloche::test {
namespace {

Stage* standing = nullptr;

}  // namespace

Stage& stage() { return *standing; }

}  // namespace cloche::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (geteuid() != 0) {
    std::fputs("SKIPPED, EVERY TEST: the egress tests need root, to make a network of their own\n", stderr);
    return 77;  // which ctest shows as skipped
  }
  if (testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();
  try {
    cloche::test::Stage stage;
    cloche::test::standing = &stage;
    return RUN_ALL_TESTS();
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "the stage of the egress tests could not be set: %s\n", problem.what());
    return 1;
  }
}
