// Who is asked, in which order, and what becomes of it.
#include "gateway/approval/filed_approver.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "base/scratch.hpp"

namespace cloche {
namespace {

class Client : public Approver {
 public:
  Client(Reply reply, bool there) : reply_(reply), there_(there) {}
  Answer ask(const Question& question) override {
    ++asked;
    return make_answer(question, reply_, 0);
  }
  bool can_ask() const override { return there_; }
  int asked = 0;

 private:
  Reply reply_;
  bool there_;
};

class FiledApproverTest : public testing::Test {
 protected:
  FiledApproverOptions options() const { return {.state = scratch.path + "/state", .workspace = "/ws"}; }
  Approvals approvals() const { return Approvals::open(scratch.path + "/state").value(); }
  void say(Decision decision) const {
    const auto waiting = approvals().list(wall_clock_ms());
    ASSERT_EQ(waiting.size(), 1U);
    ASSERT_TRUE(approvals().answer(waiting[0], decision, wall_clock_ms()).ok());
  }

  Scratch scratch;
  Question question{"sha256:one", "command     make\n"};
};

TEST_F(FiledApproverTest, TheIdenticalCallPassesAfterAYes) {
  const Answer no = FiledApprover(options()).ask(question);
  EXPECT_EQ(no.decision, Decision::deny);
  const std::string id = approvals().list(wall_clock_ms()).at(0).id;
  EXPECT_EQ(no.reason,
            "waiting for approval " + id +
                ": the user has to approve it; do not try to do it in another way; tell them that " + id +
                " waits, and make the same call again when it is approved");
  EXPECT_EQ(no.fix, "run \"cloche approve yes " + id + "\", then make the same call again");
  say(Decision::allow);
  const Answer yes = FiledApprover(options()).ask(question);
  EXPECT_EQ(yes.decision, Decision::allow);
  EXPECT_EQ(yes.digest, question.digest);
  EXPECT_EQ(yes.uses, 1U);
  EXPECT_EQ(FiledApprover(options()).ask(question).decision, Decision::deny) << "once";
}

TEST_F(FiledApproverTest, ANoSaysWhoseItIs) {
  (void)FiledApprover(options()).ask(question);
  say(Decision::deny);
  const Answer no = FiledApprover(options()).ask(question);
  EXPECT_EQ(no.decision, Decision::deny);
  EXPECT_EQ(no.reason.substr(0, 36), "the operator said no to this very ca");
}

TEST_F(FiledApproverTest, TheClientIsAskedWhereTheRuleLetsIt) {
  struct Row {
    Approvers approvers;
    Reply reply;
    bool there;
    int asked;
    Decision decision;
    size_t waiting;
  };
  const Row rows[] = {
      {Approvers::anyone, Reply::once, true, 1, Decision::allow, 0},
      {Approvers::anyone, Reply::no, true, 1, Decision::deny, 0},
      {Approvers::anyone, Reply::none, true, 1, Decision::deny, 1},
      {Approvers::anyone, Reply::once, false, 0, Decision::deny, 1},
      {Approvers::operator_alone, Reply::once, true, 0, Decision::deny, 1},
  };
  for (const auto& row : rows) {
    const Scratch own;
    Client client(row.reply, row.there);
    FiledApproverOptions given{.state = own.path + "/state", .inner = &client};
    const Answer answer = FiledApprover(given).ask({"sha256:one", "x\n", row.approvers});
    EXPECT_EQ(answer.decision, row.decision);
    EXPECT_EQ(client.asked, row.asked);
    EXPECT_EQ(Approvals::open(own.path + "/state").value().list(wall_clock_ms()).size(), row.waiting);
  }
}

TEST_F(FiledApproverTest, WhatTheOperatorSaidCountsBeforeTheClient) {
  (void)FiledApprover(options()).ask(question);
  say(Decision::deny);
  Client client(Reply::once, true);
  FiledApproverOptions given = options();
  given.inner = &client;
  EXPECT_EQ(FiledApprover(given).ask(question).decision, Decision::deny);
  EXPECT_EQ(client.asked, 0);
}

TEST_F(FiledApproverTest, WaitingEndsWithTheAnswerOrTheTime) {
  FiledApproverOptions given = options();
  given.wait_ms = 150;
  const Answer late = FiledApprover(given).ask(question);
  EXPECT_EQ(late.decision, Decision::deny);
  EXPECT_TRUE(late.reason.starts_with("no answer came in time; waiting for approval ")) << late.reason;

  given.wait_ms = 60'000;
  std::thread person([&] { say(Decision::allow); });
  EXPECT_EQ(FiledApprover(given).ask(question).decision, Decision::allow);
  person.join();

  given.cancelled = [] { return true; };
  EXPECT_EQ(FiledApprover(given).ask(question).decision, Decision::deny);
}

TEST_F(FiledApproverTest, WithoutAStateNobodyCanSayYes) {
  const Answer no = FiledApprover({}).ask(question);
  EXPECT_EQ(no.decision, Decision::deny);
  EXPECT_TRUE(no.reason.starts_with("the operator cannot be asked: ")) << no.reason;
}

}  // namespace
}  // namespace cloche
