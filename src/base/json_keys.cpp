#include "base/json_keys.hpp"

#include <algorithm>

#include "base/json/json_writer.hpp"
#include "base/text/visible_text.hpp"

namespace cloche {

Result<void> refuse_unknown_keys(const JsonValue& object, std::span<const std::string_view> known,
                                 const std::string& source) {
  for (const auto& member : object.members) {
    if (std::find(known.begin(), known.end(), member.name) == known.end())
      return json_error(source, member.line, "unknown key " + json_quote(shown(member.name, 80)));
  }
  return {};
}

Result<std::string> required_text(const JsonValue& object, std::string_view key, const std::string& source) {
  const JsonValue* value = object.find(key);
  if (value == nullptr || !value->is_string() || value->text.empty())
    return json_error(source, value != nullptr ? value->line : object.line,
                      std::string(key) + " is not a text");
  return value->text;
}

}  // namespace cloche
