#include "doors/approve/approve_command.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

using Action = ApproveArguments::Action;

Result<ApproveArguments> parsed(std::vector<std::string> words) {
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  return parse_approve(pointers);
}

TEST(ApproveWords, WhatTheyMean) {
  struct Row {
    std::vector<std::string> words;
    Action action;
    const char* id;
    bool json;
  };
  const Row rows[] = {
      {{}, Action::list, "", false},
      {{"list"}, Action::list, "", false},
      {{"--json"}, Action::list, "", true},
      {{"list", "--json"}, Action::list, "", true},
      {{"show", "abc"}, Action::show, "abc", false},
      {{"yes", "abc", "--json"}, Action::yes, "abc", true},
      {{"--json", "no", "abc"}, Action::no, "abc", true},
      {{"show", "yes"}, Action::show, "yes", false},
      {{"--watch"}, Action::watch, "", false},
      {{"yes", "--help"}, Action::help, "", false},
  };
  for (const auto& row : rows) {
    const auto arguments = parsed(row.words);
    ASSERT_TRUE(arguments.ok()) << arguments.error().what;
    EXPECT_EQ(arguments.value().action, row.action);
    EXPECT_EQ(arguments.value().id, row.id);
    EXPECT_EQ(arguments.value().json, row.json);
  }
}

TEST(ApproveWords, WhatMakesNoSenseIsRefused) {
  const std::vector<std::string> rows[] = {
      {"maybe"},        {"yes"},          {"yes", "a", "b"},     {"list", "a"}, {"yes", "--all"},
      {"list", "list"}, {"--watch", "a"}, {"--watch", "--json"}, {"show", "-x"}};
  for (const auto& words : rows) {
    const auto arguments = parsed(words);
    ASSERT_FALSE(arguments.ok()) << words[0];
    EXPECT_EQ(arguments.error().cause, Cause::usage);
  }
}

FiledQuestion filed() {
  return {.id = "abcdefgh",
          .question = {"sha256:one", "tool        run_shell\ncommand     make test\nin          /ws\n"},
          .workspace = "/ws\x1b[2J",
          .asked_ms = 1000,
          .expires_ms = 9000};
}

TEST(ApproveTexts, AQuestionInEachForm) {
  EXPECT_EQ(approvals_table({}, 0), "No question waits.\n");
  EXPECT_EQ(approvals_table({filed()}, 31'000),
            "abcdefgh   waiting   30 s     run_shell: make test\n"
            "See one whole with `cloche approve show ID`.\n");
  EXPECT_EQ(approval_text(filed(), 181'000),
            "question    abcdefgh, waiting, asked 3 min ago\n"
            "workspace   /ws\\x1b[2J\n"
            "tool        run_shell\ncommand     make test\nin          /ws\n");
  EXPECT_EQ(approvals_json({filed()}),
            R"({"questions":[{"id":"abcdefgh","state":"waiting","digest":"sha256:one","approver":"any",)"
            R"("workspace":"/ws\u001b[2J","asked_ms":1000,"expires_ms":9000,)"
            R"("text":"tool        run_shell\ncommand     make test\nin          /ws\n"}]})");
}

TEST(ApproveTexts, ALongCommandIsCutInTheListAndWholeWhenShown) {
  FiledQuestion one = filed();
  one.question.text = "tool        run_shell\ncommand     " + std::string(200, 'x') + "\n";
  one.answer = Decision::allow;
  const std::string table = approvals_table({one}, 1000);
  EXPECT_NE(table.find("approved"), std::string::npos);
  EXPECT_NE(table.find("xxx...\n"), std::string::npos);
  EXPECT_NE(approval_text(one, 1000).find(std::string(200, 'x')), std::string::npos);
}

}  // namespace
}  // namespace cloche
