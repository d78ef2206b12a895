#include "tools/answer/head_and_tail.hpp"

#include <algorithm>

#include "base/text/utf8.hpp"

namespace cloche {
namespace {

constexpr size_t longest_character = 4;

// How many bytes at the end only what comes next gives a meaning: the begin of a character, or of the end of
// a line.
size_t undecided(std::string_view bytes) { return bytes.ends_with('\r') ? 1 : utf8::unfinished_tail(bytes); }

}  // namespace

void HeadAndTail::keep(std::string_view shown) {
  const size_t most = most_ + longest_character;
  size_ += shown.size();
  head_.append(shown.substr(0, most - std::min(most, head_.size())));
  tail_.append(shown);
  if (tail_.size() > 2 * most) tail_.erase(0, tail_.size() - most);
}

void HeadAndTail::add(std::string_view bytes) {
  std::string joined;
  if (!unfinished_.empty()) {
    joined = std::move(unfinished_).append(bytes);
    bytes = joined;
  }
  const size_t decided = bytes.size() - undecided(bytes);
  keep(neutralised(bytes.substr(0, decided)));
  unfinished_ = std::string(bytes.substr(decided));
}

void HeadAndTail::finish() {
  keep(neutralised(unfinished_));
  unfinished_.clear();
}

std::string HeadAndTail::within(const OutputBudget& budget) const {
  if (size_ <= budget.bytes) return head_;
  const size_t head = back_to_boundary(head_, budget.bytes / 2);
  const size_t tail = back_to_boundary(tail_, tail_.size() - budget.bytes / 2);
  const uint64_t behind = tail_.size() - tail;
  return head_.substr(0, head) + cut_line(size_ - behind - head, size_, budget) + tail_.substr(tail);
}

}  // namespace cloche
