#include "base/result.hpp"

#include <gtest/gtest.h>

#include <concepts>
#include <memory>

namespace cloche {
namespace {

Result<int> half_of(int number) {
  if (number % 2 != 0) return usage_error(std::to_string(number) + " is odd", "double it");
  return number / 2;
}

Result<int> quarter_of(int number) {
  const int half = TRY(half_of(number));
  return TRY(half_of(half));
}

Result<void> must_be_divisible_by_four(int number, int& after) {
  TRY(quarter_of(number));
  ++after;
  return {};
}

Result<std::unique_ptr<int>> owned_half_of(int number) { return std::make_unique<int>(TRY(half_of(number))); }

Result<int> through_a_pointer(int number) {
  auto owned = TRY(owned_half_of(number));  // moves: a unique_ptr has no copy
  return *owned;
}

TEST(Result, TryIsTheValue) {
  EXPECT_EQ(quarter_of(12).value(), 3);
  EXPECT_EQ(through_a_pointer(12).value(), 6);
}

TEST(Result, TryPassesTheErrorUpUnchangedAndStops) {
  int after = 0;
  const auto result = must_be_divisible_by_four(6, after);
  ASSERT_FALSE(result.ok());
  EXPECT_FALSE(static_cast<bool>(result));
  EXPECT_EQ(result.error().cause, Cause::usage);
  EXPECT_EQ(result.error().what.text(), "3 is odd");
  EXPECT_EQ(result.error().fix.text(), "double it");
  EXPECT_EQ(after, 0);
  EXPECT_TRUE(must_be_divisible_by_four(8, after).ok());
  EXPECT_EQ(after, 1);
  EXPECT_FALSE(through_a_pointer(7).ok());
}

TEST(Result, AnErrorIsInternalUnlessItSaysOtherwise) {
  const Error error;
  EXPECT_EQ(error.cause, Cause::internal);
  EXPECT_EQ(error.number, 0);
}

TEST(Error, OfASystemCallSaysWhatAndWhy) {
  const Error error = system_error("open /x", ENOENT);
  EXPECT_EQ(error.cause, Cause::system);
  EXPECT_EQ(error.number, ENOENT);
  EXPECT_EQ(error.what.text(), "open /x: No such file or directory");
  errno = EACCES;
  EXPECT_EQ(system_error("read").number, EACCES);
  EXPECT_EQ(system_error("read", 99999).what.text(), "read: unknown error");
}

TEST(Message, IsBuiltExtendedAndShown) {
  Message message = "b";
  message += std::string("c");
  EXPECT_EQ(("a" + message + "d").text(), "abcd");
  EXPECT_FALSE(message.empty());
  EXPECT_TRUE(Message().empty());
}

// What code has to know of an error is a typed field: its text is only shown.
template <typename T>
concept Searchable = requires(T text) {
  text.find("x");
}
|| requires(T text) { text.starts_with("x"); }
|| requires(T text) { text.substr(1); }
|| requires(T text) { text[0]; };
static_assert(!Searchable<Message> && Searchable<std::string>);
static_assert(!std::equality_comparable<Message> && !std::equality_comparable_with<Message, std::string>);
static_assert(!std::convertible_to<Message, std::string> && !std::convertible_to<Message, std::string_view>);

TEST(Error, DescribedInOneSentenceWithItsFix) {
  EXPECT_EQ(describe(usage_error("no command")), "no command");
  EXPECT_EQ(describe(refusal("this is /", "name another")), "this is /; name another");
  EXPECT_EQ(refusal("x").cause, Cause::configuration);
}

}  // namespace
}  // namespace cloche
