#include "policy/tool_arguments.hpp"

namespace cloche {
namespace {

// As quote_words writes: plain words as they are, all others in single quotes, one space between two.
constexpr ToolArgument command = {
    "cmd", R"(\A(?:[\w@%+=:,./-]+|'(?:[^'\x00]|'"'"')*')(?: (?:[\w@%+=:,./-]+|'(?:[^'\x00]|'"'"')*'))*\z)",
    "words with one space between two, in single quotes when they hold more than letters, digits and "
    "@%+=:,./-_",
    true};
constexpr ToolArgument timeout = {"timeout_s", R"(\A[1-9][0-9]{0,4}\z)", "a whole number from 1 to 86400"};

}  // namespace

const std::vector<ToolArguments>& tool_arguments() {
  static const std::vector<ToolArguments> tools = {
      {"run_shell",
       {command,
        {"profile", R"(\A(?:passive|full|any)\z)", "passive, full or any"},
        timeout,
        {"stdin"},
        {"cwd"}}},
      {"run_python", {{"code"}, timeout}},
      {"run_script",
       {{"code"},
        {"interpreter", R"(\A(?:bash|python3|node)\z)", "bash, python3 or node"},
        timeout,
        {"cwd"}}},
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
