// Questions that wait for the operator, and the operator's answers: sealed files in STATE/approvals, which
// survive a restart. An answer belongs to one question, by its digest and its exact text: a question that
// differs in one byte, in what is asked or in what was shown, has no answer. The call that takes a yes uses
// it up, and a used yes stays used: a copy that is put back is refused. policy/gates/filed_requests.hpp
// judges what is found here.
//
//   ID.question   what is asked, until it is answered and used, or expires
//   ID.answer     what the operator answered
//   ID.spent      that a yes was used, for as long as a copy of it could count
//
// The caller gives the time, in milliseconds since 1970, so a restart changes nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "policy/gates/filed_requests.hpp"
#include "store/sealed/sealed_files.hpp"

namespace cloche {

struct OperatorsAnswer {
  std::string id = {};
  Decision decision = Decision::deny;
};

class Approvals {
 public:
  static Result<Approvals> open(const std::string& state, const ApprovalTerms& terms = {});
  // Whether a question was ever filed. Does not make the directory, as open() does.
  static bool are_there(const std::string& state);

  // The id it waits under; a question that waits already keeps its id. An Error where too many wait.
  Result<std::string> file(const Question& question, const std::string& workspace, uint64_t now_ms) const;

  // What the operator has answered to exactly this question: nothing yet, no, or a yes, which is then used.
  Result<std::optional<OperatorsAnswer>> take(const Question& question, uint64_t now_ms) const;

  // What waits or was answered and not used, oldest first; without what is damaged or has expired.
  std::vector<FiledQuestion> list(uint64_t now_ms) const;
  Result<FiledQuestion> find(const std::string& id, uint64_t now_ms) const;

  // `shown` is what the operator was shown; a question that changed or was answered since then is refused.
  Result<void> answer(const FiledQuestion& shown, Decision decision, uint64_t now_ms) const;

 private:
  Approvals(SealedFiles files, const ApprovalTerms& terms) : files_(std::move(files)), terms_(terms) {}

  // Under the lock.
  void prune(uint64_t now_ms) const;

  SealedFiles files_;
  ApprovalTerms terms_;
};

// Milliseconds since 1970.
uint64_t wall_clock_ms();

}  // namespace cloche
