// `cloche approve --watch`: waits for questions and asks each at the terminal, until Ctrl-C.
#pragma once

#include "base/result.hpp"
#include "store/approvals.hpp"

namespace cloche {

// The exit code. An Error where there is no terminal.
Result<int> watch_approvals(const Approvals& approvals);

}  // namespace cloche
