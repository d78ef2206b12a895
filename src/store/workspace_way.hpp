// Whether the way to something of the operator's passes a workspace. Where a path ends does not say it: a
// link in the workspace may lead out of it, and a command can turn that link, so that the next call reads,
// shows or writes what the command has chosen.
#pragma once

#include <string>

#include "base/result.hpp"

namespace cloche {

enum class Reach { there, absent, through_workspace, through_mount };

// Along `path`, which is absolute, link by link as the kernel goes. `workspace` is resolved; empty: there is
// none, and only what is there is said. An error: a link leads nowhere, or it cannot be looked at.
Result<Reach> reach_of(const std::string& path, const std::string& workspace);

// Refuses a way through the workspace; `what` is for the sentence and names the path. What cannot be walked
// is for whoever opens it to explain.
Result<void> judge_reach(const std::string& what, const std::string& path, const std::string& workspace);

}  // namespace cloche
