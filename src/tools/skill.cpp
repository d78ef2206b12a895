#include "tools/skill.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/json/json_writer.hpp"
#include "base/json/yaml_text.hpp"
#include "base/lists.hpp"
#include "base/text/ascii.hpp"
#include "base/text/command_words.hpp"
#include "base/text/pieces.hpp"
#include "model/limits.hpp"
#include "policy/hosts/host_patterns.hpp"
#include "policy/rules/globs.hpp"
#include "tools/commands/run_shell.hpp"
#include "tools/declaration.hpp"

namespace cloche {
namespace {

constexpr size_t longest_name = 64;
constexpr size_t longest_description = 8 << 10;
constexpr std::string_view prefix = "cloche.";

// Cloche.x, CLOCHE, cloche: not the prefix, but most likely meant for us.
bool means_us(std::string_view name) {
  constexpr std::string_view own = "cloche";
  return ascii::same_without_case(name.substr(0, own.size()), own);
}

// How a key is written as one string, where only strings may stand.
enum class Form { word, list, network, limits };
struct Key {
  std::string_view name;
  Form form;
};
constexpr Key our_keys[] = {{"tool_loadout", Form::list},     {"commands", Form::word},
                            {"needs_network", Form::network}, {"pass_env", Form::list},
                            {"capabilities", Form::list},     {"limits", Form::limits}};
constexpr std::string_view standard_keys[] = {"name",          "description",   "license",
                                              "compatibility", "allowed-tools", "metadata"};

const Key* find_key(std::string_view name) { return find_by(our_keys, &Key::name, name); }

// tool-loadout and Tool_Loadout are tool_loadout: a misspelt restriction is not ignored.
std::string folded(std::string_view name) {
  std::string text = ascii::lowered(name);
  std::ranges::replace(text, '-', '_');
  return text;
}

std::optional<std::string_view> meant_by(std::string_view name) {
  for (const auto& key : our_keys)
    if (folded(key.name) == folded(name)) return key.name;
  for (std::string_view key : standard_keys)
    if (folded(key) == folded(name)) return key;
  return {};
}

struct Frontmatter {
  std::string_view yaml = {};
  std::string_view body = {};  // what follows it
  int first_line = 2;
};

// Without its end: LF or CRLF. Blanks at its end say nothing.
std::string_view take_bare_line(std::string_view& text) {
  std::string_view line = take_line(text);
  while (line.ends_with('\r') || line.ends_with(' ') || line.ends_with('\t')) line.remove_suffix(1);
  return line;
}

Result<Frontmatter> find_frontmatter(std::string_view text, const std::string& source) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";  // some editors begin every file with it
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  if (take_bare_line(text) != "---")
    return json_error(source, 1, "a skill begins with a line ---, its frontmatter, and another line ---");
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view before = rest;
    if (take_bare_line(rest) == "---")
      return Frontmatter{text.substr(0, static_cast<size_t>(before.data() - text.data())), rest};
  }
  return json_error(source, 1, "the frontmatter has no end: a line --- is missing");
}

JsonValue string_at(std::string_view text, int line) {
  JsonValue value{.kind = JsonValue::Kind::string, .line = line, .members = {}};
  value.text = text;
  return value;
}

// Words between commas or blanks.
JsonValue list_in(std::string_view text, int line) {
  constexpr std::string_view between = ", \t\r\n";
  JsonValue list{.kind = JsonValue::Kind::array, .line = line, .members = {}};
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(between), text.size()));
    if (text.empty()) return list;
    const std::string_view word = text.substr(0, text.find_first_of(between));
    list.items.push_back(string_at(word, line));
    text.remove_prefix(word.size());
  }
}

Result<JsonValue> json_in(const std::string& text, int line, const std::string& source) {
  auto read = read_json(text, "", {.bytes = max_skill_bytes, .comments = JsonComments::refused});
  if (!read.ok()) return json_error(source, line, "this string is not JSON");
  JsonValue value = std::move(read).value();
  value.line = line;
  for (auto& item : value.items) item.line = line;
  for (auto& member : value.members) member.line = member.value.line = line;
  return value;
}

// NAME=VALUE between commas or blanks.
Result<JsonValue> limits_in(std::string_view text, int line, const std::string& source) {
  JsonValue object{.kind = JsonValue::Kind::object, .line = line, .members = {}};
  for (const auto& word : list_in(text, line).items) {
    const size_t equals = word.text.find('=');
    if (equals == std::string::npos)
      return json_error(source, line, "limits: " + json_quote(shown(word.text, 80)) + " is not NAME=VALUE");
    const std::string name = word.text.substr(0, equals);
    if (object.find(name) != nullptr) return json_error(source, line, "limits: " + name + " is given twice");
    object.members.push_back({name, line, string_at(std::string_view(word.text).substr(equals + 1), line)});
  }
  return object;
}

// The value that a string of metadata stands for.
Result<JsonValue> unfolded(const JsonMember& member, Form form, const std::string& source) {
  if (!member.value.is_string()) return wrong_type(source, member.value, member.name, "a string (quote it)");
  const std::string& text = member.value.text;
  if (form == Form::word) return member.value;
  if (form == Form::network && (text == "true" || text == "false")) {
    JsonValue truth{.kind = JsonValue::Kind::boolean, .line = member.value.line, .members = {}};
    truth.truth = text == "true";
    return truth;
  }
  if (text.starts_with(form == Form::limits ? '{' : '[')) return json_in(text, member.value.line, source);
  if (form == Form::limits) return limits_in(text, member.value.line, source);
  return list_in(text, member.value.line);
}

// Words between commas or blanks; what stands in brackets belongs to its word.
std::vector<std::string> split_outside_brackets(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  int depth = 0;
  for (char c : std::string(text) + " ") {
    if (c == '(') ++depth;
    if (c == ')' && depth > 0) --depth;
    const bool between = depth == 0 && (c == ',' || c == ' ' || c == '\t' || c == '\n');
    if (!between) word += c;
    if (between && !word.empty()) words.push_back(std::exchange(word, {}));
  }
  return words;
}

// Each tool by its one name and once; a name that is none of ours is an executor's, or another agent's.
std::vector<std::string> in_one_spelling(const std::vector<std::string>& names) {
  std::vector<std::string> tools;
  for (const auto& name : names) {
    const std::string ours = tool_name(name);
    const std::string& tool = ours.empty() ? name : ours;
    if (!contains(tools, tool)) tools.push_back(tool);
  }
  return tools;
}

class SkillReader {
 public:
  SkillReader(const JsonValue& root, const std::string& source) : root_(root), source_(source) {}

  Result<Skill> read(Trust trust) {
    skill_.source = source_;
    skill_.trust = trust;
    TRY(look_at_keys());
    TRY(read_standard_keys());
    if (const auto value = TRY(declared("tool_loadout"))) skill_.loadout = TRY(read_loadout(*value));
    if (const auto value = TRY(declared("commands"))) skill_.commands = TRY(read_commands(*value));
    if (const auto value = TRY(declared("needs_network"))) skill_.network = TRY(read_network(*value));
    if (const auto value = TRY(declared("pass_env"))) skill_.pass_env = TRY(read_pass_env(*value));
    if (const auto value = TRY(declared("capabilities")))
      skill_.capabilities = TRY(read_capabilities(*value, source_));
    if (const auto value = TRY(declared("limits"))) skill_.limits = TRY(read_limit_settings(*value, source_));
    return std::move(skill_);
  }

 private:
  Error fail(int line, const std::string& what) const { return json_error(source_, line, what); }

  // Warns of unknown keys, and refuses misspelt ones of ours.
  Result<void> look_at_keys() {
    for (const auto& member : root_.members) {
      const auto meant = meant_by(member.name);
      if (meant && *meant != member.name)
        return fail(member.line, "the key " + json_quote(member.name) + " is spelt " + std::string(*meant));
      if (!meant) warn(member);
    }
    const JsonValue* metadata = root_.find("metadata");
    if (metadata == nullptr || metadata->is_null()) return {};
    if (!metadata->is_object()) return wrong_type(source_, *metadata, "metadata", "an object");
    for (const auto& member : metadata->members) {
      if (!member.name.starts_with(prefix)) {
        if (means_us(member.name)) warn(member);  // it may be meant to restrict something
        continue;
      }
      const std::string name = member.name.substr(prefix.size());
      if (find_key(name) != nullptr) continue;
      if (const auto meant = meant_by(name); meant && find_key(*meant) != nullptr)
        return fail(member.line, "the key " + json_quote(member.name) + " is spelt " + std::string(prefix) +
                                     std::string(*meant));
      warn(member);
    }
    return {};
  }

  void warn(const JsonMember& member) {
    skill_.warnings.push_back(file_line(source_, member.line) + ": unknown key " +
                              json_quote(shown(member.name, 80)));
  }

  Result<void> read_standard_keys() {
    skill_.name = TRY(read_name());
    if (const JsonValue* value = root_.find("description"))
      skill_.description = TRY(read_text(*value, source_, "description", longest_description));
    for (std::string_view key : {"license", "compatibility"})
      if (const JsonValue* value = root_.find(key); value != nullptr && !value->is_string())
        return wrong_type(source_, *value, key, "a string");
    if (const JsonValue* value = root_.find("allowed-tools"))
      skill_.allowed_tools = TRY(read_allowed_tools(*value));
    return {};
  }

  Result<std::string> read_name() const {
    const JsonValue* name = root_.find("name");
    if (name == nullptr) return fail(root_.line, "name is missing");
    if (!name->is_string()) return wrong_type(source_, *name, "name", "a string");
    const auto good = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
    if (name->text.empty() || name->text.size() > longest_name || !std::ranges::all_of(name->text, good))
      return fail(name->line, "name must be 1 to 64 of a-z, 0-9 and -");
    return name->text;
  }

  // What this key says, wherever it stands: as it would stand at the top.
  Result<std::optional<JsonValue>> declared(std::string_view name) const {
    const JsonValue* top = root_.find(name);
    const JsonMember* folded_in = in_metadata(name);
    if (folded_in == nullptr) return top == nullptr ? std::optional<JsonValue>() : std::optional(*top);
    JsonValue value = TRY(unfolded(*folded_in, find_key(name)->form, source_));
    if (top != nullptr && canonical_json(*top) != canonical_json(value))
      return fail(folded_in->line, std::string(name) + " is also given at the top, with another value");
    return std::optional(std::move(value));
  }

  const JsonMember* in_metadata(std::string_view name) const {
    const JsonValue* metadata = root_.find("metadata");
    if (metadata == nullptr) return nullptr;
    const std::string full = std::string(prefix) + std::string(name);
    for (const auto& member : metadata->members)
      if (member.name == full) return &member;
    return nullptr;
  }

  Result<std::vector<std::string>> read_loadout(const JsonValue& value) const {
    const auto names =
        TRY(read_words(value, source_, "tool_loadout", [](std::string_view name) -> std::string {
          return is_tool_pattern(name) && !is_glob(name) ? "" : "is not the name of a tool";
        }));
    return in_one_spelling(names);
  }

  Result<CommandProfile> read_commands(const JsonValue& value) const {
    if (!value.is_string()) return wrong_type(source_, value, "commands", "passive or full");
    const auto profile = command_profile(value.text);
    if (profile == CommandProfile::any)
      return fail(value.line, "commands: only the operator gives any, with --commands any");
    if (!profile) return fail(value.line, "commands must be passive or full");
    return *profile;
  }

  Result<NetworkNeed> read_network(const JsonValue& value) const {
    if (value.is_boolean()) return NetworkNeed{.unnamed = value.truth};
    if (!value.is_array())
      return wrong_type(source_, value, "needs_network", "true, false or a list of hosts");
    NetworkNeed need;
    need.hosts = TRY(read_words(value, source_, "needs_network", [](std::string_view host) -> std::string {
      const ReadHost read = read_declared_host(host);
      return read ? ""
                  : "is no host, " + std::string(read.problem) +
                        ": write it like api.example.org:443 or *.example.org";
    }));
    return need;
  }

  Result<std::vector<std::string>> read_pass_env(const JsonValue& value) const {
    return read_words(value, source_, "pass_env", [](std::string_view name) -> std::string {
      return ascii::is_variable_name(name) ? "" : "is not the name of a variable";
    });
  }

  // Other agents' tools stand here too, like Bash(git:*); they name nothing of ours and do no harm.
  Result<std::vector<std::string>> read_allowed_tools(const JsonValue& value) const {
    const auto any = [](std::string_view) { return std::string(); };
    if (value.is_array()) return in_one_spelling(TRY(read_words(value, source_, "allowed-tools", any)));
    if (!value.is_string()) return wrong_type(source_, value, "allowed-tools", "a string or a list");
    return in_one_spelling(split_outside_brackets(value.text));
  }

  const JsonValue& root_;
  const std::string& source_;
  Skill skill_ = {};
};

}  // namespace

Result<Skill> read_skill(std::string_view text, const std::string& source, Trust trust) {
  if (text.size() > max_skill_bytes)
    return json_error(source, 1, "a skill has at most " + std::to_string(max_skill_bytes) + " bytes");
  if (!is_utf8(text)) return json_error(source, 1, "it is not UTF-8");
  const Frontmatter front = TRY(find_frontmatter(text, source));
  const JsonValue root =
      TRY(read_yaml(front.yaml, source, {.bytes = max_skill_bytes, .first_line = front.first_line}));
  if (!root.is_object())
    return json_error(source, front.first_line, "the frontmatter must be keys and values");
  return SkillReader(root, source).read(trust);
}

Result<std::string_view> skill_body(std::string_view text, const std::string& source) {
  return TRY(find_frontmatter(text, source)).body;
}

}  // namespace cloche
