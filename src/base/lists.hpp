// Questions that are asked of every list.
#pragma once

#include <functional>
#include <iterator>

namespace cloche {

template <typename List, typename Item>
constexpr bool contains(const List& list, const Item& item) {
  for (const auto& one : list)
    if (one == item) return true;
  return false;
}

// The first that has `value` in that member, or nullptr: a row of a table by its name.
template <typename List, typename Member, typename Value>
constexpr auto find_by(List& list, Member member, const Value& value) -> decltype(&*std::begin(list)) {
  for (auto& one : list)
    if (std::invoke(member, one) == value) return &one;
  return nullptr;
}

}  // namespace cloche
