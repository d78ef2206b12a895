// Questions that wait for the operator, and his answers: files on the shelf STATE/approvals, so that both
// survive a restart of everything. An answer is to one question, by its digest and its very text: what is
// asked anew with one byte changed, or was shown to him with one byte changed, has no answer. A yes is spent
// by whoever takes it, and what is spent stays spent: a copy put back is refused.
//
//   ID.question   what is asked, until it is answered and used, or expires
//   ID.answer     what the operator said to it
//   ID.spent      that a yes was used, for as long as a copy of it could count
//
// Clocks are the caller's, in milliseconds since 1970: a restart changes nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "policy/gates/approval.hpp"
#include "store/shelf.hpp"

namespace cloche {

struct ApprovalTerms {
  uint64_t waits_ms = 8ULL * 60 * 60 * 1000;  // a question, for an answer
  uint64_t holds_ms = 60ULL * 60 * 1000;      // an answer, for the call to come again
  size_t most_waiting = 100;
  size_t most_of_one = 50;  // workspace: no agent takes the others' places
};

struct FiledQuestion {
  std::string id = {};
  Question question = {};
  std::string workspace = {};
  uint64_t asked_ms = 0;
  uint64_t expires_ms = 0;
  std::optional<Decision> answer = {};  // what was said and not yet used; nothing: it waits
};

struct OperatorsAnswer {
  std::string id = {};
  Decision decision = Decision::deny;
};

class Approvals {
 public:
  static Result<Approvals> open(const std::string& state, const ApprovalTerms& terms = {});
  // Whether anybody ever asked: opening makes the place for it.
  static bool are_there(const std::string& state);

  // The id it waits under; one that waits already keeps its id. An error where too many wait.
  Result<std::string> file(const Question& question, const std::string& workspace, uint64_t now_ms) const;

  // What the operator has said to exactly this question: nothing yet, no, or a yes that is hereby used.
  Result<std::optional<OperatorsAnswer>> take(const Question& question, uint64_t now_ms) const;

  // What waits or was answered and not used, oldest first; what is damaged or has expired is left out.
  std::vector<FiledQuestion> list(uint64_t now_ms) const;
  Result<FiledQuestion> find(const std::string& id, uint64_t now_ms) const;

  // `shown` is what the operator was shown; what has changed or been answered since is refused.
  Result<void> answer(const FiledQuestion& shown, Decision decision, uint64_t now_ms) const;

 private:
  Approvals(Shelf shelf, const ApprovalTerms& terms) : shelf_(std::move(shelf)), terms_(terms) {}

  void prune(uint64_t now_ms) const;

  Shelf shelf_;
  ApprovalTerms terms_;
};

// Milliseconds since 1970.
uint64_t wall_clock_ms();

}  // namespace cloche
