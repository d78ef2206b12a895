// What would happen to a call, without letting it happen: the same understanding, the same look at the world,
// the same decide() and the same plan as the real call.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/environment.hpp"
#include "base/result.hpp"
#include "gateway/session.hpp"
#include "model/call.hpp"
#include "policy/decide.hpp"

namespace cloche {

struct Explanation {
  Judgement judgement;
  std::optional<ConfinementPlan> plan = {};  // unless it is denied
  std::vector<std::string> notes = {};       // what was dropped or left out on the way
};

Result<Explanation> explain_call(const SessionOptions& options, const ToolCall& call,
                                 const std::optional<std::string>& skill_file,
                                 const Environment& environment);

// The host's mounts below the operator's trees: the jail leaves them out where it can, and a box that
// somebody else builds brings them along, so that its plan must cover them.
enum class HostMounts { left_out, covered };
Result<Explanation> explain_run(const RunRequest& request, const Environment& environment,
                                const Installation& installation, HostMounts mounts = HostMounts::left_out);

}  // namespace cloche
