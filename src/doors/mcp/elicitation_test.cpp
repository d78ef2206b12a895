#include "doors/mcp/elicitation.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <thread>

#include "base/sys/fd.hpp"
#include "doors/mcp/catalog.hpp"

namespace cloche::mcp {
namespace {

const Question question{"sha256:1", "may it?"};

JsonValue json(const char* text) { return read_json(text, "").value(); }

// The client, as far as a question goes: what it was sent, and one that answers at once.
struct Client {
  std::vector<std::string> sent = {};
  const char* answer = nullptr;  // none: it never answers
  Conversation conversation{[this](std::string message) {
    sent.push_back(std::move(message));
    if (answer != nullptr) conversation.take_answer("\"cloche-1\"", json(answer));
  }};
};

TEST(Elicitation, AYesIsAYes) {
  Client client{.answer = R"({"action":"accept","content":{"answer":"once"}})"};
  const Answer answer = AskingApprover(client.conversation, -1, true).ask(question);
  EXPECT_EQ(answer.decision, Decision::allow);
  EXPECT_EQ(answer.digest, question.digest);
  EXPECT_EQ(answer.uses, 1U);
  ASSERT_EQ(client.sent.size(), 1U);
  EXPECT_NE(client.sent[0].find(R"("id":"cloche-1","method":"elicitation/create")"), std::string::npos);
  EXPECT_NE(client.sent[0].find("may it?"), std::string::npos);
  EXPECT_FALSE(client.conversation.take_answer("\"cloche-1\"", json("{}")))
      << "no call waits for it any more";
}

TEST(Elicitation, TheFirstAnswerHolds) {
  Conversation* conversation = nullptr;
  Conversation both([&](const std::string&) {
    EXPECT_TRUE(conversation->take_answer("\"cloche-1\"", json(R"({"action":"decline"})")));
    EXPECT_FALSE(conversation->take_answer("\"cloche-1\"",
                                           json(R"({"action":"accept","content":{"answer":"once"}})")));
  });
  conversation = &both;
  EXPECT_EQ(AskingApprover(both, -1, true).ask(question).decision, Decision::deny);
}

TEST(Elicitation, AFormThatIsPutAwayIsNoAnswerAndADeclineIsANo) {
  const std::pair<const char*, bool> rows[] = {
      {R"({"action":"cancel"})", true}, {"null", true}, {R"({"action":"decline"})", false}};
  for (const auto& [said, unanswered] : rows) {
    Client client{.answer = said};
    const Answer asked = AskingApprover(client.conversation, -1, true).ask(question);
    EXPECT_EQ(asked.decision, Decision::deny) << said;
    EXPECT_EQ(asked.unanswered, unanswered) << said;
  }
}

TEST(Elicitation, WhatDoesNotComeInTimeIsNoAnswerAndTakenBack) {
  Client client;
  const Answer answer = AskingApprover(client.conversation, -1, true, 20).ask(question);
  EXPECT_EQ(answer.decision, Decision::deny);
  EXPECT_TRUE(answer.unanswered);
  EXPECT_NE(answer.reason.find("in time"), std::string::npos);
  ASSERT_EQ(client.sent.size(), 2U);
  EXPECT_NE(client.sent[1].find(R"("method":"notifications/cancelled","params":{"requestId":"cloche-1")"),
            std::string::npos);
}

TEST(Elicitation, ACallThatIsCalledOffDoesNotWait) {
  Client client;
  const OwnedFd stop(::eventfd(1, EFD_CLOEXEC));
  const Answer answer = AskingApprover(client.conversation, stop.get(), true).ask(question);
  EXPECT_EQ(answer.decision, Decision::deny);
  EXPECT_FALSE(answer.unanswered) << "no question is left behind for a call that was cancelled";
}

TEST(Elicitation, NothingIsAskedAtTheEnd) {
  Client client;
  std::thread ending([&] {
    ::usleep(20'000);
    client.conversation.end();
  });
  EXPECT_EQ(AskingApprover(client.conversation, -1, true).ask(question).decision, Decision::deny);
  ending.join();
}

TEST(Elicitation, WhoCannotAskIsNotAsked) {
  Client client;
  AskingApprover approver(client.conversation, -1, false);
  EXPECT_FALSE(approver.can_ask());
  EXPECT_EQ(approver.ask(question).decision, Decision::deny);
  EXPECT_TRUE(client.sent.empty());
}

TEST(Elicitation, TheReturningApprover) {
  using Brought = ReturningApprover::Brought;
  struct Row {
    std::optional<Brought> brought;
    bool possible;
    Decision decision;
    bool asks;
    bool unanswered = false;
  };
  const Row rows[] = {
      {std::nullopt, true, Decision::deny, true},
      {std::nullopt, false, Decision::deny, false},
      {Brought{question.digest, Reply::once}, true, Decision::allow, false},
      {Brought{question.digest, Reply::session}, false, Decision::allow, false},
      {Brought{question.digest, Reply::no}, true, Decision::deny, false},
      {Brought{question.digest, Reply::none}, true, Decision::deny, false, true},
      {Brought{"sha256:2", Reply::once}, true, Decision::deny, true},  // of a file that has changed since
  };
  for (const auto& row : rows) {
    ReturningApprover approver(row.brought, row.possible);
    const Answer answer = approver.ask(question);
    EXPECT_EQ(answer.decision, row.decision);
    EXPECT_EQ(answer.unanswered, row.unanswered);
    EXPECT_EQ(approver.open_question().has_value(), row.asks);
  }
}

TEST(Catalog, Pages) {
  const std::vector<std::string> items = {"1", "2", "3", "4", "5"};
  struct Row {
    const char* cursor;
    std::vector<std::string> items;
    const char* next;  // "!": there is no such page
  };
  const Row rows[] = {
      {"", {"1", "2"}, "after-2"},
      {"after-2", {"3", "4"}, "after-4"},
      {"after-4", {"5"}, ""},
      {"after-1", {"2", "3"}, "after-3"},
      {"after-5", {}, "!"},
      {"after-0", {}, "!"},
      {"after-", {}, "!"},
      {"after--1", {}, "!"},
      {"after-2x", {}, "!"},
      {"after-99999999999999999999", {}, "!"},
      {"x", {}, "!"},
  };
  for (const auto& row : rows) {
    const Response response = page_of("tools", items, row.cursor, 2);
    const auto* page = std::get_if<Page>(&response);
    ASSERT_EQ(page == nullptr, std::string(row.next) == "!") << row.cursor;
    if (page == nullptr) continue;
    EXPECT_EQ(page->items, row.items) << row.cursor;
    EXPECT_EQ(page->next, row.next) << row.cursor;
  }
}

}  // namespace
}  // namespace cloche::mcp
