// Only the friends of OwnProcess make the token of Cloche's own processes, and spawn() takes no other.
#include <string>
#include <utility>

#include "confine/supervise/spawn.hpp"

namespace cloche {

OwnProcess passed_on(OwnProcess own) { return own; }

Result<Spawned> control(const OwnProcess& right) { return spawn(right, "cloche-jail", {}, {}); }

#ifdef MADE  // error: private
OwnProcess make(ConfinementPlan plan) { return OwnProcess(std::move(plan)); }
#endif

#ifdef MADE_BY_CHECK  // error: (undeclared|not declared)
OwnProcess make_by_check(ConfinementPlan plan) { return check(std::move(plan)); }
#endif

#ifdef MADE_BY_NAMESAKE  // error: private
void run_own(ConfinementPlan plan) { const OwnProcess own(std::move(plan)); }
void prove_plan(const ConfinementPlan& plan) { const OwnProcess own(plan); }
#endif

#ifdef MADE_FROM_NOTHING  // error: private
OwnProcess make() { return OwnProcess(); }
#endif

#ifdef COPIED  // error: deleted (function|constructor)
OwnProcess copy(const OwnProcess& own) { return own; }
#endif

#ifdef ASSIGNED  // error: deleted
void assign(OwnProcess& to, const OwnProcess& own) { to = own; }
#endif

#ifdef PLAN_CHANGED  // error: const
void change(OwnProcess& own) { own.plan().argv.clear(); }
#endif

#ifdef DERIVED  // error: private
struct Mine : OwnProcess {
  explicit Mine(ConfinementPlan plan) : OwnProcess(std::move(plan)) {}
};
#endif

#ifdef SPAWNED_WITHOUT  // error: (invalid initialization|no matching function)
Result<Spawned> start_without() { return spawn("cloche-jail", {}, {}); }
#endif

#ifdef SPAWNED_WITH_NOTHING  // error: (private|explicit|no matching function)
Result<Spawned> start_with_nothing() { return spawn({}, "cloche-jail", {}, {}); }
#endif

#ifdef SPAWNED_BY_PLAN  // error: (invalid initialization|no matching function|no viable conversion)
Result<Spawned> start(const ConfinementPlan& plan) { return spawn(plan, "cloche-jail", {}, {}); }
#endif

}  // namespace cloche
