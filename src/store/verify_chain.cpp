#include "store/verify_chain.hpp"

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

// Writers know no other mark than this one, byte for byte.
bool ChainVerifier::is_mark(std::string_view line) const {
  if (!line.starts_with("{\"kind\":\"recovered\"")) return false;
  const std::string expected = mark();
  return line == std::string_view(expected).substr(0, expected.size() - 1);
}

ChainVerifier::Took ChainVerifier::take(std::string_view line) {
  const bool marked = (!bad_ || torn_) && is_mark(line);
  if (bad_ && !marked) {
    ++lines_;
    torn_.reset();  // nothing answers for it later
    return Took::bad;
  }
  const auto seal = find_seal(line);
  const std::string why = marked ? "" : problem_of(line, seal);
  ++lines_;
  if (!why.empty()) {
    bad_ = BadLine{"", lines_, why};
    // What is whole in itself and stands in the wrong place is nothing that a crash leaves.
    if (!seal || !hash_is_right(line, *seal)) torn_ = line;
    return Took::bad;
  }
  end_ = seal->end;
  if (!marked) return Took::sealed;
  bad_.reset();
  torn_.reset();
  ++recoveries_;
  return Took::recovered;
}

void ChainVerifier::finish(std::string_view torn) {
  if (torn.empty() || bad_) return;
  bad_ =
      BadLine{"", lines_ + 1, "it has no newline: it was torn or cut off, and nothing has marked it since"};
}

}  // namespace cloche
