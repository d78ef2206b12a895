// The approver of every front end. What the operator has said already counts first. Then the agent's client
// or the person at the terminal is asked, where the rule lets them answer and they can be reached. A question
// that no person could be asked, or that was put away unanswered, is filed for `cloche approve`, and the call
// is refused with its id: made again after a yes, the identical call passes.
//
// Who waits for whom: with `wait_ms` ask() looks for the operator's answer until then, on the caller's
// thread; other threads are not held up. Time-out is a no, and the question stays filed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "policy/gates/approval.hpp"
#include "store/sealed/approvals.hpp"

namespace cloche {

struct FiledApproverOptions {
  std::string state = {};      // Cloche's state directory
  std::string workspace = {};  // for the operator to see
  uint64_t wait_ms = 0;        // 0: the answer counts for the next call
  Approver* inner = nullptr;   // the client's own, or the person at the terminal
  std::function<bool()> cancelled = {};
  ApprovalTerms terms = {};
  std::function<uint64_t()> clock = wall_clock_ms;
};

class FiledApprover : public Approver {
 public:
  explicit FiledApprover(FiledApproverOptions options) : options_(std::move(options)) {}

  Answer ask(const Question& question) override;
  std::optional<Answer> ask_afterwards(const Question& question) override {
    return options_.inner != nullptr ? options_.inner->ask_afterwards(question) : std::nullopt;
  }
  bool speaks_for_operator() const override { return true; }

 private:
  Result<Answer> ask_operator(const Question& question) const;

  FiledApproverOptions options_;
};

}  // namespace cloche
