#include "gateway/exception_barrier.hpp"

#include <exception>

namespace cloche {

std::optional<Answer> guarded_ask(Approver& approver, const Question& question) noexcept {
  try {
    return approver.ask(question);
  } catch (...) {
    return std::nullopt;
  }
}

std::optional<Answer> guarded_ask_afterwards(Approver& approver, const Question& question) noexcept {
  try {
    return approver.ask_afterwards(question);
  } catch (...) {
    return std::nullopt;
  }
}

Result<std::string> guarded_run(const Function& function, const Permit& permit) noexcept {
  try {
    return function.run(permit.launch().as<FunctionCall>()->arguments);
  } catch (const std::exception& thrown) {
    return Error{Cause::internal, std::string("it threw: ") + thrown.what(), 0, {}};
  } catch (...) {
    return Error{Cause::internal, "it threw something that is no exception", 0, {}};
  }
}

}  // namespace cloche
