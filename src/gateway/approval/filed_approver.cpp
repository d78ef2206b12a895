#include "gateway/approval/filed_approver.hpp"

#include <time.h>

#include "base/sys/sys.hpp"
#include "tools/answer/model_text.hpp"

namespace cloche {
namespace {

constexpr uint64_t look_again_ms = 100;

Answer yes_to(const Question& question) { return make_answer(question, Reply::once, sys::monotonic_ms()); }

Answer no_because(const Question& question, std::string reason, std::string fix = {}) {
  Answer answer = make_answer(question, Reply::no, sys::monotonic_ms());
  answer.reason = std::move(reason);
  answer.fix = std::move(fix);
  return answer;
}

Answer as_answer(const OperatorsAnswer& taken, const Question& question) {
  if (taken.decision == Decision::allow) return yes_to(question);
  return no_because(question, "the operator said no to this very call (" + taken.id + "); " +
                                  std::string(forbidden_by_operator));
}

void pause() {
  const timespec time{0, static_cast<long>(look_again_ms) * 1'000'000};
  (void)::nanosleep(&time, nullptr);
}

}  // namespace

Answer FiledApprover::ask(const Question& question) {
  auto answer = ask_operator(question);
  if (answer.ok()) return std::move(answer).value();
  return no_because(question, "the operator cannot be asked: " + failure_text(answer.error()),
                    describe(answer.error()));
}

Result<Answer> FiledApprover::ask_operator(const Question& question) const {
  const Approvals approvals = TRY(Approvals::open(options_.state, options_.terms));
  if (const auto said = TRY(approvals.take(question, options_.clock()))) return as_answer(*said, question);
  const bool anyone = question.approvers == Approvers::anyone;
  if (anyone && options_.inner != nullptr && options_.inner->can_ask()) {
    Answer given = options_.inner->ask(question);
    if (!given.unanswered) return given;
  }

  const std::string id = TRY(approvals.file(question, options_.workspace, options_.clock()));
  const uint64_t deadline = sys::monotonic_ms() + options_.wait_ms;
  while (sys::monotonic_ms() < deadline) {
    if (options_.cancelled && options_.cancelled())
      return no_because(question, "the call was cancelled while the operator was asked");
    pause();
    if (const auto said = TRY(approvals.take(question, options_.clock()))) return as_answer(*said, question);
  }
  const std::string late = options_.wait_ms > 0 ? "no answer came in time; " : "";
  return no_because(question,
                    late + "waiting for approval " + id + ": " + std::string(needs_the_user) +
                        "; tell them that " + id + " waits, and make the same call again when it is approved",
                    "run \"cloche approve yes " + id + "\", then make the same call again");
}

}  // namespace cloche
