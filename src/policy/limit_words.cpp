#include "policy/limit_words.hpp"

#include <algorithm>

#include "base/json/json_writer.hpp"
#include "base/text/visible_text.hpp"

namespace cloche {
namespace {

const LimitInfo* find_limit(std::string_view name) {
  for (const auto& row : limit_table) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace

Result<std::vector<LimitWord>> read_limit_words(const JsonValue& object, const std::string& source) {
  if (!object.is_object()) return json_error(source, object.line, "limits is not an object");
  std::vector<LimitWord> words;
  for (const auto& [name, line, value] : object.members) {
    const LimitInfo* row = find_limit(name);
    if (row == nullptr)
      return json_error(source, line, "limits: unknown limit " + json_quote(shown(name, 80)));
    const bool is_number = value.is_number() && value.whole;
    if (!value.is_string() && !is_number)
      return json_error(source, value.line,
                        "limits: " + name + " is not a whole number or a text like \"30s\" or \"512M\"");
    Limits read;
    const auto set = set_limit(read, *row, value.is_string() ? value.text : std::to_string(value.integer));
    if (!set.ok()) return json_error(source, value.line, "limits: " + describe(set.error()));
    words.push_back({row->id, read.*row->field, line});
  }
  return words;
}

std::string show_limit(LimitId id, uint64_t value) {
  const LimitInfo& row = info_of(id);
  Limits limits;
  limits.*row.field = value;
  return show_limit(limits, row);
}

void narrow(Limits& limits, const std::vector<LimitWord>& words) {
  for (const auto& word : words) {
    uint64_t& field = limits.*info_of(word.id).field;
    field = std::min(field, word.value);
  }
}

}  // namespace cloche
