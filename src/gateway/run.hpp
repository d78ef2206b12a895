// One command from the operator's words to its outcome, on one page: observe, plan, choose, render,
// supervise.
#pragma once

#include <functional>
#include <string>

#include "base/environment.hpp"
#include "base/result.hpp"
#include "confine/proof.hpp"
#include "confine/supervisor.hpp"
#include "model/run_request.hpp"
#include "store/observe.hpp"

namespace cloche {

// Where the parts of an installed Cloche are, and what it may use.
struct Installation {
  std::string jail;    // cloche-jail
  std::string probe;   // cloche-probe, the program of the self-proof
  std::string egress;  // cloche-egress, which answers for the network of a call
  std::string fetch;   // cloche-fetch, the program of http_get
  std::string state;   // where proofs and skeletons are kept; empty: nowhere, and then each call does without
  std::string no_state = {};  // why it is nowhere
  IdRange ids;

  // The directory of the programs.
  std::string folder() const;
  // With the programs themselves, each of which may be a link, and the operator's configuration.
  OwnPlaces places(const Environment& environment) const;
};

// Beside the running program or in the directory `programs`, and under $XDG_STATE_HOME or ~/.local/state.
Result<Installation> find_installation(const Environment& environment, const std::string& programs = {});

// Whether a command of his can have what the request's rung promises about ids. On a host without the means
// at all that is the better reason to refuse. Asked of the rung that was taken, not of the one that was
// wanted.
Result<void> judge_caller(const RunRequest& request, const CallerFact& caller);

// Who asks, judged.
Result<CallerFact> caller_of(const RunRequest& request, const Environment& environment,
                             const Installation& installation);

// What would run. Has no effect.
// What the environment gate keeps from an operator's command, one sentence each.
std::vector<Denial> left_out_of(const RunRequest& request);

Result<ConfinementPlan> plan_only(const RunRequest& request, const Environment& environment,
                                  const Installation& installation);

struct Ran {
  ConfinementPlan plan;
  Outcome outcome;
  Proof proof;
};

// The self-proof is taken from the state directory when this boot has one for this shape of plan, or run
// first.
enum class Proving { when_needed, always };

// Runs it. An Error means that the command was not started.
Result<Ran> run(const RunRequest& request, const Environment& environment, const Installation& installation,
                const Streams& streams, Proving proving = Proving::when_needed);

// The self-proof alone, for whoever has time before the first command and none during it. An Error: this host
// does not keep what the plan promises.
Result<void> prove_planned(const ConfinementPlan& plan, const CallerFact& caller,
                           const Installation& installation);

// The plan again, from facts that say more: an ordinary user's clone brings the host's mounts along.
using Replan = std::function<Result<ConfinementPlan>(const Facts&)>;

// Runs a plan that was judged, with what was held when it was made: nothing is looked up again.
Result<Ran> run_planned(const ConfinementPlan& plan, Observation& seen, const Installation& installation,
                        const Streams& streams, const Replan& replan);

}  // namespace cloche
