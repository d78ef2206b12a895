// A function of the embedding program may throw. Whatever goes wrong with it is a result that says so.
#pragma once

#include <string>

#include "base/result.hpp"
#include "tools/function.hpp"

namespace cloche {

// Compiled with exceptions, as guarded_ask() is.
Result<std::string> guarded_run(const Function& function, const std::string& arguments) noexcept;

}  // namespace cloche
