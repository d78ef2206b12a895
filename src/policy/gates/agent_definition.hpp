// A skill, a slash command or a subagent of an agent's, as its Markdown file defines it: what it may be
// called by, and whether loading it can start something. Pure. Agents read these files leniently, so whatever
// is not understood here counts as the worse answer.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cloche {

struct AgentDefinition {
  bool understood = false;             // the head could be read
  std::string name = {};               // that the head gives; empty: none
  std::vector<std::string> keys = {};  // of the head
  bool runs_commands = false;          // the text may hold commands that the agent runs when it loads it
  bool names_files = false;            // or names of files, @FILE, that it reads then
};

AgentDefinition read_agent_definition(std::string_view text);

// Whether it may be called by this name: its own names are `by_place` and what the head says. Where the head
// is not understood, it may.
bool may_be_called(const AgentDefinition& definition, const std::vector<std::string>& by_place,
                   std::string_view name);

// Whether the call brings words of the model's that the agent puts into the text.
enum class ModelsWords { none, some };

// Why loading it might do more than put the user's own text before the model; none: it does not.
std::optional<std::string> why_not_harmless(const AgentDefinition& definition,
                                            const std::vector<std::string>& known_keys, ModelsWords words);

}  // namespace cloche
