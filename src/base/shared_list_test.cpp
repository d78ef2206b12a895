// Copies of a list are values: whatever is done to one, the others stay as they were.
#include "base/shared_list.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>

namespace cloche {
namespace {

using List = SharedList<std::string>;

std::vector<std::string> items(const List& list) { return {list.begin(), list.end()}; }

const std::vector<std::string> before = {"a", "b"};

TEST(SharedList, AChangeOfOneCopyIsNoChangeOfAnother) {
  const struct {
    std::string what;
    std::function<void(List&)> change;
    std::vector<std::string> after;
  } rows[] = {
      {"push_back", [](List& list) { list.push_back("c"); }, {"a", "b", "c"}},
      {"append",
       [](List& list) {
         list.append({"c", "d"});
       },
       {"a", "b", "c", "d"}},
      {"item", [](List& list) { list[0] = "x"; }, {"x", "b"}},
      {"last", [](List& list) { list.back() = "x"; }, {"a", "x"}},
      {"clear", [](List& list) { list.clear(); }, {}},
      {"edit", [](List& list) { list.edit().pop_back(); }, {"a"}},
      {"assignment", [](List& list) { list = List{"x"}; }, {"x"}},
      {"iteration",
       [](List& list) {
         for (auto& item : list) item += "!";
       },
       {"a!", "b!"}},
  };
  for (const auto& row : rows) {
    const List original = before;
    List changed = original;
    List another = changed;
    row.change(changed);
    EXPECT_EQ(items(changed), row.after) << row.what;
    EXPECT_EQ(items(original), before) << row.what;
    EXPECT_EQ(items(another), before) << row.what;
    row.change(another);
    EXPECT_EQ(another, changed) << row.what;
    EXPECT_NE(another, original) << row.what;
  }
}

TEST(SharedList, AnEmptyOneIsLikeAnyOther) {
  const List none;
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.size(), 0U);
  EXPECT_EQ(none.begin(), none.end());
  EXPECT_EQ(none, List(std::vector<std::string>{}));
  EXPECT_NE(none, List{"a"});
  List copy = none;
  for (auto& item : copy) item = "x";
  EXPECT_EQ(copy, none);
  copy.push_back("a");
  EXPECT_EQ(copy, List{"a"});
  EXPECT_TRUE(none.empty());
}

TEST(SharedList, WhatWasMovedFromIsEmpty) {
  List from = before;
  const List to = std::move(from);
  EXPECT_EQ(items(to), before);
  from = to;
  EXPECT_EQ(items(from), before);
}

TEST(SharedList, CopiesOfOneListBelongToTheirThreads) {
  const List original = before;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([copy = original]() mutable {
      for (int round = 0; round < 1000; ++round) {
        List mine = copy;
        mine.push_back("c");
        EXPECT_EQ(mine.size(), 3U);
        EXPECT_EQ(copy.size(), 2U);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(items(original), before);
}

}  // namespace
}  // namespace cloche
