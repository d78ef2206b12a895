#include "policy/pattern.hpp"

#include "base/json.hpp"

namespace cloche {
namespace {

constexpr size_t longest_pattern = 4096;
constexpr int64_t most_compiled_bytes = 1 << 20;

}  // namespace

RE2::Options pattern_options(Dot dot) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_never_capture(true);
  options.set_max_mem(most_compiled_bytes);
  options.set_dot_nl(dot == Dot::matches_newline);
  return options;
}

Result<std::shared_ptr<const RE2>> compile_pattern(const std::string& pattern, Dot dot) {
  if (pattern.size() > longest_pattern)
    return refusal("a pattern longer than " + std::to_string(longest_pattern) + " bytes");
  auto compiled = std::make_shared<const RE2>(pattern, pattern_options(dot));
  if (!compiled->ok()) return refusal(json_quote(pattern) + " is not a pattern: " + compiled->error());
  return compiled;
}

bool found_in(const RE2& pattern, std::string_view text) {
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), pattern);
}

}  // namespace cloche
