// The list of tools as each API expects it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/tool.hpp"

namespace cloche {

enum class ToolFormat { mcp, openai, anthropic };
std::optional<ToolFormat> tool_format(std::string_view name);

// mcp: the result of tools/list. openai and anthropic: the value of `tools` in a request.
std::string to_json(const std::vector<ToolSpec>& tools, ToolFormat format);
// One item of that result.
std::string to_mcp_json(const ToolSpec& tool);
// Whether MCP clients get its result as JSON: MCP wants an output schema that is an object's, or none at all.
bool is_structured(const ToolSpec& tool);

}  // namespace cloche
