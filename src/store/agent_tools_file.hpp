// The table of tools that act on the agent alone, shipped in share/. There is none compiled in: without the
// file no call of them passes.
#pragma once

#include <string>

#include "base/result.hpp"
#include "policy/agent_tools.hpp"

namespace cloche {

// `program` is one of Cloche's own (store/share_place.hpp). The file may not lie in `workspace` (resolved;
// empty: in none), unless the program itself does.
Result<AgentToolTable> load_agent_tools(const std::string& program, const std::string& workspace);

}  // namespace cloche
