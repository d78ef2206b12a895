// Which of many short literals occur in a text, in one pass over it (Aho and Corasick, 1975). The rules ask
// it before they ask a pattern: most patterns cannot match, because a word they need is not there.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cloche {

class LiteralFinder {
 public:
  // Long literals are searched by their first characters only: found then means possible.
  explicit LiteralFinder(const std::vector<std::string>& literals);

  // Ascending numbers of those that occur in the text, ASCII capitals taken as small letters.
  std::vector<int> find(std::string_view text) const;

 private:
  struct Node {
    uint32_t fallback = 0;  // the longest proper suffix that is also a node
    uint32_t next_hit = 0;  // the nearest node on that way which ends literals; 0: none
    std::vector<int> ends_here = {};
  };

  uint32_t& step(uint32_t node, unsigned letter) { return steps_[node * width_ + letter]; }
  uint32_t add_node();
  void add(std::string_view literal, int number);
  void connect();

  std::array<uint8_t, 256> letters_{};  // bytes that no literal has share letter 0
  size_t width_ = 1;
  std::vector<uint32_t> steps_;
  std::vector<Node> nodes_;
};

}  // namespace cloche
