// What is written on the way through a tree is read back, and what is cut off or garbage is no memory.
#include "store/protected/tree_memory.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

constexpr DirectoryState some{1, 2, {3, 4}};

std::string a_tree() {
  TreeMemory memory(0);
  const auto root = memory.enter("");
  const auto a = memory.enter("a");
  memory.call_quiet(a, some);
  const auto b = memory.enter("b");
  memory.leave(b);
  memory.leave(a);
  const auto c = memory.enter("c");
  memory.leave(c);
  memory.leave(root);
  EXPECT_EQ(memory.count(), 4U);
  return std::move(memory).text();
}

TEST(TreeMemory, IsReadAsItWasWritten) {
  const std::string text = a_tree();
  std::string_view rest = text;
  const auto root = take_directory(rest);
  ASSERT_TRUE(root);
  EXPECT_TRUE(rest.empty());
  EXPECT_FALSE(root->quiet);
  std::string_view inside = root->inside;
  const auto a = take_directory(inside);
  const auto c = take_directory(inside);
  ASSERT_TRUE(a && c);
  EXPECT_FALSE(take_directory(inside));
  EXPECT_EQ(a->name, "a");
  EXPECT_TRUE(a->quiet);
  EXPECT_EQ(a->state, some);
  EXPECT_EQ(c->name, "c");
  EXPECT_TRUE(c->inside.empty());
  std::string_view below = a->inside;
  const auto b = take_directory(below);
  ASSERT_TRUE(b);
  EXPECT_EQ(b->name, "b");
  EXPECT_FALSE(b->quiet);
}

TEST(TreeMemory, IsFoundByName) {
  const std::string text = a_tree();
  std::string_view rest = text;
  const RememberedNames names(take_directory(rest)->inside);
  EXPECT_EQ(names.find("c")->name, "c");
  EXPECT_EQ(names.find("a")->state, some);
  EXPECT_FALSE(names.find("b"));
  EXPECT_FALSE(names.find(""));
}

TEST(TreeMemory, OfWhateverIsCutOffNothingIsLeft) {
  const std::string text = a_tree();
  for (size_t length = 0; length < text.size(); ++length) {
    std::string_view rest = std::string_view(text).substr(0, length);
    EXPECT_FALSE(take_directory(rest)) << length;
  }
  std::string_view garbage =
      "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
      "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff";
  EXPECT_FALSE(take_directory(garbage));
}

}  // namespace
}  // namespace cloche
