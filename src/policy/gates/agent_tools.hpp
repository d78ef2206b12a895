// The table of tools that act on the agent alone (share/agent_tools.json): a call of one of them passes when
// its name and its arguments are exactly those of a row. Pure: text in, values out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json/json_text.hpp"
#include "base/result.hpp"
#include "policy/schema/json_schema.hpp"

namespace cloche {

struct AgentToolRow {
  // What has to hold besides the arguments, and has to be looked up.
  enum class Check { none, skill, subagent, plan_file };

  std::string agent;  // "claude" or "codex"
  std::string tool;
  std::string reason;
  Check check = Check::none;
  JsonSchema arguments;
};

struct AgentToolTable {
  std::vector<AgentToolRow> rows = {};
  std::vector<std::string> builtin_subagents = {};
  std::vector<std::string> skill_keys = {};  // of a definition's head, those that start nothing
  std::vector<std::string> subagent_keys = {};
};

// An Error with file:line for what is not understood, and for an example that does not hold.
Result<AgentToolTable> read_agent_tools(std::string_view text, const std::string& source);

// nullptr: no row is about it.
const AgentToolRow* find_agent_tool(const AgentToolTable& table, std::string_view agent,
                                    std::string_view tool);

}  // namespace cloche
