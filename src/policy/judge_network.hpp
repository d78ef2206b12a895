// Which network a command can have: what its profile, its box and its view make of what was asked for.
#pragma once

#include "base/result.hpp"
#include "model/facts.hpp"
#include "model/run_request.hpp"

namespace cloche {

Result<void> judge_network(const RunRequest& request, const Facts& facts);

}  // namespace cloche
