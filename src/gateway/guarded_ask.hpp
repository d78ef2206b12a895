// An approver is the embedding program's code, and may throw. Whatever goes wrong with it is a no.
#pragma once

#include <optional>

#include "policy/gates/approval.hpp"

namespace cloche {

// Nothing: it threw. Compiled with exceptions, as nothing else of the gateway is.
std::optional<Answer> guarded_ask(Approver& approver, const Question& question) noexcept;

}  // namespace cloche
