#include "store/verify_chain.hpp"

#include "base/sha256_fast.hpp"

namespace cloche {
std::string ChainVerifier::problem_of(std::string_view line, const std::optional<Seal>& seal) const {
  if (!seal) return "it does not end as a line of the chain does";
  if (!hash_is_right(line, *seal)) return "its bytes do not have the hash that it says: it was changed";
  if (seal->prev != end_.hash)
    return "it does not follow the line before it: a line was removed, inserted or moved here";
  if (seal->end.line != lines_ + 1)
    return "it says that it is line " + std::to_string(seal->end.line) +
           ": a line was removed, inserted or moved here";
  if (line.starts_with("{\"kind\":\"recovered\"")) return "it answers for torn bytes that are not there";
  return {};
}

// The marker for what is held against the file, byte for byte.
bool ChainVerifier::answers_for_torn(std::string_view line, const Seal& seal) const {
  const std::string expected =
      "{\"kind\":\"recovered\",\"torn_bytes\":" + std::to_string(torn_bytes_) + ",\"torn_sha256\":\"" +
      Sha256(torn_).finish() + "\",\"line\":" + std::to_string(lines_ + 1) +
      ",\"calls\":" + std::to_string(end_.calls + torn_lines_) + ",\"prev\":\"" + end_.hash + "\"";
  return line.substr(0, seal.hashed_bytes) == expected && hash_is_right(line, seal);
}

void ChainVerifier::hold_against(std::string_view line) {
  if (torn_lines_ == 0) torn_ = fast_sha256();
  if (torn_lines_ > 0) torn_.add("\n");
  torn_.add(line);
  torn_bytes_ += line.size() + (torn_lines_ > 0 ? 1 : 0);
  ++torn_lines_;
}

ChainVerifier::Took ChainVerifier::take(std::string_view line) {
  const auto seal = find_seal(line);
  if (torn_lines_ == 0) torn_ = fast_sha256();
  const bool marker = line.starts_with("{\"kind\":\"recovered\"") && seal && answers_for_torn(line, *seal);
  if (!marker) {
    const std::string why = problem_of(line, seal);
    if (bad_ || !why.empty()) {
      hold_against(line);
      ++lines_;
      if (!bad_) bad_ = BadLine{"", lines_, why};
      return Took::bad;
    }
  }
  ++lines_;
  end_ = seal->end;
  if (!marker) return Took::sealed;
  bad_.reset();
  torn_bytes_ = torn_lines_ = 0;
  ++recoveries_;
  return Took::recovered;
}

void ChainVerifier::finish(std::string_view torn) {
  if (torn.empty() || bad_) return;
  bad_ =
      BadLine{"", lines_ + 1, "it has no newline: it was torn or cut off, and nothing has marked it since"};
}

}  // namespace cloche
