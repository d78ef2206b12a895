// Asks the person at the controlling terminal. Never reads stdin, which may be the model's; without a
// terminal the answer is no.
//
// Who waits for whom: ask() runs on the caller's thread and returns within its time. It opens the terminal,
// takes it out of line mode, shows the question, throws away what was typed before the prompt stood there,
// and reads one line. y is yes once, s or session is yes for the session; everything else is no: another
// word, an empty line, Ctrl-C, Ctrl-D, no answer in time, no terminal, a terminal in whose background we run.
// The terminal is put back as it was, also when a signal wants to end us meanwhile.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "policy/gates/approval.hpp"

namespace cloche {

class TerminalApprover : public Approver {
 public:
  explicit TerminalApprover(uint64_t timeout_ms = 120'000, std::string terminal = "/dev/tty",
                            AnswerTerms terms = {})
      : timeout_ms_(timeout_ms), terminal_(std::move(terminal)), terms_(terms) {}

  // On the clock of sys::monotonic_ms().
  Answer ask(const Question& question) override;
  std::optional<Answer> ask_afterwards(const Question& question) override {
    return can_ask() ? std::optional(ask(question)) : std::nullopt;
  }
  // Whether we stand in the foreground of that terminal.
  bool can_ask() const override;

 private:
  uint64_t timeout_ms_;
  std::string terminal_;
  AnswerTerms terms_;
  std::mutex one_at_a_time_;  // two questions at once, and a yes could be meant for the other
};

}  // namespace cloche
