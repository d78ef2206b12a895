// The second name of a grant that was named by a symbolic link.
#pragma once

#include "model/facts.hpp"
#include "model/plan.hpp"
#include "model/run_request.hpp"

namespace cloche::view {

// A grant by a link is shown by its own name and by the one that was written, which scripts and
// configurations go on to use. As a tree of its own there: what guards the one guards the other too. Without
// a mount view the link itself is there.
void add_linked_names(ConfinementPlan& plan, const RunRequest& request, const Facts& facts);

}  // namespace cloche::view
