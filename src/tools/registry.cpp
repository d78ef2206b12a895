#include "tools/registry.hpp"

#include <algorithm>

#include "base/lists.hpp"
#include "policy/gates/gates.hpp"
#include "tools/commands/executor.hpp"
#include "tools/commands/run_shell.hpp"
#include "tools/commands/scripts.hpp"
#include "tools/files/artifacts.hpp"
#include "tools/files/recall.hpp"
#include "tools/web/http_get.hpp"

namespace cloche {
namespace {

void understand_file_tool(const JsonValue& arguments, std::string_view workspace, Intent& intent) {
  FileCall call = parse_file_call(intent.tool, arguments, workspace);
  intent.problem = std::move(call.problem);
  if (intent.problem.empty()) intent.launch = Launch{.does = std::move(call.action)};
}

void understand_recall(const JsonValue& arguments, Intent& intent) {
  RecallCall call = parse_recall(arguments);
  intent.problem = std::move(call.problem);
  if (intent.problem.empty()) intent.launch = Launch{.does = std::move(call.recall)};
}

struct ShippedTool {
  ToolSpec spec;
  RegisteredTool::Understand understand;  // none: a file tool
};

// In the order in which models see them.
std::vector<ShippedTool> shipped() {
  std::vector<ShippedTool> tools = {{run_shell_spec(), understand_shell},
                                    {run_python_spec(), understand_python},
                                    {run_script_spec(), understand_script}};
  for (const auto& spec : artifact_tools()) tools.push_back({spec, nullptr});
  tools.push_back({http_get_spec(), understand_http_get});
  tools.push_back({recall_tool(), understand_recall});
  return tools;
}

// What models' APIs take: an object (tools/formats says so where a schema does not), and nothing that chooses
// between schemas at the top.
Result<void> check_shown_schema(const JsonValue& schema, const std::string& tool, bool is_shown) {
  const JsonValue* type = schema.find("type");
  if (type != nullptr && type->text != "object")
    return refusal(tool + ": the input_schema is not of \"type\": \"object\"",
                   "put the value into a property");
  for (const char* key : {"oneOf", "anyOf", "allOf", "not", "enum", "const", "if"}) {
    if (is_shown && schema.find(key) != nullptr)
      return refusal(tool + ": the input_schema has " + key + " at its top, which models' APIs refuse",
                     "put it into a property");
  }
  return {};
}

Result<RegisteredTool> registered(ToolSpec spec) {
  const std::string checked = spec.name == "run_shell" ? strict_shell_schema() : spec.input_schema;
  const JsonValue input = TRY(read_json(checked, spec.name + ", input_schema"));
  const JsonValue output = TRY(read_json(spec.output_schema, spec.name + ", output_schema"));
  TRY(check_shown_schema(input, spec.name, checked == spec.input_schema));
  JsonSchema input_schema = TRY(JsonSchema::compile(input, spec.name + ", input_schema"));
  JsonSchema output_schema = TRY(JsonSchema::compile(output, spec.name + ", output_schema"));
  return RegisteredTool{std::move(spec), std::move(input_schema), std::move(output_schema)};
}

// For rules: a text as it is, everything else as JSON; what the tool has a spelling of its own for stays in
// that.
void keep_arguments(const JsonValue& arguments, Intent& intent) {
  for (const auto& member : arguments.members)
    intent.arguments.try_emplace(member.name,
                                 member.value.is_string() ? member.value.text : to_json(member.value));
}

}  // namespace

ReadArguments read_arguments(const ToolCall& call) {
  auto value = read_json(call.arguments, "arguments", call_limits);
  if (!value.ok()) return {{}, value.error().what.text()};
  return {std::move(value).value(), {}};
}

Result<Registry> Registry::make(std::vector<Executor> executors, Record record,
                                std::vector<Function> functions) {
  Registry registry;
  for (auto& tool : shipped()) {
    if (record == Record::none && tool.spec.name == "read_tool_result") continue;
    registry.tools_.push_back(TRY(registered(std::move(tool.spec))));
    registry.tools_.back().understand = tool.understand;
  }
  for (auto& executor : executors) {
    if (registry.find(executor.name) != nullptr)
      return refusal(executor.source + ": there is a tool of the name " + executor.name + " already");
    registry.tools_.push_back(TRY(registered(spec_of(executor))));
    registry.tools_.back().executor = std::make_shared<const Executor>(std::move(executor));
  }
  for (auto& function : functions) {
    if (registry.find(function.spec.name) != nullptr)
      return refusal("there is a tool of the name " + function.spec.name + " already");
    if (!function.run) return refusal("the function " + function.spec.name + " is empty");
    function.spec.structured = true;
    registry.tools_.push_back(TRY(registered(function.spec)));
    registry.tools_.back().function = std::make_shared<const Function>(std::move(function));
  }
  return registry;
}

const RegisteredTool* Registry::find(std::string_view written) const {
  const std::string_view name = written == "run_shell_command" ? "run_shell" : written;
  return find_by(
      tools_, [](const RegisteredTool& tool) -> auto& { return tool.spec.name; }, name);
}

Intent Registry::understand(const ToolCall& call, const ReadArguments& arguments,
                            std::string_view workspace) const {
  Intent intent;
  const RegisteredTool* tool = find(call.tool);
  if (tool == nullptr) {
    intent.problem = "there is no tool of that name";
    return intent;
  }
  intent.tool = tool->spec.name;
  intent.problem = arguments.problem;
  if (!intent.problem.empty()) return intent;
  if (tool->executor) {
    understand_executor(*tool->executor, arguments.value, call.arguments, intent);
  } else if (tool->function) {
    intent.launch = Launch{.does = FunctionCall{tool->spec.name, call.arguments}};
  } else if (tool->understand == nullptr) {
    understand_file_tool(arguments.value, workspace, intent);
  } else {
    tool->understand(arguments.value, intent);
  }
  if (intent.form == Intent::Form::none) keep_arguments(arguments.value, intent);
  return intent;
}

Verdict Registry::schema_verdict(const ReadArguments& arguments, const Intent& intent) const {
  const auto refuse = [&](std::string why) {
    return deny(GateId::schema, std::move(why), how_to_send(intent));
  };
  const RegisteredTool* tool = find(intent.tool);
  if (tool == nullptr) return refuse("there is no schema for a tool that is not known");
  if (!arguments.problem.empty()) return refuse(arguments.problem);
  if (const auto fault = tool->input.check(arguments.value)) {
    // Of the value as a whole a schema can only say that it does not fit; the tool knows what is missing.
    const bool of_the_whole = fault->pointer.empty() && !intent.problem.empty();
    return refuse(of_the_whole ? intent.problem : shown(fault->describe()));
  }
  return {GateId::schema, Decision::allow};
}

std::vector<std::string> Registry::executor_names() const {
  std::vector<std::string> names;
  for (const auto& tool : tools_) {
    if (tool.executor || tool.function) names.push_back(tool.spec.name);
  }
  return names;
}

}  // namespace cloche
