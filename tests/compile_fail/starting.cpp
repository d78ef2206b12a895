// Nothing that starts a program takes a bare plan or request: each takes what a Permit or a token made.
#include <string>
#include <utility>

#include "gateway/launch/start_program.hpp"
#include "model/run_request.hpp"

namespace cloche {

struct Hands {
  LaunchResources& seat;
  const LaunchSpec& spec;
  const HostProbe& probe;
  const Installation& installation;
  const Facts& facts;
};

Result<Outcome> supervised(Hands& hands, const Startable& what) {
  return supervise(hands.seat.jail(), what, hands.spec, nullptr, Streams{});
}
Result<void> sent(Hands& hands, const Startable& what) { return hands.seat.jail().go(what, "plan", nullptr); }
Result<LaunchSpec> rendered(Hands& hands, const Startable& what) {
  return hands.seat.render(what, hands.probe, hands.installation);
}
Result<std::variant<Ran, Voided>> started(Hands& hands, const Permit& what, StartOptions options) {
  return start_program(what, hands.facts, std::move(options));
}

#ifdef PLAN_SUPERVISED  // error: (invalid initialization|no matching function|no viable conversion)
Result<Outcome> supervised(Hands& hands, const ConfinementPlan& plan) {
  return supervise(hands.seat.jail(), plan, hands.spec, nullptr, Streams{});
}
#endif

#ifdef REQUEST_SUPERVISED  // error: (invalid initialization|no matching function|no viable conversion)
Result<Outcome> supervised(Hands& hands, const RunRequest& request) {
  return supervise(hands.seat.jail(), request, hands.spec, nullptr, Streams{});
}
#endif

#ifdef PLAN_SENT  // error: (cannot convert|no matching|no viable conversion)
Result<void> sent(Hands& hands, const ConfinementPlan& plan) {
  return hands.seat.jail().go(plan, "plan", nullptr);
}
#endif

#ifdef BYTES_SENT  // error: (no matching function|too few arguments)
Result<void> sent(Hands& hands, const std::string& plan) { return hands.seat.jail().go(plan, nullptr); }
#endif

#ifdef PLAN_RENDERED  // error: (cannot convert|no matching|no viable conversion)
Result<LaunchSpec> rendered(Hands& hands, const ConfinementPlan& plan) {
  return hands.seat.render(plan, hands.probe, hands.installation);
}
#endif

#ifdef REQUEST_RENDERED  // error: (cannot convert|no matching|no viable conversion)
Result<LaunchSpec> rendered(Hands& hands, const RunRequest& request) {
  return hands.seat.render(request, hands.probe, hands.installation);
}
#endif

#ifdef PLAN_STARTED  // error: (invalid initialization|no matching function|no viable conversion)
Result<std::variant<Ran, Voided>> started(Hands& hands, const ConfinementPlan& plan, StartOptions options) {
  return start_program(plan, hands.facts, std::move(options));
}
#endif

#ifdef PREPARED_STARTED  // error: (invalid initialization|no matching function|no viable conversion)
Result<std::variant<Ran, Voided>> started(Hands& hands, const Prepared& prepared, StartOptions options) {
  return start_program(prepared, prepared.seen.facts, std::move(options));
}
#endif

#ifdef REQUEST_STARTED  // error: (invalid initialization|no matching function|no viable conversion)
Result<std::variant<Ran, Voided>> started(Hands& hands, const RunRequest& request, StartOptions options) {
  return start_program(request, hands.facts, std::move(options));
}
#endif

#ifdef TEMPORARY_STARTED  // error: deleted
Result<std::variant<Ran, Voided>> started(Hands& hands, StartOptions options) {
  return start_program(waiting_jail(), hands.facts, std::move(options));
}
#endif

}  // namespace cloche
