// What every view has before anything is granted: the system or the host, an identity, devices, and memory of
// its own.
#pragma once

#include "base/result.hpp"
#include "model/facts.hpp"
#include "model/plan.hpp"
#include "model/run_request.hpp"

namespace cloche::view {

// The system's own trees and a curated /etc, read-only.
void add_system(ConfinementPlan& plan, const Facts& facts);
// The host as it is, read-only, with the secret set masked. What is private in the curated view is private
// here too.
Result<void> add_host(ConfinementPlan& plan, const Facts& facts);
// One user, one group, no network, by the files that libc reads.
void add_identity(ConfinementPlan& plan, const Facts& facts);
// /proc, /dev, /tmp, a home and an empty /run.
void add_private(ConfinementPlan& plan, const RunRequest& request);
// Before the grants are added: of the curated view what would have to be made within one. The operator's tree
// is shown as it is, and nothing is written or linked in a directory of the host.
void give_way_to_grants(ConfinementPlan& plan, const RunRequest& request, const Facts& facts);

}  // namespace cloche::view
