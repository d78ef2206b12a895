// Patterns by RE2: linear in the text whatever the pattern, so that neither a rule nor a schema can be made
// to hang. Bounded in length and in compiled size.
#pragma once

#include <re2/re2.h>
#include <re2/set.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace cloche {

enum class Dot { stops_at_newline, matches_newline };

// The error says what is wrong with the pattern, without a place.
Result<std::shared_ptr<const RE2>> compile_pattern(const std::string& pattern, Dot dot);

// Found anywhere in the text. RE2 that runs out of memory for its fast way takes its slow one: a pattern that
// compiled always has an answer.
bool found_in(const RE2& pattern, std::string_view text);

// Many patterns, asked about one text together.
class PatternSet {
 public:
  static constexpr int64_t most_set_bytes = 32 << 20;

  // All of them compiled with the same Dot. `most_bytes` is what the set may take.
  explicit PatternSet(const std::vector<std::shared_ptr<const RE2>>& patterns,
                      int64_t most_bytes = most_set_bytes);

  // The numbers of those that are found in the text. nullopt: the set cannot tell, and each has to be asked
  // by itself, because they are few, or do not fit into the memory, or the text is too long for all of them
  // at once.
  std::optional<std::vector<int>> find(std::string_view text) const;

 private:
  std::unique_ptr<const RE2::Set> set_;
  size_t program_size_ = 0;
};

}  // namespace cloche
