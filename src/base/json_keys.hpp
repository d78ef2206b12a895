// What every reader of a file of ours asks of an object: no unknown key, because a word that is
// misspelt would otherwise be a rule that is not there.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "base/json/json_text.hpp"

namespace cloche {

// Refuses with file:line the first key that is not known.
Result<void> refuse_unknown_keys(const JsonValue& object, std::span<const std::string_view> known,
                                 const std::string& source);
inline Result<void> refuse_unknown_keys(const JsonValue& object,
                                        std::initializer_list<std::string_view> known,
                                        const std::string& source) {
  return refuse_unknown_keys(object, std::span(known.begin(), known.size()), source);
}

// A text that is there and is not empty.
Result<std::string> required_text(const JsonValue& object, std::string_view key, const std::string& source);

}  // namespace cloche
