#include "gateway/guarded_ask.hpp"

namespace cloche {

std::optional<Answer> guarded_ask(Approver& approver, const Question& question) noexcept {
  try {
    return approver.ask(question);
  } catch (...) {
    return std::nullopt;
  }
}

}  // namespace cloche
