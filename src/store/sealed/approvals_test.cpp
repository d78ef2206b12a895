// Questions that wait, and which answers count.
#include "store/sealed/approvals.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/scratch.hpp"
#include "base/text/random_word.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t start_ms = 1'800'000'000'000;
constexpr uint64_t minute_ms = 60'000;

class ApprovalsTest : public testing::Test {
 protected:
  // Each is a process of its own: nothing is remembered but the files.
  Approvals open() const { return Approvals::open(scratch.path + "/state").value(); }
  std::string asked(const Question& one, uint64_t now_ms = start_ms) const {
    auto id = open().file(one, "/ws", now_ms);
    EXPECT_TRUE(id.ok()) << id.error().what;
    return id.ok() ? id.value() : "";
  }
  Result<void> said(const std::string& id, Decision decision, uint64_t now_ms = start_ms) const {
    const auto shown = open().find(id, now_ms);
    if (!shown.ok()) return shown.error();
    return open().answer(shown.value(), decision, now_ms);
  }
  // "waiting", "allow" or "deny".
  std::string taken(const Question& one, uint64_t now_ms = start_ms) const {
    const auto answer = open().take(one, now_ms);
    EXPECT_TRUE(answer.ok()) << answer.error().what;
    if (!answer.ok() || !answer.value()) return "waiting";
    return std::string(name_of(answer.value()->decision));
  }
  std::string file(const std::string& name) const { return scratch.path + "/state/approvals/" + name; }

  Scratch scratch;
  Question question{"sha256:one", "tool        run_shell\ncommand     make\n"};
};

TEST_F(ApprovalsTest, AYesIsGoodForOneCall) {
  EXPECT_EQ(taken(question), "waiting");
  const std::string id = asked(question);
  EXPECT_TRUE(is_plain_id(id)) << id;
  EXPECT_EQ(taken(question), "waiting");
  ASSERT_TRUE(said(id, Decision::allow).ok());
  EXPECT_EQ(taken(question), "allow");
  EXPECT_EQ(taken(question), "waiting");
  EXPECT_NE(asked(question), id) << "the next one is another question";
}

TEST_F(ApprovalsTest, ANoStandsUntilItExpires) {
  const std::string id = asked(question);
  ASSERT_TRUE(said(id, Decision::deny).ok());
  EXPECT_EQ(taken(question), "deny");
  EXPECT_EQ(taken(question), "deny");
  EXPECT_FALSE(said(id, Decision::allow).ok()) << "what was said was said";
  EXPECT_EQ(taken(question, start_ms + 61 * minute_ms), "waiting");
}

TEST_F(ApprovalsTest, AYesCanBeTakenBackUntilItIsUsed) {
  const std::string id = asked(question);
  ASSERT_TRUE(said(id, Decision::allow).ok());
  EXPECT_FALSE(said(id, Decision::allow).ok());
  ASSERT_TRUE(said(id, Decision::deny).ok());
  EXPECT_EQ(taken(question), "deny");
}

TEST_F(ApprovalsTest, WhatWaitsAlreadyKeepsItsId) {
  const std::string id = asked(question);
  EXPECT_EQ(asked(question, start_ms + minute_ms), id);
  EXPECT_NE(asked({"sha256:two", question.text}), id);
  EXPECT_NE(asked({question.digest, question.text, Approvers::operator_alone}), id);
}

TEST_F(ApprovalsTest, AnAnswerCountsForThatVeryQuestion) {
  ASSERT_TRUE(said(asked(question), Decision::allow).ok());
  const Question others[] = {
      {"sha256:two", question.text},
      {"", question.text},
      {question.digest, question.text + " "},
      {question.digest, question.text, Approvers::operator_alone},
  };
  for (const auto& other : others) EXPECT_EQ(taken(other), "waiting") << other.digest << other.text;
  EXPECT_EQ(taken(question), "allow") << "the control";
}

TEST_F(ApprovalsTest, TimeEndsBoth) {
  const std::string late = asked(question);
  EXPECT_FALSE(said(late, Decision::allow, start_ms + 481 * minute_ms).ok()) << "the question has expired";
  const std::string id = asked(question, start_ms + 500 * minute_ms);
  ASSERT_TRUE(said(id, Decision::allow, start_ms + 501 * minute_ms).ok());
  EXPECT_EQ(taken(question, start_ms + 562 * minute_ms), "waiting");
  EXPECT_EQ(taken(question, start_ms), "waiting") << "of a clock that went back";
  EXPECT_EQ(taken(question, start_ms + 502 * minute_ms), "allow") << "the control";
}

TEST_F(ApprovalsTest, ACopyPutBackIsRefused) {
  const std::string id = asked(question);
  ASSERT_TRUE(said(id, Decision::allow).ok());
  fs::copy(file(""), scratch.path + "/copy", fs::copy_options::recursive);
  EXPECT_EQ(taken(question), "allow");
  for (const char* ending : {".answer", ".question"})
    fs::copy(scratch.path + "/copy/" + id + ending, file(id + ending));
  EXPECT_EQ(taken(question), "waiting");
  EXPECT_FALSE(open().find(id, start_ms).ok());
  EXPECT_NE(asked(question), id);
}

TEST_F(ApprovalsTest, AnAnswerToAnotherQuestionRenamedIsRefused) {
  const std::string id = asked(question);
  const std::string other = asked({"sha256:two", "harmless\n"});
  ASSERT_TRUE(said(other, Decision::allow).ok());
  fs::rename(file(other + ".answer"), file(id + ".answer"));
  EXPECT_EQ(taken(question), "waiting");
}

TEST_F(ApprovalsTest, AQuestionThatWasAlteredIsNotShown) {
  const std::string id = asked(question);
  std::string text;
  std::getline(std::ifstream(file(id + ".question")), text, '\0');
  text.replace(text.find("make"), 4, "true");
  std::ofstream(file(id + ".question")) << text;
  EXPECT_FALSE(open().find(id, start_ms).ok());
  EXPECT_FALSE(said(id, Decision::allow).ok());
  EXPECT_TRUE(open().list(start_ms).empty());
  EXPECT_NE(asked(question), id);
}

TEST_F(ApprovalsTest, WhatChangedSinceItWasShownIsNotAnswered) {
  FiledQuestion shown = open().find(asked(question), start_ms).value();
  shown.question.text = "something else\n";
  EXPECT_FALSE(open().answer(shown, Decision::allow, start_ms).ok());
  EXPECT_EQ(taken(question), "waiting");
}

TEST_F(ApprovalsTest, NoMoreThanAPersonCanAnswer) {
  const ApprovalTerms few{.most_waiting = 3};
  const auto approvals = Approvals::open(scratch.path + "/state", few).value();
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(approvals.file({"sha256:" + std::to_string(i), "x"}, "/ws", start_ms).ok());
  EXPECT_FALSE(approvals.file(question, "/ws", start_ms).ok());
  EXPECT_TRUE(approvals.file({"sha256:1", "x"}, "/ws", start_ms).ok()) << "it waits already";
  EXPECT_TRUE(approvals.file(question, "/ws", start_ms + 481 * minute_ms).ok()) << "the others have expired";
}

TEST_F(ApprovalsTest, WhatIsAnsweredDoesNotWaitAnyMore) {
  const ApprovalTerms few{.most_waiting = 2};
  const auto approvals = Approvals::open(scratch.path + "/state", few).value();
  const Decision said_to[] = {Decision::deny, Decision::allow};
  for (int i = 0; i < 2; ++i) {
    const auto id = approvals.file({"sha256:" + std::to_string(i), "x"}, "/ws", start_ms);
    ASSERT_TRUE(id.ok());
    ASSERT_TRUE(said(id.value(), said_to[i]).ok());
  }
  EXPECT_TRUE(approvals.file(question, "/ws", start_ms).ok());
  EXPECT_EQ(taken({"sha256:0", "x"}), "deny") << "its answer counts as before";
}

TEST_F(ApprovalsTest, OneWorkspaceLeavesRoomForTheOthers) {
  const ApprovalTerms few{.most_waiting = 3, .most_of_one = 2};
  const auto approvals = Approvals::open(scratch.path + "/state", few).value();
  for (int i = 0; i < 2; ++i)
    ASSERT_TRUE(approvals.file({"sha256:" + std::to_string(i), "x"}, "/ws", start_ms).ok());
  const auto third = approvals.file(question, "/ws", start_ms);
  ASSERT_FALSE(third.ok());
  EXPECT_EQ(third.error().what.text(), "2 questions of this workspace wait for the operator already");
  EXPECT_TRUE(approvals.file(question, "/other", start_ms).ok());
  EXPECT_FALSE(approvals.file({"sha256:9", "x"}, "/third", start_ms).ok());
}

TEST_F(ApprovalsTest, TheListIsByAge) {
  const std::string first = asked(question, start_ms + 1);
  const std::string second = asked({"sha256:two", "x\n"}, start_ms + 2);
  ASSERT_TRUE(said(second, Decision::allow, start_ms + 3).ok());
  const auto all = open().list(start_ms + 4);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].id, first);
  EXPECT_EQ(all[0].workspace, "/ws");
  EXPECT_EQ(all[0].question.text, question.text);
  EXPECT_FALSE(all[0].answer);
  EXPECT_EQ(all[1].answer, Decision::allow);
}

TEST_F(ApprovalsTest, IdsThatAreNone) {
  for (const char* id : {"", "../x", "aaaaaaaa", "A", ".key", "a/b"})
    EXPECT_FALSE(open().find(id, start_ms).ok()) << id;
}

TEST_F(ApprovalsTest, OfManyAtOnceOneHasTheYes) {
  ASSERT_TRUE(said(asked(question), Decision::allow).ok());
  std::atomic<int> allowed = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&] { allowed += taken(question) == "allow" ? 1 : 0; });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(allowed, 1);
}

}  // namespace
}  // namespace cloche
