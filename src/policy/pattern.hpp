// Patterns by RE2: linear in the text whatever the pattern, so that neither a rule nor a schema can be made
// to hang. Bounded in length and in compiled size.
#pragma once

#include <re2/re2.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cloche {

enum class Dot { stops_at_newline, matches_newline };

RE2::Options pattern_options(Dot dot);

// The error says what is wrong with the pattern, without a place.
Result<std::shared_ptr<const RE2>> compile_pattern(const std::string& pattern, Dot dot);

// Found anywhere in the text.
bool found_in(const RE2& pattern, std::string_view text);

}  // namespace cloche
