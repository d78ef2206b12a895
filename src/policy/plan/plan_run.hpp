// From what the operator asked and what the host has to one ConfinementPlan. Pure: same input, same plan.
#pragma once

#include <string_view>

#include "base/result.hpp"
#include "model/facts.hpp"
#include "model/plan.hpp"
#include "model/run_request.hpp"

namespace cloche {

// Where a command has its home, in the standard view.
inline constexpr std::string_view home_inside = "/home/cloche";

// Where mounts give Cloche's own files a second name, no name is what it seems: a directory of the command's
// that is mounted where they are would be hidden there and be the command's by its own name; and one that is
// a mount of them, or of something in them, would show them.
Result<void> judge_mount_aliases(const std::vector<MountAlias>& aliases);

// Why this directory cannot be a workspace, or nothing.
Result<void> judge_workspace(const FileFact& workspace, const std::string& home);
// An agent's session stays in the workspace of its first call.
Result<void> judge_session_workspace(const std::string& fixed, const std::string& workspace);

// Root outside without the means to stop being root there: in a box the command would own the host's files. A
// level without a box promises no other id; there Landlock, the filter and the lack of capabilities hold
// root.
Result<void> judge_own_id(const CallerFact& caller, IsolationLevel level);

// Which network a command can have: what its profile, its box and its view make of what was asked for.
Result<void> judge_network(const RunRequest& request, const Facts& facts);

// Names of the caller's variables that were asked for and stay outside, because they look like secrets. A
// value that is given with its name is the operator's own, whatever the name.
std::vector<std::string> secrets_left_out(const RunRequest& request);

// The one that was chosen, or the isolation level's own.
Backend backend_of(const RunRequest& request);
// How its writes reach the host: a level without mounts of its own has no layers.
Writes writes_of(const RunRequest& request);
// The layers of its level; with the host's network those that can hold without one of its own.
std::vector<LayerId> required_of(const RunRequest& request);
// Whose word it is that its hosts may be reached, for sentences.
std::string declared_for(const RunRequest& request);

Result<ConfinementPlan> plan_run(const RunRequest& request, const Facts& facts);

}  // namespace cloche
