// Code of the embedding program may throw: its approver and its functions. These call it and let no
// exception out. They are compiled with exceptions, as nothing else of the gateway is.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "policy/gates/approval.hpp"
#include "policy/gates/permit.hpp"
#include "tools/function.hpp"

namespace cloche {

// Nothing: it threw, which is a no.
std::optional<Answer> guarded_ask(Approver& approver, const Question& question) noexcept;
// Nothing: it threw, or there is no person to say it.
std::optional<Answer> guarded_ask_afterwards(Approver& approver, const Question& question) noexcept;

// With what the permitted call gives it. What it throws is an Error that says so.
Result<std::string> guarded_run(const Function& function, const Permit& permit) noexcept;

}  // namespace cloche
