#include "store/commit/entry_copy.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <filesystem>

#include "base/scratch.hpp"
#include "store/commit/change_sets.hpp"
#include "store/commit/commit_fixture.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

// A layer is copied each time that a call which writes to it is killed.
TEST(CopyLayer, ACopyOfACopyHasANameOfTheSameLength) {
  const Scratch scratch;
  fs::create_directories(scratch.path + "/set-1/0/u");
  make_node(scratch.path + "/set-1/0/u/f", a_file("text"));
  KnownDirectory layer = know_directory(scratch.path + "/set-1/0/u").value();
  for (int i = 0; i < 40; ++i) {
    const auto copy = copy_layer(layer);
    ASSERT_TRUE(copy.ok()) << i << describe(copy.error());
    remove_old_layer(layer);
    layer = copy.value();
  }
  EXPECT_EQ(layer.path.size(), (scratch.path + "/set-1/0-12345678/u").size());
  EXPECT_EQ(read_tree(layer.path), (Model{{"f", a_file("text")}}));
  EXPECT_EQ(names_in(scratch.path + "/set-1").size(), 1U);
}

// It would cost space each time that it is tried again.
TEST(CopyLayer, LeavesNothingWhereItFails) {
  const Scratch scratch;
  const std::string upper = scratch.path + "/0/u";
  fs::create_directories(upper);
  make_node(upper + "/f", a_file("text"));
  const KnownDirectory layer = know_directory(upper).value();
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const struct rlimit none { 0, before.rlim_max };
  auto* const old = ::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  const auto copy = copy_layer(layer);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, old);
  EXPECT_FALSE(copy.ok());
  EXPECT_EQ(names_in(scratch.path), std::vector<std::string>{"0"});
}

}  // namespace
}  // namespace cloche
