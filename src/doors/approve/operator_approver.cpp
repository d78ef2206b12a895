#include "doors/approve/operator_approver.hpp"

#include "gateway/configuration/installation.hpp"

namespace cloche {

FiledApprover& OperatorApprover::inner() const {
  const std::lock_guard held(lock_);
  if (!filed_) {
    const auto installation = find_installation(environment_);
    // No state: then questions cannot be filed, and the approver says so.
    filed_.emplace(FiledApproverOptions{.state = installation.ok() ? installation.value().state : "",
                                        .inner = &terminal_});
  }
  return *filed_;
}

}  // namespace cloche
