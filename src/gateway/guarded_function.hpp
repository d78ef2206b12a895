// A function of the embedding program may throw. Whatever goes wrong with it is a result that says so.
#pragma once

#include <string>

#include "base/result.hpp"
#include "policy/gates/permit.hpp"
#include "tools/function.hpp"

namespace cloche {

// Compiled with exceptions, as guarded_ask() is.
// With what the permitted call gives it.
Result<std::string> guarded_run(const Function& function, const Permit& permit) noexcept;

}  // namespace cloche
