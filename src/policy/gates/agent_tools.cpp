#include "policy/gates/agent_tools.hpp"

#include "base/json/json_text.hpp"
#include "base/text/visible_text.hpp"

namespace cloche {
namespace {

using Check = AgentToolRow::Check;

constexpr size_t most_rows = 200;

class Reader {
 public:
  explicit Reader(const std::string& source) : source_(source) {}

  Result<AgentToolTable> table(const JsonValue& root) const {
    if (!root.is_object()) return wrong(root, "an object is expected here");
    TRY(refuse_unknown_keys(root, {"tools", "builtin_subagents", "skill_keys", "subagent_keys"}, source_));
    const JsonValue* list = root.find("tools");
    if (list == nullptr || !list->is_array() || list->items.size() > most_rows)
      return wrong(root, "tools is not a list of at most " + std::to_string(most_rows) + " rows");
    AgentToolTable table;
    for (const auto& item : list->items) {
      AgentToolRow read = TRY(row(item));
      if (find_agent_tool(table, read.agent, read.tool) != nullptr)
        return wrong(item, "there is a second row for " + read.tool);
      table.rows.push_back(std::move(read));
    }
    table.builtin_subagents = TRY(names(root, "builtin_subagents"));
    table.skill_keys = TRY(names(root, "skill_keys"));
    table.subagent_keys = TRY(names(root, "subagent_keys"));
    return table;
  }

 private:
  Error wrong(const JsonValue& where, const std::string& what) const {
    return json_error(source_, where.line, what);
  }

  Result<AgentToolRow> row(const JsonValue& item) const {
    if (!item.is_object()) return wrong(item, "an object is expected here");
    TRY(refuse_unknown_keys(item, {"agent", "tool", "reason", "check", "arguments", "pass", "ask"}, source_));
    const JsonValue* schema = item.find("arguments");
    if (schema == nullptr || !schema->is_object()) return wrong(item, "arguments is no schema");
    AgentToolRow row{.arguments = TRY(JsonSchema::compile(*schema, source_))};
    row.agent = TRY(required_text(item, "agent", source_));
    row.tool = TRY(required_text(item, "tool", source_));
    row.reason = TRY(required_text(item, "reason", source_));
    row.check = TRY(check_of(item));
    if (row.agent != "claude" && row.agent != "codex") return wrong(item, "agent is claude or codex");
    TRY(examples_hold(item, "pass", true, row));
    TRY(examples_hold(item, "ask", false, row));
    return row;
  }

  Result<Check> check_of(const JsonValue& item) const {
    const JsonValue* check = item.find("check");
    if (check == nullptr) return Check::none;
    if (check->text == "skill") return Check::skill;
    if (check->text == "subagent") return Check::subagent;
    if (check->text == "plan_file") return Check::plan_file;
    return wrong(*check, "check is skill, subagent or plan_file");
  }

  Result<void> examples_hold(const JsonValue& item, std::string_view key, bool passes,
                             const AgentToolRow& row) const {
    const JsonValue* examples = item.find(key);
    if (examples == nullptr || !examples->is_array())
      return wrong(item, std::string(key) + " is no list of examples");
    for (const auto& example : examples->items)
      if (row.arguments.check(example).has_value() == passes)
        return wrong(example, row.tool + (passes ? " does not take " : " takes ") + to_json(example));
    return {};
  }

  Result<std::vector<std::string>> names(const JsonValue& root, std::string_view key) const {
    const JsonValue* list = root.find(key);
    if (list == nullptr || !list->is_array()) return wrong(root, std::string(key) + " is no list of names");
    std::vector<std::string> names;
    for (const auto& item : list->items) {
      if (!item.is_string() || item.text.empty())
        return wrong(item, std::string(key) + " is no list of names");
      names.push_back(item.text);
    }
    return names;
  }

  const std::string& source_;
};

}  // namespace

Result<AgentToolTable> read_agent_tools(std::string_view text, const std::string& source) {
  return Reader(source).table(TRY(read_json(text, source)));
}

const AgentToolRow* find_agent_tool(const AgentToolTable& table, std::string_view agent,
                                    std::string_view tool) {
  for (const auto& row : table.rows)
    if (row.agent == agent && row.tool == tool) return &row;
  return nullptr;
}

}  // namespace cloche
