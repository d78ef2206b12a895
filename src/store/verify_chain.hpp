// Whether a file is the chain that was written: line after line, and the first that is not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/sha256.hpp"
#include "store/chain.hpp"

namespace cloche {

struct BadLine {
  std::string file = {};
  uint64_t line = 0;  // the first is 1; 0: the file as a whole
  std::string why = {};

  bool operator==(const BadLine&) const = default;
};

// Pure: takes the lines one by one. Bytes that are no line of the chain are held against it until a line of
// kind "recovered" answers for exactly them.
class ChainVerifier {
 public:
  enum class Took { sealed, recovered, bad };
  Took take(std::string_view line);  // without its newline
  // The end of the file; `torn` is what stands behind the last newline.
  void finish(std::string_view torn);

  const ChainEnd& end() const { return end_; }
  uint64_t lines() const { return lines_; }
  uint64_t recoveries() const { return recoveries_; }
  const std::optional<BadLine>& bad() const { return bad_; }

 private:
  std::string problem_of(std::string_view line, const std::optional<Seal>& seal) const;
  bool answers_for_torn(std::string_view line, const Seal& seal) const;
  void hold_against(std::string_view line);

  ChainEnd end_;
  uint64_t lines_ = 0;
  uint64_t recoveries_ = 0;
  std::optional<BadLine> bad_;  // the first of the torn lines, while nothing has answered for them
  Sha256 torn_;
  uint64_t torn_bytes_ = 0;
  uint64_t torn_lines_ = 0;
};

}  // namespace cloche
