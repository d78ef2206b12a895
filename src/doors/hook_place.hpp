// Where an agent works, and where its paths lead: looked up once, for the gates to judge.
#pragma once

#include <string>

#include "base/environment.hpp"
#include "base/result.hpp"
#include "doors/hook_input.hpp"
#include "gateway/session.hpp"

namespace cloche {

struct HookPlace {
  std::string workspace = {};  // resolved
  std::string directory = {};  // where the agent stands: the workspace or beneath it
  std::string task = {};       // calls of one session of the agent share a home and a record
  std::string profile = {};    // of the sandbox; empty: as it is configured
};

// The workspace is what the operator named, else the project that the agent was started in (Claude Code names
// it, CLAUDE_PROJECT_DIR), else where it stands. An agent that stands elsewhere is refused: a `cd` of the
// model's must not choose what may be written.
Result<HookPlace> hook_place(const HookCall& call, const std::string& said_workspace,
                             const Environment& environment);

// Where the agent would end up with this path, every link followed; of what is not there, where it would be
// made.
Result<std::string> where_it_leads(const std::string& directory, const std::string& path);

// The program beside us. An agent gives it to a shell, so it is an Error when its path holds anything that a
// shell acts on.
Result<std::string> path_of_cloche();

// What a hook's calls are judged with, and later run with: the same for both.
SessionOptions hook_session(const HookPlace& place);

}  // namespace cloche
