#include "tools/commands/executor.hpp"

#include <algorithm>
#include <utility>

#include "base/json/json_text.hpp"
#include "base/json/json_writer.hpp"
#include "base/lists.hpp"
#include "base/sys/path.hpp"
#include "base/text/command_words.hpp"
#include "model/backend.hpp"
#include "policy/schema/json_schema.hpp"
#include "tools/commands/run_shell.hpp"
#include "tools/declaration.hpp"

namespace cloche {
namespace {

constexpr size_t longest_description = 8 << 10;
constexpr JsonLimits manifest_limits{.bytes = max_manifest_bytes};
constexpr std::string_view known_keys[] = {"name", "description",  "input_schema", "output_schema",
                                           "code", "capabilities", "limits",       "isolation"};

// With its unit in the name or without, as the flags have it.
const LimitInfo* find_limit(std::string_view name) {
  if (name == "timeout_s") name = "timeout";
  if (name == "cpu_s") name = "cpu";
  return find_by(limit_table, &LimitInfo::name, name);
}

class ManifestReader {
 public:
  ManifestReader(const JsonValue& root, const std::string& source) : root_(root), source_(source) {}

  Result<Executor> read(const std::string& folder, Trust trust) const {
    TRY(refuse_unknown_keys(root_, known_keys, source_));
    Executor executor{.source = source_, .folder = folder, .trust = trust};
    executor.name = TRY(read_name());
    const JsonValue* description = TRY(required("description"));
    executor.description = TRY(read_text(*description, source_, "description", longest_description));
    const JsonValue* input = TRY(required("input_schema"));
    executor.input_schema = TRY(read_schema(*input));
    if (const auto* schema = root_.find("output_schema")) executor.output_schema = TRY(read_schema(*schema));
    executor.code = TRY(read_code(folder));
    if (const auto* list = root_.find("capabilities"))
      executor.capabilities = TRY(read_capabilities(*list, source_));
    if (const auto* limits = root_.find("limits")) executor.limits = TRY(read_limits(*limits));
    if (const auto* level = root_.find("isolation")) executor.isolation = TRY(read_isolation(*level));
    return executor;
  }

 private:
  Error fail(int line, const std::string& what) const { return json_error(source_, line, what); }

  Result<const JsonValue*> required(std::string_view key) const {
    const JsonValue* value = root_.find(key);
    if (value == nullptr) return fail(root_.line, std::string(key) + " is missing");
    return value;
  }

  Result<std::string> read_name() const {
    const JsonValue* name = TRY(required("name"));
    if (!name->is_string()) return wrong_type(source_, *name, "name", "a string");
    if (!is_executor_name(name->text))
      return fail(name->line, "name must begin with a-z and be at most 64 of a-z, 0-9, _ and -");
    if (!tool_name(name->text).empty())
      return fail(name->line, "name: " + name->text + " is a tool that comes with Cloche");
    return name->text;
  }

  Result<std::string> read_schema(const JsonValue& schema) const {
    TRY(JsonSchema::compile(schema, source_));
    return to_json(schema);
  }

  Result<std::string> read_code(const std::string& folder) const {
    const JsonValue* code = TRY(required("code"));
    if (!code->is_string()) return wrong_type(source_, *code, "code", "a string");
    const std::string path = folder + "/" + code->text;
    const bool visible = shown(code->text) == code->text;
    if (code->text.starts_with('/') || !is_plain_absolute(path) || !visible)
      return fail(code->line, "code must be a plain path beneath the manifest's folder, like tool.py");
    return path;
  }

  Result<Limits> read_limits(const JsonValue& object) const {
    if (!object.is_object()) return wrong_type(source_, object, "limits", "an object");
    Limits limits;
    std::vector<LimitId> given;
    for (const auto& [name, line, value] : object.members) {
      const LimitInfo* row = find_limit(name);
      if (row == nullptr) return fail(line, "unknown limit " + json_quote(shown(name, 80)));
      if (contains(given, row->id))
        return fail(line, "the limit " + name + " is given twice, under two names");
      given.push_back(row->id);
      TRY(narrow(limits, *row, name, value));
    }
    return limits;
  }

  Result<void> narrow(Limits& limits, const LimitInfo& row, const std::string& name,
                      const JsonValue& value) const {
    if (!value.is_string() && !(value.is_number() && value.whole))
      return wrong_type(source_, value, name, "a whole number or a string like \"30s\" or \"512M\"");
    const uint64_t most = limits.*row.field;
    const auto set = set_limit(limits, row, value.is_string() ? value.text : std::to_string(value.integer));
    if (!set.ok()) return fail(value.line, "limits: " + describe(set.error()));
    if (limits.*row.field > most)
      return fail(value.line,
                  "limits: " + name + " can only be less than the default, " + show_limit(Limits{}, row));
    return {};
  }

  Result<IsolationLevel> read_isolation(const JsonValue& value) const {
    if (const auto level = value.is_string() ? level_named(value.text) : std::nullopt) return *level;
    return fail(value.line,
                "isolation must be permissive, subprocess, namespace, container, gvisor or microvm");
  }

  const JsonValue& root_;
  const std::string& source_;
};

}  // namespace

Result<Executor> read_executor(std::string_view text, const std::string& source, const std::string& folder,
                               Trust trust) {
  const JsonValue root = TRY(read_json(text, source, manifest_limits));
  if (!root.is_object()) return json_error(source, root.line, "a manifest must be an object");
  return ManifestReader(root, source).read(folder, trust);
}

}  // namespace cloche
