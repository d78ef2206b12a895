#include "policy/rules/pattern.hpp"

#include "base/json/json_writer.hpp"

namespace cloche {
namespace {

constexpr size_t longest_pattern = 4096;
constexpr int64_t most_compiled_bytes = 1 << 20;

// So many are asked one by one before a set of them has paid for being made.
constexpr size_t few = 64;
// Instructions by bytes. At worst a set makes a state for each byte, at three times the cost of asking each
// by itself: RE2 gives that up for a single pattern, and never for a set.
constexpr size_t most_set_cost = 100'000'000;

RE2::Options pattern_options(Dot dot) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_never_capture(true);
  options.set_max_mem(most_compiled_bytes);
  options.set_dot_nl(dot == Dot::matches_newline);
  return options;
}

std::unique_ptr<const RE2::Set> make_set(const std::vector<std::shared_ptr<const RE2>>& patterns,
                                         int64_t most_bytes) {
  if (patterns.size() <= few) return nullptr;
  RE2::Options options = patterns.front()->options();
  options.set_max_mem(most_bytes);
  auto set = std::make_unique<RE2::Set>(options, RE2::UNANCHORED);
  for (const auto& pattern : patterns)
    if (set->Add(pattern->pattern(), nullptr) < 0) return nullptr;
  return set->Compile() ? std::move(set) : nullptr;
}

}  // namespace

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

PatternSet::PatternSet(const std::vector<std::shared_ptr<const RE2>>& patterns, int64_t most_bytes)
    : set_(make_set(patterns, most_bytes)) {
  for (const auto& pattern : patterns) program_size_ += static_cast<size_t>(pattern->ProgramSize());
}

std::optional<std::vector<int>> PatternSet::find(std::string_view text) const {
  if (!set_ || program_size_ * text.size() > most_set_cost) return std::nullopt;
  std::vector<int> found;
  RE2::Set::ErrorInfo error{};
  if (set_->Match(re2::StringPiece(text.data(), text.size()), &found, &error)) return found;
  // kOutOfMemory and kInconsistent are no "none of them".
  if (error.kind != RE2::Set::kNoError) return std::nullopt;
  return std::vector<int>();
}

}  // namespace cloche
