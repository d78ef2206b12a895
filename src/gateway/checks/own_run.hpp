// Programs that no call asked for, run as a command would be: a trial of a backend, a measurement of
// `doctor`, an example of a profile. Observed, planned, started by the token of Cloche's own processes; no
// gate answers and nothing is recorded.
#pragma once

#include "base/result.hpp"
#include "base/sys/environment.hpp"
#include "gateway/launch/start_program.hpp"
#include "model/run_request.hpp"

namespace cloche {

// `request` has a scratch directory for its workspace.
Result<Ran> run_own(const RunRequest& request, const Environment& environment,
                    const Installation& installation, Proving proving = Proving::when_needed);

// What it would run in. Has no effect.
Result<ConfinementPlan> plan_own(const RunRequest& request, const Environment& environment,
                                 const Installation& installation);

}  // namespace cloche
