// Of a long text, given piece by piece, as much as a model is shown: its head and its tail, neutralised, and
// how long it is in all. The same to the byte as if the whole were neutralised and then cut.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tools/answer/process_output.hpp"

namespace cloche {

class HeadAndTail {
 public:
  explicit HeadAndTail(size_t most_bytes) : most_(most_bytes) {}

  void add(std::string_view bytes);
  void finish();  // no more comes: what only began a character is none

  uint64_t size() const { return size_; }  // of all of it, neutralised
  // `budget` may be at most what this was made for.
  std::string within(const OutputBudget& budget) const;

 private:
  void keep(std::string_view shown);

  size_t most_;
  std::string unfinished_ = {};  // bytes that mean something only with what comes next
  uint64_t size_ = 0;
  std::string head_ = {};
  std::string tail_ = {};
};

}  // namespace cloche
