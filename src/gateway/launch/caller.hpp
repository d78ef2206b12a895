// Who calls, and whether a command of that caller can have what its isolation level promises.
#pragma once

#include <vector>

#include "base/result.hpp"
#include "base/sys/environment.hpp"
#include "gateway/configuration/installation.hpp"
#include "model/facts.hpp"
#include "model/layers.hpp"
#include "model/run_request.hpp"

namespace cloche {

// Whether a command of the caller's can have what the request's level promises about ids. On a host without
// the means at all that is the better reason to refuse. Asked of the level that was taken, not of the
// one that was wanted.
Result<void> judge_caller(const RunRequest& request, const CallerFact& caller);

// Which layers the request requires and this host does not have, before there is a plan.
Result<void> judge_layers(const RunRequest& request);

Error describe_missing(const std::vector<MissingLayer>& missing);

}  // namespace cloche
