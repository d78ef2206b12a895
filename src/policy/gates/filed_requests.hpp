// What waits in Cloche's state between two processes: questions to the operator, and commands that a hook has
// judged and that the agent starts by their id. Whether one more may wait, and whether one that waits may be
// used. Pure: store/sealed/approvals.hpp and store/sealed/pending_commands.hpp read and write the files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "policy/gates/approval.hpp"

namespace cloche {

struct ApprovalTerms {
  uint64_t waits_ms = 8ULL * 60 * 60 * 1000;  // a question, for an answer
  uint64_t holds_ms = 60ULL * 60 * 1000;      // an answer, for the call to come again
  size_t most_waiting = 100;
  size_t most_of_one = 50;   // workspace: one agent cannot use up the room of all others
  size_t most_files = 2000;  // with those that say that an answer was used
};

struct FiledQuestion {
  std::string id = {};
  Question question = {};
  std::string workspace = {};
  uint64_t asked_ms = 0;
  uint64_t expires_ms = 0;
  std::optional<Decision> answer = {};  // given and not yet used; nothing: it waits
};

// What waits for the operator before one more question is filed.
struct WaitingQuestions {
  size_t all = 0;
  size_t of_workspace = 0;
  size_t files = 0;
};
Result<void> judge_room(const WaitingQuestions& waiting, const ApprovalTerms& terms);

// A filed question, looked up by the id that the operator wrote.
struct QuestionFact {
  std::string id = {};
  bool exists = false;
  bool used = false;     // its answer was a yes, and a call has used it
  bool expired = false;  // and it has no answer that still counts
};
Result<void> judge_question(const QuestionFact& fact);

// Whether the operator's answer to what was shown is an answer to what is filed now. A yes can be taken back;
// a no stays.
Result<void> judge_operators_answer(const FiledQuestion& shown, const FiledQuestion& now, Decision decision);
bool is_same_question(const Question& a, const Question& b);

struct PendingTerms {
  uint64_t good_for_ms = 60ULL * 60 * 1000;
  size_t most = 1000;
  size_t most_started = 20'000;  // within good_for_ms
};

struct PendingCount {
  size_t waiting = 0;
  size_t started = 0;
};
Result<void> judge_room(const PendingCount& count, const PendingTerms& terms);

// A pending command, looked up by the id that came through the agent's shell.
struct PendingFact {
  std::string id = {};
  bool waits = false;  // it is there and was not started yet
  bool expired = false;
};
Result<void> judge_pending(const PendingFact& fact);

}  // namespace cloche
