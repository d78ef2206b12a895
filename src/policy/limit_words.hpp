// Limits as configuration, profiles and skills write them: an object of names to numbers or texts like "30s",
// "512M".
#pragma once

#include <string>
#include <vector>

#include "base/json/json_text.hpp"
#include "base/result.hpp"
#include "model/limit_word.hpp"

namespace cloche {

// By the names of the flags: timeout, cpu, memory, ... Refuses what is unknown or no limit, with file:line.
Result<std::vector<LimitWord>> read_limit_words(const JsonValue& object, const std::string& source);

// "512M", "30s"
std::string show_limit(LimitId id, uint64_t value);

// Of each the smaller one.
void narrow(Limits& limits, const std::vector<LimitWord>& words);

}  // namespace cloche
