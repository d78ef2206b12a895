// One command from the operator's words to its outcome, on one page: observe, plan, choose, render, supervise.
#pragma once

#include <string>

#include "base/environment.hpp"
#include "base/result.hpp"
#include "confine/supervisor.hpp"
#include "model/run_request.hpp"
#include "store/observe.hpp"

namespace cloche {

// Where the parts of an installed Cloche are, and what it may use.
struct Installation {
  std::string jail;    // cloche-jail
  std::string probe;   // cloche-probe, the program of the self-proof
  std::string state;   // where proofs are kept; empty: nowhere, and then each call is proven anew
  IdRange ids;
};

// Beside the running program, and under $XDG_STATE_HOME or ~/.local/state.
Result<Installation> find_installation(const Environment& environment);

struct Prepared {
  RunRequest request;
  Observation seen;
  ConfinementPlan plan;
};

// What would run. Has no effect.
Result<Prepared> prepare(const RunRequest& request, const Environment& environment, const Installation& installation);

enum class Proving { when_needed, always };

// Runs it. An Error means that the command was not started.
Result<Outcome> execute(Prepared& prepared, const Installation& installation, const Streams& streams,
                        Proving proving = Proving::when_needed);

}  // namespace cloche
