// Feeds text to the splitter. Words that it gives must come back from their own quoting, without operators,
// and a refusal must have no words.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/text/command_words.hpp"

namespace {

void require(bool truth) {
  if (!truth) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cloche;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const SplitWords split = split_words(text);
  if (!split.problem.empty()) {
    require(split.words.empty() && split.operators.empty());
    return 0;
  }
  require(!split.words.empty() && !split.words.front().empty());
  require(problem_of(split.words).empty());
  for (const auto& seen : split.operators) require(seen.offset + seen.text.size() <= text.size());
  const std::string quoted = quote_words(split.words);
  const SplitWords again = split_words(quoted);
  require(again.problem.empty() && again.operators.empty() && again.words == split.words);
  return 0;
}
