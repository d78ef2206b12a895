#include "store/sealed/installed_hooks.hpp"

#include <gtest/gtest.h>

#include "base/scratch.hpp"

namespace cloche {
namespace {

TEST(InstalledHooks, RememberedUntilForgotten) {
  const Scratch scratch;
  const auto hooks = InstalledHooks::open(scratch.path + "/state");
  ASSERT_TRUE(hooks.ok());
  EXPECT_FALSE(hooks.value().recall("/home/a/settings.json"));
  ASSERT_TRUE(
      hooks.value().remember("/home/a/settings.json", {true, " \n\t", {"/home/a", "/home/a/b"}}).ok());
  EXPECT_FALSE(hooks.value().recall("/home/b/settings.json"));
  const auto before = InstalledHooks::open(scratch.path + "/state").value().recall("/home/a/settings.json");
  ASSERT_TRUE(before);
  EXPECT_TRUE(before->absent);
  EXPECT_EQ(before->blank, " \n\t");
  EXPECT_EQ(before->made, (std::vector<std::string>{"/home/a", "/home/a/b"}));
  hooks.value().forget("/home/a/settings.json");
  EXPECT_FALSE(hooks.value().recall("/home/a/settings.json"));
}

}  // namespace
}  // namespace cloche
