// Asks the operator: at the terminal, or by a question that waits for `cloche approve`. Made when a call
// first asks, because most ask nothing.
#pragma once

#include <mutex>
#include <optional>

#include "base/sys/environment.hpp"
#include "doors/approve/terminal_approver.hpp"
#include "gateway/approval/filed_approver.hpp"

namespace cloche {

class OperatorApprover : public Approver {
 public:
  // `environment` outlives it.
  explicit OperatorApprover(const Environment& environment) : environment_(environment) {}
  Answer ask(const Question& question) override { return inner().ask(question); }
  std::optional<Answer> ask_afterwards(const Question& question) override {
    return inner().ask_afterwards(question);
  }
  bool can_ask() const override { return inner().can_ask(); }
  bool speaks_for_operator() const override { return inner().speaks_for_operator(); }

 private:
  FiledApprover& inner() const;

  const Environment& environment_;
  mutable TerminalApprover terminal_;
  mutable std::mutex lock_;
  mutable std::optional<FiledApprover> filed_;
};

}  // namespace cloche
