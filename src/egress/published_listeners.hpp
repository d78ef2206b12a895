// The host's side of published ports: listeners at 127.0.0.1, made before the command starts.
#pragma once

#include <vector>

#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "model/plan.hpp"

namespace cloche {

// A port that is in use is a refusal that names it.
Result<std::vector<OwnedFd>> listen_at(const std::vector<PublishedPort>& ports);

}  // namespace cloche
