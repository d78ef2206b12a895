// Where Claude Code finds the skill, slash command or subagent of a name, and whether every file that it may
// take for it lies outside the workspace and is harmless (policy/gates/agent_definition.hpp). Its order of
// search changes between versions, so nothing here depends on it: of all that may be meant, each has to pass.
//
// Looked at are, in the workspace, each SKILL.md and each Markdown file beneath a directory called commands
// or agents, at any depth, because a plug-in or a nested project may lie anywhere; outside, the configuration
// directory with its plug-ins, the machine's own in /etc/claude-code, and .claude in the directories above
// the workspace. In the workspace a subagent's file counts whatever name it gives itself: two readers of its
// head need not agree. The client has read them when the session began; a sandboxed command cannot take one
// away from the workspace, because .claude is in the protected set.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "policy/gates/agent_definition.hpp"
#include "policy/gates/agent_tools.hpp"

namespace cloche {

struct DefinitionSearch {
  AgentToolRow::Check kind = AgentToolRow::Check::skill;  // or subagent
  std::string name = {};                                  // the model's
  std::string workspace = {};                             // resolved
  std::string config = {};                                // the client's: ClientFiles::config
  ModelsWords words = ModelsWords::some;
};

// Why the user should be asked; none: it passes.
std::optional<std::string> why_ask_about_definition(const DefinitionSearch& search,
                                                    const AgentToolTable& table);

}  // namespace cloche
