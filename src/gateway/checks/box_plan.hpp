// The plan of a command for a box that Cloche does not start itself: judged as an operator's command is, with
// what a skill or an executor's manifest declares. What of that the profile forbids is left out, and a note
// says so.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gateway/judge.hpp"

namespace cloche {

struct BoxRequest {
  RunRequest request;
  std::optional<std::string> skill = {};
  std::optional<std::string> executor = {};  // its manifest: it sees what it declares, and no workspace
};

struct BoxPlan {
  Judged judged;
  std::optional<ConfinementPlan> plan = {};  // unless it is denied; with the network that such a box has
  std::vector<std::string> notes = {};
};

// A box brings the host's mounts along with each tree, so the plan covers those in the operator's own.
Result<BoxPlan> plan_box(const BoxRequest& asked, const Environment& environment);

}  // namespace cloche
