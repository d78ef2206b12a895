// A process that no call asked for: a jail that waits for a plan, the network gate, the judge behind a hook,
// a self-proof, a check of `doctor`, an interpreter that waits for its script. Its right to start is this
// token, as a call's is its Permit. Only the friends below make it, and no function makes one from a plan
// that its caller gives.
#pragma once

#include <string>

#include "base/result.hpp"
#include "model/plan.hpp"

namespace cloche {

struct CallerFact;
class Environment;
struct Installation;
class LaunchPool;
struct RunRequest;
struct Ran;
enum class Proving;

struct EarlyImports;

class OwnProcess {
 public:
  OwnProcess(OwnProcess&&) = default;
  OwnProcess& operator=(OwnProcess&&) = default;
  OwnProcess(const OwnProcess&) = delete;
  OwnProcess& operator=(const OwnProcess&) = delete;

  // Of a proof or a check; the others have the strictest of all, which runs nothing.
  const ConfinementPlan& plan() const { return plan_; }

 private:
  explicit OwnProcess(ConfinementPlan plan = {}) : plan_(std::move(plan)) {}
  friend OwnProcess waiting_jail();
  friend OwnProcess network_gate();
  friend OwnProcess hook_judge();
  friend Result<OwnProcess> waiting_interpreter(const ConfinementPlan& of, const EarlyImports& imports);
  friend Result<OwnProcess> self_proof(const ConfinementPlan& of, const std::string& probe, unsigned hold_ms,
                                       Backend backend);
  // What Cloche tries in a scratch directory: whether a backend works, what a limit does, or an example of a
  // profile of the operator's. It makes the plan itself (gateway/checks/own_run.hpp).
  friend Result<Ran> run_own(const RunRequest& request, const Environment& environment,
                             const Installation& installation, Proving proving);
  // Renders a call's plan to learn which proof it needs, and starts the probe alone
  // (gateway/launch/start_program.hpp).
  friend Result<void> prove_plan(const ConfinementPlan& plan, const CallerFact& caller,
                                 const Installation& installation, LaunchPool* pool);

  ConfinementPlan plan_;
};

// cloche-jail without a plan, which can do nothing but end.
OwnProcess waiting_jail();
// cloche-egress, for a call whose plan has hosts.
OwnProcess network_gate();
// Cloche itself, watched by the front of `cloche hook`.
OwnProcess hook_judge();
// The interpreter of such a plan, without its script: it waits at the open of that
// (confine/warm/late_text.hpp), with these modules imported. An Error: the plan is of another program.
Result<OwnProcess> waiting_interpreter(const ConfinementPlan& of, const EarlyImports& imports);
// cloche-probe in place of the plan's command (confine/native/proof.hpp).
Result<OwnProcess> self_proof(const ConfinementPlan& of, const std::string& probe, unsigned hold_ms,
                              Backend backend);

}  // namespace cloche
