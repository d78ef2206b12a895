// What the readers of skills and of executors share: lists of words and capabilities, each with the place
// that an error names.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json_text.hpp"
#include "base/result.hpp"
#include "model/skill.hpp"

namespace cloche {

// "must be a string, not a number" for the value of a key.
Error wrong_type(const std::string& source, const JsonValue& value, std::string_view key,
                 std::string_view wanted);

// A string of one or more lines without control characters: it is shown to models and on terminals.
Result<std::string> read_text(const JsonValue& value, const std::string& source, std::string_view key,
                              size_t most);

// A list of strings, each one good by `problem_of_word` (empty: it is); the second of two equal ones is left
// out.
Result<std::vector<std::string>> read_words(
    const JsonValue& value, const std::string& source, std::string_view key,
    const std::function<std::string(std::string_view)>& problem_of_word);

// Strings like "fs:read:~/notes/**", or objects {kind, mode, hints}.
Result<std::vector<Capability>> read_capabilities(const JsonValue& value, const std::string& source);

}  // namespace cloche
