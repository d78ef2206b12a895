#include "policy/gates/filed_requests.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

std::string said(const Result<void>& judged) { return judged.ok() ? "" : describe(judged.error()); }

TEST(FiledRequests, SoManyQuestionsMayWait) {
  const ApprovalTerms terms{.most_waiting = 4, .most_of_one = 2, .most_files = 9};
  const struct {
    WaitingQuestions waiting;
    const char* said;
  } rows[] = {
      {{}, ""},
      {{.all = 3, .of_workspace = 1, .files = 8}, ""},
      {{.all = 3, .of_workspace = 2},
       "2 questions of this workspace wait for the operator already; answer some with `cloche approve`"},
      {{.all = 4, .of_workspace = 1},
       "4 questions wait for the operator already; answer some with `cloche approve`"},
      {{.all = 1, .files = 9},
       "1 questions wait for the operator already; answer some with `cloche approve`"},
  };
  for (const auto& row : rows) EXPECT_EQ(said(judge_room(row.waiting, terms)), row.said);
}

TEST(FiledRequests, AQuestionIsAnsweredWhileItWaits) {
  const struct {
    QuestionFact fact;
    const char* said;
  } rows[] = {
      {{.id = "q", .exists = true}, ""},
      {{.id = "q"}, "no question 'q' waits; see `cloche approve list`"},
      {{.id = "q\x1b"}, "no question 'q\\u{1b}' waits; see `cloche approve list`"},
      {{.id = "q", .exists = true, .used = true}, "the answer to q has been used already"},
      {{.id = "q", .exists = true, .expired = true},
       "the question q has expired; let the call be made again"},
      {{.id = "q", .exists = true, .used = true, .expired = true}, "the answer to q has been used already"},
  };
  for (const auto& row : rows) EXPECT_EQ(said(judge_question(row.fact)), row.said);
}

TEST(FiledRequests, AnAnswerIsToWhatWasShown) {
  const FiledQuestion shown{.id = "q", .question = {"sha256:1", "text", Approvers::anyone}};
  const auto changed = [&](auto change) {
    FiledQuestion now = shown;
    change(now);
    return now;
  };
  const std::string another = "the question q is not the one that was shown; look at it again";
  const struct {
    FiledQuestion now;
    Decision decision;
    std::string said;
  } rows[] = {
      {shown, Decision::allow, ""},
      {shown, Decision::deny, ""},
      {changed([](auto& now) { now.question.digest = "sha256:2"; }), Decision::allow, another},
      {changed([](auto& now) { now.question.text = "texT"; }), Decision::allow, another},
      {changed([](auto& now) { now.question.approvers = Approvers::operator_alone; }), Decision::deny,
       another},
      {changed([](auto& now) { now.answer = Decision::allow; }), Decision::deny, ""},
      {changed([](auto& now) { now.answer = Decision::allow; }), Decision::allow,
       "q has been answered already: allow"},
      {changed([](auto& now) { now.answer = Decision::deny; }), Decision::allow,
       "q has been answered already: deny"},
      {changed([](auto& now) { now.answer = Decision::deny; }), Decision::deny,
       "q has been answered already: deny"},
  };
  for (const auto& row : rows)
    EXPECT_EQ(said(judge_operators_answer(shown, row.now, row.decision)), row.said);
}

TEST(FiledRequests, APendingCommandStartsOnceAndInTime) {
  const PendingTerms terms{.most = 2, .most_started = 3};
  EXPECT_EQ(said(judge_room({.waiting = 1, .started = 2}, terms)), "");
  EXPECT_EQ(said(judge_room({.waiting = 2}, terms)),
            "too many calls were judged and never started; start them, or wait an hour");
  EXPECT_EQ(said(judge_room({.started = 3}, terms)),
            "too many calls were started within an hour; wait a while");
  const std::string unknown =
      "there is no call 'c', or it was started already: the agent has to make the call again";
  EXPECT_EQ(said(judge_pending({.id = "c", .waits = true})), "");
  EXPECT_EQ(said(judge_pending({.id = "c"})), unknown);
  EXPECT_EQ(said(judge_pending({.id = "c", .expired = true})), unknown);
  EXPECT_EQ(said(judge_pending({.id = "c", .waits = true, .expired = true})),
            "the call c was judged too long ago: the agent has to make the call again");
}

}  // namespace
}  // namespace cloche
