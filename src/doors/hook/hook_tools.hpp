// What an agent's tool comes to: one of ours that the gates know, or a name that only rules can judge. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "doors/hook/hook_input.hpp"
#include "model/call.hpp"

namespace cloche {

// A file that the agent would touch, as one of our file tools would.
struct HookFile {
  std::string tool = {};      // write_artifact, ...
  std::string path = {};      // as the agent wrote it: absolute, or from where it stands
  std::string content = {};   // what comes in
  std::string replaced = {};  // of edit_artifact: what goes out

  bool operator==(const HookFile&) const = default;
};

struct HookTool {
  enum class Kind {
    command,  // runs in the sandbox, in the agent's place
    file,     // the agent does it itself: judged as one of our file tools
    fetch,    // the same, as http_get
    foreign,  // of another server, by its name: rules alone can judge it
    unknown,  // not known what it does: asked about, unless a rule matches
  };
  Kind kind = Kind::unknown;
  ToolCall judged = {};              // of a command and a fetch as one of ours; else as the agent has it
  std::vector<HookFile> files = {};  // of a file tool: at least one
};

// An Error where the arguments make no sense: what is judged must be what the agent does.
Result<HookTool> understand_hook_tool(const HookCall& call);

// The agent's command as rules see it: by its own name, and as Bash, whatever tool carries it; each with
// `cwd`, where it starts, from the workspace's top. An argument of that name which the model sent is not what
// counts.
std::vector<ToolCall> named_for_rules(const ToolCall& asked, const std::string& workspace,
                                      const std::string& directory);

// What is judged for it: `leads_to` is where the path ends, every link followed.
ToolCall judged_at(const HookFile& file, const std::string& workspace, const std::string& leads_to);

}  // namespace cloche
