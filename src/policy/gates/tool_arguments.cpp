#include "policy/gates/tool_arguments.hpp"

namespace cloche {
const std::vector<ToolArguments>& tool_arguments() {
  static const std::vector<ToolArguments> tools = {
      {"run_shell", {{"cmd", true}, {"profile"}, {"timeout_s"}, {"stdin"}, {"cwd"}}},
      {"run_python", {{"code"}, {"timeout_s"}}},
      {"run_script", {{"code"}, {"interpreter"}, {"timeout_s"}, {"cwd"}}},
      {"write_artifact", {{"path"}, {"content"}}},
      {"edit_artifact", {{"path"}, {"old"}, {"new"}}},
      {"read_artifact", {{"path"}, {"offset"}, {"limit"}}},
      {"list_artifacts", {{"path"}, {"glob"}}},
      {"search_artifacts", {{"pattern"}, {"path"}}},
      {"http_get", {{"url"}}},
      {"read_tool_result", {{"call_id"}, {"offset"}, {"limit"}}},
  };
  return tools;
}

ToolArguments arguments_of(std::string_view tool, const JsonValue& input_schema) {
  ToolArguments known{.tool = tool, .arguments = {}};
  if (const JsonValue* properties = input_schema.find("properties")) {
    for (const auto& property : properties->members) known.arguments.push_back({property.name});
  }
  const JsonValue* more = input_schema.find("additionalProperties");
  const bool closed = more != nullptr && more->is_boolean() && !more->truth;
  known.others = !closed || input_schema.find("patternProperties") != nullptr;
  return known;
}

}  // namespace cloche
