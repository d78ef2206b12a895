#include "doors/hook_settings.hpp"

#include <optional>
#include <vector>

#include "base/json.hpp"
#include "base/json_text.hpp"

namespace cloche {
namespace {

constexpr JsonLimits settings_limits{.comments = JsonComments::refused};
constexpr int agents_seconds = 60;  // more than the front of the hook takes at most

// Walks over a text that read_json() has found to be good.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  size_t skip_space(size_t at) const {
    while (at < text_.size() && std::string_view(" \t\r\n").find(text_[at]) != std::string_view::npos) ++at;
    return at;
  }

  size_t skip_string(size_t at) const {
    for (++at; text_[at] != '"'; ++at)
      if (text_[at] == '\\') ++at;
    return at + 1;
  }

  // Past the value that begins here.
  size_t skip_value(size_t at) const {
    int depth = 0;
    do {
      if (text_[at] == '"') {
        at = skip_string(at);
        continue;
      }
      depth += text_[at] == '{' || text_[at] == '[' ? 1 : 0;
      depth -= text_[at] == '}' || text_[at] == ']' ? 1 : 0;
      ++at;
    } while (depth > 0 || (at < text_.size() && depth == 0 && is_in_word(at)));
    return at;
  }

  // Where the member's value begins; nothing: the object that begins at `object` has none of that name.
  std::optional<size_t> member(size_t object, std::string_view name) const {
    size_t at = skip_space(object + 1);
    while (text_[at] == '"') {
      const size_t end = skip_string(at);
      const std::string_view found = text_.substr(at + 1, end - at - 2);
      at = skip_space(skip_space(end) + 1);  // past the colon
      if (found == name) return at;
      at = skip_space(skip_value(at));
      if (text_[at] == ',') at = skip_space(at + 1);
    }
    return std::nullopt;
  }

  bool is_empty(size_t bracket) const {
    const char next = text_[skip_space(bracket + 1)];
    return next == '}' || next == ']';
  }

 private:
  // Of a number, true, false or null.
  bool is_in_word(size_t at) const {
    return std::string_view(",:]} \t\r\n\"[{").find(text_[at]) == std::string_view::npos;
  }

  std::string_view text_;
};

std::string indented(int depth) { return "\n" + std::string(static_cast<size_t>(depth) * 2, ' '); }

std::string entry_of(const std::string& command, int depth) {
  return "{" + indented(depth + 1) + "\"matcher\": \"*\"," + indented(depth + 1) +
         "\"hooks\": [{\"type\": \"command\", \"command\": " + json_quote(command) +
         ", \"timeout\": " + std::to_string(agents_seconds) + "}]" + indented(depth) + "}";
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
  return refusal("the settings have another shape: " + what, "set the hook up by hand; see docs/hook.md");
}

bool is_ours(const JsonValue& group, const std::string& command) {
  const JsonValue* hooks = group.find("hooks");
  if (hooks == nullptr || !hooks->is_array()) return false;
  for (const auto& hook : hooks->items)
    if (const JsonValue* text = hook.find("command"); text != nullptr && text->text == command) return true;
  return false;
}

const JsonValue* groups_of(const JsonValue& settings) {
  const JsonValue* hooks = settings.find("hooks");
  return hooks != nullptr ? hooks->find("PreToolUse") : nullptr;
}

bool has_hook(const JsonValue& settings, const std::string& command) {
  const JsonValue* groups = groups_of(settings);
  if (groups == nullptr) return false;
  for (const auto& group : groups->items)
    if (is_ours(group, command)) return true;
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
bool is_right(std::string_view made, const JsonValue& before, const std::string& command) {
  const auto after = read_json(made, "", settings_limits);
  if (!after.ok() || !has_hook(after.value(), command)) return false;
  const auto drop_ours = [&](JsonValue& groups) {
    std::erase_if(groups.items, [&](const JsonValue& group) { return is_ours(group, command); });
  };
  const auto drop_groups = [&](JsonValue& hooks) {
    hooks = with_member(std::move(hooks), "PreToolUse", groups_of(before) != nullptr, drop_ours);
  };
  const JsonValue rest = with_member(after.value(), "hooks", before.find("hooks") != nullptr, drop_groups);
  return canonical_json(rest) == canonical_json(before);
}

}  // namespace

std::string hook_command_line(const std::string& cloche) { return cloche + " hook || exit 2"; }

bool has_hook(std::string_view settings, const std::string& command) {
  const auto value = read_json(settings, "", settings_limits);
  return value.ok() && has_hook(value.value(), command);
}

Result<std::string> with_hook(std::string_view settings, const std::string& command) {
  const std::string text = settings.empty() ? "{}\n" : std::string(settings);
  const JsonValue before = TRY(read_json(text, "", settings_limits));
  if (!before.is_object()) return other_shape("they are no object");
  if (const JsonValue* hooks = before.find("hooks"); hooks != nullptr && !hooks->is_object())
    return other_shape("hooks is no object");
  if (const JsonValue* groups = groups_of(before); groups != nullptr && !groups->is_array())
    return other_shape("hooks.PreToolUse is no list");
  if (has_hook(before, command)) return refusal("the hook is set up there already");

  const Scanner scanner(text);
  size_t bracket = scanner.skip_space(0);
  size_t level = 0;
  for (const char* name : {"hooks", "PreToolUse"}) {
    const auto inner = scanner.member(bracket, name);
    if (!inner) break;
    bracket = *inner;
    ++level;
  }
  std::string made = text;
  made.insert(bracket + 1, closed(pieces_of(command)[level], scanner.is_empty(bracket)));
  if (!is_right(made, before, command)) return other_shape("they could not be changed safely");
  return made;
}

Result<std::string> without_hook(std::string_view settings, const std::string& command) {
  for (const auto& piece : pieces_of(command)) {
    for (const bool alone : {true, false}) {
      const std::string put_in = closed(piece, alone);
      const size_t at = settings.find(put_in);
      if (at == std::string_view::npos) continue;
      std::string made(settings);
      made.erase(at, put_in.size());
      if (!read_json(made, "", settings_limits).ok() || has_hook(made, command)) continue;
      return made;
    }
  }
  if (!has_hook(settings, command)) return refusal("the hook is not set up there");
  return refusal("the hook is there, but not as it was put in", "take it out by hand; see docs/hook.md");
}

}  // namespace cloche
