#include "policy/gates/filed_requests.hpp"

#include "base/text/visible_text.hpp"

namespace cloche {
namespace {

constexpr size_t most_shown_of_id = 80;

Error too_many_questions(size_t waiting, const char* whose) {
  return refusal(std::to_string(waiting) + " questions" + whose + " wait for the operator already",
                 "answer some with `cloche approve`");
}

}  // namespace

Result<void> judge_room(const WaitingQuestions& waiting, const ApprovalTerms& terms) {
  if (waiting.of_workspace >= terms.most_of_one)
    return too_many_questions(waiting.of_workspace, " of this workspace");
  if (waiting.all >= terms.most_waiting || waiting.files >= terms.most_files)
    return too_many_questions(waiting.all, "");
  return {};
}

Result<void> judge_question(const QuestionFact& fact) {
  if (!fact.exists)
    return refusal("no question '" + shown(fact.id, most_shown_of_id) + "' waits",
                   "see `cloche approve list`");
  if (fact.used) return refusal("the answer to " + fact.id + " has been used already");
  if (fact.expired) return refusal("the question " + fact.id + " has expired", "let the call be made again");
  return {};
}

bool is_same_question(const Question& a, const Question& b) {
  return a.digest == b.digest && a.text == b.text && a.approvers == b.approvers;
}

Result<void> judge_operators_answer(const FiledQuestion& shown, const FiledQuestion& now, Decision decision) {
  if (!is_same_question(now.question, shown.question))
    return refusal("the question " + shown.id + " is not the one that was shown", "look at it again");
  if (now.answer && (*now.answer == decision || *now.answer != Decision::allow))
    return refusal(shown.id + " has been answered already: " + std::string(name_of(*now.answer)));
  return {};
}

Result<void> judge_room(const PendingCount& count, const PendingTerms& terms) {
  if (count.waiting >= terms.most)
    return refusal("too many calls were judged and never started", "start them, or wait an hour");
  if (count.started >= terms.most_started)
    return refusal("too many calls were started within an hour", "wait a while");
  return {};
}

Result<void> judge_pending(const PendingFact& fact) {
  if (!fact.waits)
    return refusal("there is no call '" + shown(fact.id, most_shown_of_id) +
                   "', or it was started already: the agent has to make the call again");
  if (fact.expired)
    return refusal("the call " + fact.id + " was judged too long ago: the agent has to make the call again");
  return {};
}

}  // namespace cloche
