// Members of an object that Cloche has written itself: what is not there, or is something else, is nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json/json_text.hpp"

namespace cloche {

// Empty where there is no such text.
inline std::string text_of(const JsonValue& object, std::string_view key) {
  const JsonValue* value = object.find(key);
  return value != nullptr && value->is_string() ? value->text : std::string();
}

// 0 where there is no such number, or it is negative or no whole one.
inline uint64_t number_of(const JsonValue& object, std::string_view key) {
  const JsonValue* value = object.find(key);
  return value != nullptr && value->whole && value->integer > 0 ? static_cast<uint64_t>(value->integer) : 0;
}

}  // namespace cloche
