#include "policy/literal_finder.hpp"

#include <algorithm>

namespace cloche {
namespace {

constexpr size_t longest_searched = 12;  // bounds the table; what is longer is rare and hardly more telling

unsigned char small(char c) { return static_cast<unsigned char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); }

}  // namespace

LiteralFinder::LiteralFinder(const std::vector<std::string>& literals) {
  std::array<bool, 256> used{};
  for (const auto& literal : literals)
    for (char c : std::string_view(literal).substr(0, longest_searched)) used[small(c)] = true;
  for (size_t byte = 0; byte < used.size(); ++byte)
    if (used[byte] && width_ < 256) letters_[byte] = static_cast<uint8_t>(width_++);
  add_node();
  for (size_t i = 0; i < literals.size(); ++i)
    add(std::string_view(literals[i]).substr(0, longest_searched), static_cast<int>(i));
  connect();
}

uint32_t LiteralFinder::add_node() {
  nodes_.emplace_back();
  steps_.resize(steps_.size() + width_, 0);
  return static_cast<uint32_t>(nodes_.size() - 1);
}

void LiteralFinder::add(std::string_view literal, int number) {
  uint32_t node = 0;
  for (char c : literal) {
    const unsigned letter = letters_[small(c)];
    uint32_t next = step(node, letter);
    if (next == 0) {
      next = add_node();
      step(node, letter) = next;
    }
    node = next;
  }
  nodes_[node].ends_here.push_back(number);
}

// Breadth first, so that a node's fallback, which is shorter, is whole before it is copied from.
void LiteralFinder::connect() {
  std::vector<uint32_t> queue;
  for (unsigned letter = 1; letter < width_; ++letter)
    if (step(0, letter) != 0) queue.push_back(step(0, letter));
  for (size_t i = 0; i < queue.size(); ++i) {
    const uint32_t node = queue[i];
    const uint32_t fallback = nodes_[node].fallback;
    nodes_[node].next_hit = nodes_[fallback].ends_here.empty() ? nodes_[fallback].next_hit : fallback;
    for (unsigned letter = 1; letter < width_; ++letter) {
      const uint32_t child = step(node, letter);
      if (child == 0) {
        step(node, letter) = step(fallback, letter);
      } else {
        nodes_[child].fallback = step(fallback, letter);
        queue.push_back(child);
      }
    }
  }
}

std::vector<int> LiteralFinder::find(std::string_view text) const {
  std::vector<uint32_t> reached;
  std::vector<bool> seen(nodes_.size());  // a long text reaches the same few again and again
  uint32_t node = 0;
  for (char c : text) {
    const unsigned letter = letters_[small(c)];
    node = letter == 0 ? 0 : steps_[node * width_ + letter];
    if (seen[node]) continue;
    seen[node] = true;
    if (!nodes_[node].ends_here.empty() || nodes_[node].next_hit != 0) reached.push_back(node);
  }
  std::vector<int> found = nodes_[0].ends_here;  // an empty literal is everywhere
  for (uint32_t hit : reached)
    for (; hit != 0; hit = nodes_[hit].next_hit)
      found.insert(found.end(), nodes_[hit].ends_here.begin(), nodes_[hit].ends_here.end());
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace cloche
