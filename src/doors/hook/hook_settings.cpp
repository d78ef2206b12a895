#include "doors/hook/hook_settings.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/json/json_text.hpp"
#include "base/json/json_writer.hpp"
#include "base/text/command_words.hpp"
#include "doors/hook/json_spans.hpp"

namespace cloche {
namespace {

constexpr JsonLimits settings_limits{.comments = JsonComments::refused};
constexpr std::string_view line_end = " || exit 2";
constexpr int agents_seconds = 60;  // more than the hook takes at most

std::string indented(int depth) { return "\n" + std::string(static_cast<size_t>(depth) * 2, ' '); }

// As the agents themselves write their settings: one that saves them again leaves it as it is.
std::string entry_of(const std::string& command, int depth) {
  return "{" + indented(depth + 1) + "\"matcher\": \"*\"," + indented(depth + 1) + "\"hooks\": [" +
         indented(depth + 2) + "{" + indented(depth + 3) + "\"type\": \"command\"," + indented(depth + 3) +
         "\"command\": " + json_quote(command) + "," + indented(depth + 3) +
         "\"timeout\": " + std::to_string(agents_seconds) + indented(depth + 2) + "}" + indented(depth + 1) +
         "]" + indented(depth) + "}";
}

// What is put behind the bracket of the innermost container that is there: of the settings, of `hooks`, of
// `PreToolUse`.
struct Piece {
  int depth;  // of what is put in
  std::string text;
};
std::vector<Piece> pieces_of(const std::string& command) {
  const std::string in_list = indented(3) + entry_of(command, 3);
  const std::string in_hooks = indented(2) + "\"PreToolUse\": [" + in_list + indented(2) + "]";
  const std::string in_settings = indented(1) + "\"hooks\": {" + in_hooks + indented(1) + "}";
  return {{1, in_settings}, {2, in_hooks}, {3, in_list}};
}

std::string closed(const Piece& piece, bool alone) {
  return piece.text + (alone ? indented(piece.depth - 1) : ",");
}

Error other_shape(const std::string& what) {
  return refusal("the settings have an unexpected shape: " + what,
                 "install the hook by hand; see docs/hook.md");
}

bool is_our_hook(const JsonValue& hook, const std::string& cloche) {
  const JsonValue* text = hook.find("command");
  return text != nullptr && text->is_string() && is_hook_line(text->text, cloche);
}

// Which of the group's hooks is ours; nothing: none.
std::optional<size_t> our_hook_in(const JsonValue& group, const std::string& cloche) {
  const JsonValue* hooks = group.find("hooks");
  if (hooks == nullptr || !hooks->is_array()) return std::nullopt;
  for (size_t i = 0; i < hooks->items.size(); ++i)
    if (is_our_hook(hooks->items[i], cloche)) return i;
  return std::nullopt;
}

bool is_ours(const JsonValue& group, const std::string& cloche) {
  return our_hook_in(group, cloche).has_value();
}

const JsonValue* groups_of(const JsonValue& settings) {
  const JsonValue* hooks = settings.find("hooks");
  return hooks != nullptr ? hooks->find("PreToolUse") : nullptr;
}

// The lines of our hooks, in their order.
std::vector<std::string> our_lines(const JsonValue& settings, const std::string& cloche) {
  std::vector<std::string> lines;
  if (const JsonValue* groups = groups_of(settings))
    for (const auto& group : groups->items)
      if (const auto which = our_hook_in(group, cloche))
        lines.push_back(group.find("hooks")->items[*which].find("command")->text);
  return lines;
}

bool has_hook(const JsonValue& settings, const std::string& cloche) {
  return !our_lines(settings, cloche).empty();
}

// For some tools only, with less time or in the background it would look set up and be none.
bool has_whole_hook(const JsonValue& settings, const std::string& cloche) {
  for (const auto& line : our_lines(settings, cloche)) {
    const std::string whole = canonical_json(read_json(entry_of(line, 0), "").value());
    const auto& groups = groups_of(settings)->items;
    if (std::ranges::any_of(groups, [&](const JsonValue& group) { return canonical_json(group) == whole; }))
      return true;
  }
  return false;
}

// The same object with this member changed, or without it when nothing is left of it and it was not there
// before.
template <typename Change>
JsonValue with_member(JsonValue object, std::string_view name, bool was_there, const Change& change) {
  for (auto& member : object.members)
    if (member.name == name) change(member.value);
  std::erase_if(object.members, [&](const JsonMember& one) {
    return one.name == name && !was_there && one.value.items.empty() && one.value.members.empty();
  });
  return object;
}

// Whether what was made of the settings is the settings with the hook, and nothing else was touched.
bool is_right(std::string_view made, const JsonValue& before, const std::string& cloche) {
  const auto after = read_json(made, "", settings_limits);
  if (!after.ok() || !has_hook(after.value(), cloche)) return false;
  const auto drop_ours = [&](JsonValue& groups) {
    std::erase_if(groups.items, [&](const JsonValue& group) { return is_ours(group, cloche); });
  };
  const auto drop_groups = [&](JsonValue& hooks) {
    hooks = with_member(std::move(hooks), "PreToolUse", groups_of(before) != nullptr, drop_ours);
  };
  const JsonValue rest = with_member(after.value(), "hooks", before.find("hooks") != nullptr, drop_groups);
  return canonical_json(rest) == canonical_json(before);
}

// Where it may be put in.
Result<void> check_shape(const JsonValue& settings, const std::string& cloche) {
  if (!settings.is_object()) return other_shape("they are not an object");
  if (const JsonValue* hooks = settings.find("hooks"); hooks != nullptr && !hooks->is_object())
    return other_shape("hooks is not an object");
  if (const JsonValue* groups = groups_of(settings); groups != nullptr && !groups->is_array())
    return other_shape("hooks.PreToolUse is not a list");
  if (const JsonValue* off = settings.find("disableAllHooks");
      off != nullptr && (!off->is_boolean() || off->truth))
    return refusal("the settings have disableAllHooks, so no hook would run", "remove it first");
  if (has_whole_hook(settings, cloche)) return refusal("the hook is installed there already");
  if (has_hook(settings, cloche))
    return refusal(
        "the hook is there, but changed: it is for some tools only, or has other settings than it needs",
        "remove it with --uninstall, then install it again");
  return {};
}

// As one line of ours was put in, and so what it was put into comes out byte for byte.
std::optional<std::string> undone(std::string_view settings, const std::string& command,
                                  const std::string& cloche) {
  for (const auto& piece : pieces_of(command)) {
    for (const bool alone : {true, false}) {
      const std::string put_in = closed(piece, alone);
      const size_t at = settings.find(put_in);
      if (at == std::string_view::npos) continue;
      std::string made(settings);
      made.erase(at, put_in.size());
      const auto value = read_json(made, "", settings_limits);
      if (value.ok() && !has_hook(value.value(), cloche)) return made;
    }
  }
  return std::nullopt;
}

size_t index_of(const std::vector<JsonSpan>& spans, const JsonSpan& one) {
  size_t index = 0;
  while (spans[index].begin != one.begin) ++index;
  return index;
}

// The text without one of our hooks, and without what then holds nothing: its group, the list, `hooks`.
// Nothing: it was not found in the text.
std::optional<std::string> cut_once(std::string_view text, const std::string& cloche) {
  const JsonValue settings = read_json(text, "", settings_limits).value();
  const size_t root = begin_of_json(text);
  const auto hooks = member_span(text, root, "hooks");
  const auto list = hooks ? member_span(text, hooks->value, "PreToolUse") : std::nullopt;
  const JsonValue* groups = groups_of(settings);
  if (!list || groups == nullptr) return std::nullopt;
  for (size_t i = 0; i < groups->items.size(); ++i) {
    const auto which = our_hook_in(groups->items[i], cloche);
    if (!which) continue;
    const auto own = member_span(text, spans_in(text, list->value)[i].value, "hooks");
    if (!own) return std::nullopt;
    if (spans_in(text, own->value).size() > 1) return cut_span(text, own->value, *which);
    if (groups->items.size() > 1) return cut_span(text, list->value, i);
    const auto beside = spans_in(text, hooks->value);
    if (beside.size() > 1) return cut_span(text, hooks->value, index_of(beside, *list));
    return cut_span(text, root, index_of(spans_in(text, root), *hooks));
  }
  return std::nullopt;
}

}  // namespace

std::string hook_command_line(const std::string& cloche, const std::vector<std::string>& flags) {
  return cloche + " hook" + (flags.empty() ? "" : " " + quote_words(flags)) + std::string(line_end);
}

bool is_hook_line(std::string_view command, const std::string& cloche) {
  const std::string begin = cloche + " hook";
  if (!command.starts_with(begin) || !command.ends_with(line_end)) return false;
  if (command.size() < begin.size() + line_end.size()) return false;
  command.remove_prefix(begin.size());
  command.remove_suffix(line_end.size());
  if (command.empty()) return true;
  const SplitWords flags = split_words(command);
  return command.starts_with(" --") && flags.problem.empty() && flags.operators.empty();
}

bool has_hook(std::string_view settings, const std::string& cloche) {
  const auto value = read_json(settings, "", settings_limits);
  return value.ok() && has_hook(value.value(), cloche);
}

bool is_blank(std::string_view settings) {
  return settings.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

bool is_empty_object(std::string_view settings) {
  const auto value = read_json(settings, "", settings_limits);
  return value.ok() && value.value().is_object() && value.value().members.empty();
}

Result<std::string> with_hook(std::string_view settings, const std::string& cloche,
                              const std::string& command) {
  const std::string text = is_blank(settings) ? std::string(empty_settings) : std::string(settings);
  const JsonValue before = TRY(read_json(text, "", settings_limits));
  TRY(check_shape(before, cloche));
  size_t bracket = begin_of_json(text);
  size_t level = 0;
  for (const char* name : {"hooks", "PreToolUse"}) {
    const auto inner = member_span(text, bracket, name);
    if (!inner) break;
    bracket = inner->value;
    ++level;
  }
  std::string made = text;
  made.insert(bracket + 1, closed(pieces_of(command)[level], spans_in(text, bracket).empty()));
  if (!is_right(made, before, cloche)) return other_shape("they could not be changed safely");
  return made;
}

Result<std::string> without_hook(std::string_view settings, const std::string& cloche) {
  if (!has_hook(settings, cloche)) return refusal("the hook is not installed there");
  for (const auto& line : our_lines(TRY(read_json(settings, "", settings_limits)), cloche))
    if (auto made = undone(settings, line, cloche)) return *std::move(made);
  // The agent or the user has rewritten the file since.
  std::string text(settings);
  while (has_hook(text, cloche)) {
    auto made = cut_once(text, cloche);
    if (!made || !read_json(*made, "", settings_limits).ok())
      return refusal("the hook is there, but cannot be removed safely",
                     "remove it by hand; see docs/hook.md");
    text = *std::move(made);
  }
  return text;
}

}  // namespace cloche
