// A Startable is made from a Permit or from a token of Cloche's own that outlives it, and from nothing else.
#include <utility>

#include "confine/startable.hpp"
#include "model/run_request.hpp"

namespace cloche {

Startable of(const Permit& permit) { return permit; }
Startable of(const OwnProcess& own) { return own; }

#ifdef FROM_PLAN  // error: (could not convert|no matching|no viable conversion)
Startable of(const ConfinementPlan& plan) { return plan; }
#endif

#ifdef FROM_PREPARED  // error: (could not convert|no matching|no viable conversion)
Startable of(const Prepared& prepared) { return prepared; }
#endif

#ifdef FROM_REQUEST  // error: (could not convert|no matching|no viable conversion)
Startable of(const RunRequest& request) { return request; }
#endif

#ifdef FROM_NOTHING  // error: no matching
Startable of_nothing() { return Startable(); }
#endif

#ifdef FROM_TEMPORARY_PERMIT  // error: deleted
Startable of(Permit&& permit) { return std::move(permit); }
#endif

#ifdef FROM_TEMPORARY_TOKEN  // error: deleted
Startable of_a_jail() { return waiting_jail(); }
#endif

#ifdef PLAN_CHANGED  // error: const
void change(Startable& what) { what.plan().argv.clear(); }
#endif

}  // namespace cloche
