// Whether a call acts on the agent alone: a row of share/agent_tools.json, the plan file of plan mode, or
// output that the session stored for itself. It looks files up, and decides nothing else: rules still speak.
#pragma once

#include <string>

#include "base/result.hpp"
#include "doors/hook/hook_input.hpp"
#include "doors/hook/hook_place.hpp"
#include "doors/hook/hook_tools.hpp"

namespace cloche {

struct AgentOnly {
  bool passes = false;
  std::string why = {};  // of what passes, for the record; of a tool in the table that does not, for the
                         // user; empty: the call is none of these
  ToolCall judged = {};  // of what passes: rules may name it so as well
};

Result<AgentOnly> acts_on_agent_only(const HookCall& call, const HookTool& tool, const HookPlace& place);

}  // namespace cloche
