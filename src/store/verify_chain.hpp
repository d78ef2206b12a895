// Whether a file is the chain that was written: line after line, and the first that is not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "store/record/chain.hpp"

namespace cloche {

struct BadLine {
  std::string file = {};
  uint64_t line = 0;  // the first is 1; 0: the file as a whole
  std::string why = {};

  bool operator==(const BadLine&) const = default;
};

// Pure: takes the lines one by one. A line that is no line of the chain may be what a crash has torn, if the
// very next one is of kind "recovered" and answers for exactly its bytes; otherwise it is bad for ever.
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
  bool is_mark(std::string_view line) const;
  std::string mark() const { return recovery_line(end_, torn_.value_or("")).bytes; }

  ChainEnd end_;
  uint64_t lines_ = 0;
  uint64_t recoveries_ = 0;
  std::optional<BadLine> bad_;       // also while the next line may answer for it
  std::optional<std::string> torn_;  // that line
};

}  // namespace cloche
