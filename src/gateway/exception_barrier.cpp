#include "gateway/exception_barrier.hpp"

#include <exception>

#include "gateway/admission/admission.hpp"

namespace cloche {
namespace {

// Without it while this lives, also where an approver throws.
class SteppedAside {
 public:
  explicit SteppedAside(Admission::Place& place) : place_(place) { place_.step_aside(); }
  SteppedAside(const SteppedAside&) = delete;
  SteppedAside& operator=(const SteppedAside&) = delete;
  ~SteppedAside() { place_.come_back(); }

 private:
  Admission::Place& place_;
};

}  // namespace

Answer PlaceFreeingApprover::ask(const Question& question) {
  const SteppedAside aside(place_);
  return inner_.ask(question);
}

std::optional<Answer> PlaceFreeingApprover::ask_afterwards(const Question& question) {
  const SteppedAside aside(place_);
  return inner_.ask_afterwards(question);
}

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
