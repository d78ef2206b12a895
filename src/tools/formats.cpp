#include "tools/formats.hpp"

#include "base/json/json_text.hpp"
#include "base/json/json_writer.hpp"

namespace cloche {
namespace {

// On one line, whatever a manifest looks like; it was compiled, so it is JSON. Arguments are always an
// object, and the APIs want to read that.
std::string input_of(const ToolSpec& tool) {
  const auto value = read_json(tool.input_schema, "schema");
  if (!value.ok() || !value.value().is_object() || value.value().members.empty())
    return R"({"type":"object"})";
  const std::string text = to_json(value.value());
  return value.value().find("type") != nullptr ? text : R"({"type":"object",)" + text.substr(1);
}

std::string compact(const std::string& schema) {
  const auto value = read_json(schema, "schema");
  return value.ok() ? to_json(value.value()) : "{}";
}

void write_mcp(JsonWriter& out, const ToolSpec& tool) {
  out.begin_object().member("name", tool.name);
  if (!tool.title.empty()) out.member("title", tool.title);
  out.member("description", tool.description).key("inputSchema").raw(input_of(tool));
  if (is_structured(tool)) out.key("outputSchema").raw(compact(tool.output_schema));
  out.key("annotations").begin_object().member("readOnlyHint", tool.annotations.read_only);
  out.member("destructiveHint", tool.annotations.destructive);
  out.member("idempotentHint", tool.annotations.idempotent);
  out.member("openWorldHint", tool.annotations.open_world).end_object().end_object();
}

void write_openai(JsonWriter& out, const ToolSpec& tool) {
  out.begin_object().member("type", "function").key("function").begin_object().member("name", tool.name);
  out.member("description", tool.description).key("parameters").raw(input_of(tool));
  out.end_object().end_object();
}

void write_anthropic(JsonWriter& out, const ToolSpec& tool) {
  out.begin_object().member("name", tool.name).member("description", tool.description);
  out.key("input_schema").raw(input_of(tool)).end_object();
}

}  // namespace

std::optional<ToolFormat> tool_format(std::string_view name) {
  if (name == "mcp") return ToolFormat::mcp;
  if (name == "openai") return ToolFormat::openai;
  if (name == "anthropic") return ToolFormat::anthropic;
  return std::nullopt;
}

bool is_structured(const ToolSpec& tool) {
  if (!tool.structured) return false;
  const auto value = read_json(tool.output_schema, "schema");
  const JsonValue* type = value.ok() ? value.value().find("type") : nullptr;
  return type != nullptr && type->text == "object";
}

std::string to_mcp_json(const ToolSpec& tool) {
  JsonWriter out;
  write_mcp(out, tool);
  return out.take();
}

std::string to_json(const std::vector<ToolSpec>& tools, ToolFormat format) {
  JsonWriter out;
  if (format == ToolFormat::mcp) out.begin_object().key("tools");
  out.begin_array();
  for (const auto& tool : tools) {
    switch (format) {
      case ToolFormat::mcp: write_mcp(out, tool); break;
      case ToolFormat::openai: write_openai(out, tool); break;
      case ToolFormat::anthropic: write_anthropic(out, tool); break;
    }
  }
  out.end_array();
  if (format == ToolFormat::mcp) out.end_object();
  return out.text();
}

}  // namespace cloche
