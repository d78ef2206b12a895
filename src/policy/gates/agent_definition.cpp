#include "policy/gates/agent_definition.hpp"

#include <algorithm>

#include "base/json/yaml_text.hpp"
#include "base/lists.hpp"
#include "base/text/ascii.hpp"
#include "base/text/visible_text.hpp"

namespace cloche {
namespace {

std::string_view without_mark(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  return text;
}

// White space of any alphabet, for all that is known: bytes that are no visible ASCII.
bool is_visible(char byte) { return byte > 0x20 && byte < 0x7f; }

// Between two lines that begin with ---; none: there is no head. An open one is all of the text, which is no
// YAML then, or else has every key in it.
std::optional<std::string_view> head_of(std::string_view text) {
  const auto first = std::ranges::find_if(text, is_visible);
  const auto start = first == text.end() ? std::string_view::npos : static_cast<size_t>(first - text.begin());
  if (start == std::string_view::npos || !text.substr(start).starts_with("---")) return std::nullopt;
  const size_t line_end = text.find('\n', start);
  if (line_end == std::string_view::npos) return std::string_view{};
  const size_t end = text.find("\n---", line_end);
  return text.substr(line_end + 1, end == std::string_view::npos ? end : end - line_end);
}

// What another reader may take for the end of the head or of a line.
bool may_end_elsewhere(std::string_view head) {
  for (const std::string_view mark : {"---", "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"})
    if (head.find(mark) != std::string_view::npos) return true;
  for (size_t at = head.find('\r'); at != std::string_view::npos; at = head.find('\r', at + 1))
    if (!head.substr(at + 1).starts_with('\n')) return true;
  return false;
}

// A key by which an object of JavaScript, which is what agents make of a head, may get others.
bool has_prototype(const JsonValue& value) {
  for (const auto& member : value.members)
    if (member.name == "__proto__" || has_prototype(member.value)) return true;
  return std::ranges::any_of(value.items, has_prototype);
}

std::string_view trimmed(std::string_view name) {
  const auto is_space = [](char byte) { return static_cast<unsigned char>(byte) <= ' '; };
  while (!name.empty() && is_space(name.front())) name.remove_prefix(1);
  while (!name.empty() && is_space(name.back())) name.remove_suffix(1);
  return name;
}

// "a:b" is called by "b" as well, for all that is known.
std::string_view last_part(std::string_view name) { return name.substr(name.rfind(':') + 1); }

bool same_name(std::string_view one, std::string_view other) {
  return ascii::same_without_case(trimmed(last_part(one)), trimmed(last_part(other)));
}

}  // namespace

AgentDefinition read_agent_definition(std::string_view text) {
  text = without_mark(text);
  AgentDefinition definition;
  // Wherever it stands: !`command` and a fenced block that begins with ```!.
  definition.runs_commands =
      text.find("!`") != std::string_view::npos || text.find("```!") != std::string_view::npos;
  definition.names_files = text.find('@') != std::string_view::npos;
  const auto head = head_of(text);
  if (!head) {
    definition.understood = true;
    return definition;
  }
  if (may_end_elsewhere(*head)) return definition;
  const auto read = read_yaml(*head, "", {.tags = YamlTags::none});
  if (!read.ok() || !read.value().is_object() || has_prototype(read.value())) return definition;
  definition.understood = true;
  for (const auto& member : read.value().members) {
    definition.keys.push_back(member.name);
    if (!ascii::same_without_case(member.name, "name")) continue;
    if (!member.value.is_string() || !definition.name.empty()) definition.understood = false;
    definition.name = member.value.text;
  }
  return definition;
}

bool may_be_called(const AgentDefinition& definition, const std::vector<std::string>& by_place,
                   std::string_view name) {
  if (!definition.understood || same_name(definition.name, name)) return true;
  return std::ranges::any_of(by_place, [&](const std::string& one) { return same_name(one, name); });
}

std::optional<std::string> why_not_harmless(const AgentDefinition& definition,
                                            const std::vector<std::string>& known_keys, ModelsWords words) {
  if (!definition.understood) return "its head cannot be read";
  if (definition.runs_commands) return "its text holds commands that the agent would run";
  if (definition.names_files && words == ModelsWords::some)
    return "its text names files with @, and the call would add to their names";
  for (const auto& key : definition.keys)
    if (!contains(known_keys, key)) return "its head has " + shown(key, 40);
  return std::nullopt;
}

}  // namespace cloche
