#include "policy/protected.hpp"

#include <algorithm>
#include <initializer_list>

#include "base/json_keys.hpp"
#include "base/path.hpp"
#include "policy/folded_name.hpp"
#include "policy/path_glob.hpp"

namespace cloche {
namespace {

using Scope = ProtectedEntry::Scope;

constexpr size_t most_entries = 1000;

// A name that is nothing but what is dropped stays as it is: it is still a name here.
std::vector<std::string> folded_components(std::string_view path) {
  std::string slashed(path);
  std::replace(slashed.begin(), slashed.end(), '\\', '/');
  std::vector<std::string> names;
  for (const auto& name : components_of(slashed)) names.push_back(folded_name(name));
  return names;
}

std::vector<std::string_view> views_of(const std::vector<std::string>& names) {
  return {names.begin(), names.end()};
}

// At any depth, and everything beneath.
std::vector<std::string> pattern_of(std::string_view path) {
  std::vector<std::string> pattern = folded_components(path);
  pattern.insert(pattern.begin(), "**");
  pattern.emplace_back("**");
  return pattern;
}

bool covers(const ProtectedEntry& entry, const std::vector<std::string_view>& names) {
  return components_match(entry.pattern, names);
}

class Reader {
 public:
  explicit Reader(const std::string& source) : source_(source) {}

  Result<ProtectedSet> file(const JsonValue& root) {
    TRY(keys(root, {"protected"}));
    const JsonValue* list = root.find("protected");
    if (list == nullptr || !list->is_array() || list->items.empty() || list->items.size() > most_entries)
      return wrong(root, "protected is not a list of 1 to " + std::to_string(most_entries) + " entries");
    ProtectedSet entries;
    for (const auto& item : list->items) entries.push_back(TRY(entry(item)));
    return entries;
  }

 private:
  Error wrong(const JsonValue& where, const std::string& what) const {
    return json_error(source_, where.line, what);
  }

  Result<void> keys(const JsonValue& object, std::initializer_list<std::string_view> known) const {
    if (!object.is_object()) return wrong(object, "an object is expected here");
    return refuse_unknown_keys(object, known, source_);
  }

  Result<std::string> text_of(const JsonValue& object, std::string_view key) const {
    return required_text(object, key, source_);
  }

  Result<ProtectedEntry> entry(const JsonValue& item) {
    TRY(keys(item, {"path", "reason", "scope", "match", "not_match"}));
    ProtectedEntry entry;
    entry.path = TRY(text_of(item, "path"));
    entry.reason = TRY(text_of(item, "reason"));
    entry.scope = TRY(scope_of(item));
    entry.source = source_;
    entry.line = item.line;
    const auto names = folded_components(entry.path);
    if (names.empty() || names.front() == "**" || entry.path.front() == '/')
      return wrong(item, "path is not a relative one that begins with a name");
    entry.pattern = pattern_of(entry.path);
    TRY(examples(item, "match", entry, true));
    TRY(examples(item, "not_match", entry, false));
    return entry;
  }

  Result<Scope> scope_of(const JsonValue& item) const {
    const JsonValue* value = item.find("scope");
    if (value == nullptr) return Scope::every_write;
    if (value->is_string() && value->text == "every_write") return Scope::every_write;
    if (value->is_string() && value->text == "file_tools") return Scope::file_tools;
    return wrong(*value, "scope is not every_write or file_tools");
  }

  Result<void> examples(const JsonValue& item, std::string_view key, const ProtectedEntry& entry,
                        bool expected) const {
    const JsonValue* list = item.find(key);
    if (list == nullptr || !list->is_array() || list->items.empty())
      return wrong(item, std::string(key) + " is not a list of examples");
    for (const auto& example : list->items) {
      if (!example.is_string()) return wrong(example, "an example is a path");
      const auto names = folded_components(example.text);
      if (covers(entry, views_of(names)) != expected)
        return wrong(example, entry.path + (expected ? " does not match " : " matches ") + example.text);
    }
    return {};
  }

  const std::string& source_;
};

}  // namespace

Result<ProtectedSet> read_protected(std::string_view text, const std::string& source) {
  const JsonValue root = TRY(read_json(text, source));
  return Reader(source).file(root);
}

const ProtectedEntry* find_protected(const ProtectedSet& entries, std::string_view path, Scope asked_by) {
  const auto names = folded_components(path);
  const auto views = views_of(names);
  for (const auto& entry : entries) {
    const bool counts = entry.scope == Scope::every_write || asked_by == Scope::file_tools;
    if (counts && covers(entry, views)) return &entry;
  }
  return nullptr;
}

ProtectedEntry protected_part(const std::string& path, std::string reason) {
  return {.path = path,
          .reason = std::move(reason),
          .scope = ProtectedEntry::Scope::file_tools,
          .source = "the installation",
          .pattern = pattern_of(path)};
}

bool is_cloches_own(std::string_view path) {
  const auto names = folded_components(path);
  return !names.empty() &&
         (names.front() == "tool_calls" || std::find(names.begin(), names.end(), ".cloche") != names.end());
}

}  // namespace cloche
