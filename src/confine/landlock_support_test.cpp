#include "confine/landlock_support.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

TEST(LandlockSupport, IsThisTable) {
  constexpr auto alone = IsolationLevel::subprocess;
  constexpr auto boxed = IsolationLevel::namespaces;
  struct Row {
    int offered;
    IsolationLevel level;
    int abi;
    const char* files_by;
    const char* scope_by;
  };
  const Row rows[] = {
      {-1, alone, 0, "", ""},
      {0, alone, 0, "", ""},
      {1, alone, 1, "landlock-abi1+seccomp", "seccomp+warden"},
      {2, alone, 2, "landlock-abi2+seccomp", "seccomp+warden"},
      {3, alone, 3, "landlock-abi3", "seccomp+warden"},
      {4, alone, 4, "landlock-abi4", "seccomp+warden"},
      {5, alone, 5, "landlock-abi5", "seccomp+warden"},
      {6, alone, 6, "landlock-abi6", "landlock-abi6"},
      {7, alone, 6, "landlock-abi7", "landlock-abi7"},
      {-1, boxed, 0, "", ""},
      {0, boxed, 0, "", ""},
      {1, boxed, 0, "", ""},
      {2, boxed, 2, "landlock-abi2", ""},
      {3, boxed, 3, "landlock-abi3", ""},
      {4, boxed, 4, "landlock-abi4", ""},
      {5, boxed, 5, "landlock-abi5", ""},
      {6, boxed, 6, "landlock-abi6", "landlock-abi6"},
      {7, boxed, 6, "landlock-abi7", "landlock-abi7"},
  };
  for (const auto& row : rows) {
    const LandlockSupport support = landlock_support(row.level, row.offered);
    EXPECT_EQ(support.abi, row.abi) << name_of(row.level) << " " << row.offered;
    EXPECT_EQ(support.files_by, row.files_by) << name_of(row.level) << " " << row.offered;
    EXPECT_EQ(support.scope_by, row.scope_by) << name_of(row.level) << " " << row.offered;
  }
}

TEST(LandlockSupport, OfAContainerIsThatOfTheLevelNamespace) {
  for (int offered = -1; offered <= newest_landlock_abi + 1; ++offered) {
    const LandlockSupport container = landlock_support(IsolationLevel::container, offered);
    const LandlockSupport boxed = landlock_support(IsolationLevel::namespaces, offered);
    EXPECT_EQ(container.abi, boxed.abi) << offered;
    EXPECT_EQ(container.files_by, boxed.files_by) << offered;
    EXPECT_EQ(container.scope_by, boxed.scope_by) << offered;
  }
}

}  // namespace
}  // namespace cloche
