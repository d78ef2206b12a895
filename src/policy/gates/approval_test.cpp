// What an answer is bound to, how long it counts, and what a person is shown.
#include "policy/gates/approval.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "base/text/sha256.hpp"

namespace cloche {
namespace {

using namespace std::string_literals;

ApprovalSubject subject() {
  ApprovalSubject one{.tool = "run_shell"};
  one.plan.argv = {"python3", "build.py", "a b"};
  one.plan.directory = "/project";
  one.plan.environment = {{"LANG", "C.UTF-8"}};
  one.plan.view.push_back({.kind = EntryKind::tree, .access = Access::write_run, .target = "/project"});
  one.files = {{"/project/build.py", sha256("print(1)")}};
  one.reasons = {"a rule says ask for run_shell"};
  return one;
}

TEST(Approval, TheQuestionShowsThePlan) {
  const Question question = std::get<Question>(make_question(subject()));
  EXPECT_EQ(question.digest, approval_digest(subject()));
  EXPECT_EQ(question.text,
            "tool        run_shell\n"
            "command     python3 build.py 'a b'\n"
            "in          /project\n"
            "may write   /project\n"
            "network     none\n"
            "variables   LANG=C.UTF-8\n"
            "isolation   namespace, at most 1h and 4G\n"
            "runs        /project/build.py (sha256 " +
                sha256("print(1)").substr(0, 16) +
                ")\n"
                "asked since a rule says ask for run_shell\n"
                "What these files import or call is not covered by your answer.\n");
}

TEST(Approval, TheQuestionNamesASecretAndItsDigestTellsItsValue) {
  auto one = subject();
  one.plan.secrets = {{"TOKEN", "hunter2", "f1"}};
  const Question question = std::get<Question>(make_question(one));
  EXPECT_NE(question.text.find("variables   LANG=C.UTF-8, TOKEN (secret)\n"), std::string::npos);
  EXPECT_EQ(question.text.find("hunter2"), std::string::npos);
  EXPECT_NE(approval_digest(one), approval_digest(subject()));
  auto changed = one;
  changed.plan.secrets[0].fingerprint = "f2";
  EXPECT_NE(approval_digest(changed), approval_digest(one)) << "another value is another question";
}

TEST(Approval, WhatTheAgentDoesItselfIsCalledThat) {
  ApprovalSubject one{.tool = "mcp__a__b", .input = R"({"x":1})", .reasons = {"why"}, .by_agent = true};
  one.plan.directory = "/project";
  const Question question = std::get<Question>(make_question(one));
  EXPECT_EQ(question.text,
            "tool        mcp__a__b\n"
            "command     none: the agent does it itself, and nothing confines it\n"
            "input       {\"x\":1}\n"
            "in          /project\n"
            "asked since why\n");
  ApprovalSubject elsewhere = one;
  elsewhere.session = "s-2";
  EXPECT_NE(approval_digest(elsewhere), question.digest) << "another session's is another question";
  one.by_agent = false;
  EXPECT_NE(approval_digest(one), question.digest);
}

TEST(Approval, AScriptIsShownWithWhatItReads) {
  ApprovalSubject one = subject();
  one.input = "sed x | sh";
  one.script_input = "rm -rf .\n";
  const Question question = std::get<Question>(make_question(one));
  EXPECT_NE(question.text.find("input       sed x | sh\nstdin       rm -rf .\\n\n"), std::string::npos)
      << question.text;
  std::swap(one.input, one.script_input);
  EXPECT_NE(approval_digest(one), question.digest) << "which of the two is the code decides";
  one.input = "sed x | shrm -rf .\n";
  one.script_input.clear();
  EXPECT_NE(approval_digest(one), question.digest) << "two texts do not run together";
}

TEST(Approval, NothingButPrintableAsciiIsShown) {
  const std::pair<std::string, const char*> rows[] = {
      {"plain text", "plain text"},
      {"a\nb\tc", "a\\nb\\tc"},
      {"back\\slash", "back\\\\slash"},
      {"\x1b[2J\r\a\0"s, "\\x1b[2J\\x0d\\x07\\x00"},
      {"\x7f", "\\x7f"},
      {"gr\xc3\xbc\xc3\x9f", "gr\\u{fc}\\u{df}"},
      {"\xc2\x9b", "\\u{9b}"},  // CSI in one character
      {"\xe2\x80\xae"
       "gpj",
       "\\u{202e}gpj"},                // right-to-left override
      {"\xe2\x80\x8b", "\\u{200b}"},   // zero width
      {"\xd1\x95udo", "\\u{455}udo"},  // a Cyrillic look-alike
      {"\xf0\x9f\xab\x99", "\\u{1fad9}"},
      {"\xff\xc3", "\\xff\\xc3"},
  };
  for (const auto& [text, shown] : rows) EXPECT_EQ(escape_for_person(text), shown);
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes;
    for (size_t left = random() % 20; left > 0; --left) bytes += static_cast<char>(random());
    auto one = subject();
    one.plan.argv = {bytes, bytes};
    one.reasons = {bytes};
    one.tool = bytes;
    one.plan.directory = bytes;
    one.files[0].path = bytes;
    one.plan.environment = {{bytes, bytes}};
    const Question question = std::get<Question>(make_question(one));
    for (char c : question.text) EXPECT_TRUE(c == '\n' || (c >= 0x20 && c < 0x7f));
    EXPECT_EQ(std::count(question.text.begin(), question.text.end(), '\n'), 10)
        << "a line that the plan brings along could pose as ours";
  }
}

TEST(Approval, OneWordDoesNotPoseAsTwo) {
  const auto command_of = [](std::vector<std::string> argv) {
    auto one = subject();
    one.plan.argv = std::move(argv);
    const std::string text = std::get<Question>(make_question(one)).text;
    const size_t from = text.find("command     ") + 12;
    return text.substr(from, text.find('\n', from) - from);
  };
  EXPECT_EQ(command_of({"rm", "a' 'b"}), "rm 'a\\x27 \\x27b'");
  EXPECT_EQ(command_of({"rm", "a", "b"}), "rm a b");
  EXPECT_EQ(command_of({"rm", ""}), "rm ''");
  EXPECT_NE(command_of({"rm", "\\x27"}), command_of({"rm", "'"}));
}

TEST(Approval, WhatCannotBeShownWholeIsNotAsked) {
  const std::function<void(ApprovalSubject&)> changes[] = {
      [](auto& s) { s.plan.argv.push_back(std::string(20'000, 'x')); },
      [](auto& s) { s.input = std::string(5000, '\x01'); },
      [](auto& s) { s.script_input = std::string(5000, '\x01'); },
      [](auto& s) {
        s.plan.environment.assign(1000, {"NAME", std::string(20, 'v')});
      },
      [](auto& s) { s.plan.hosts.assign(1000, std::string(20, 'h')); },
      [](auto& s) {
        s.plan.view.append(std::vector(1000, s.plan.view[0]));
        s.plan.directory.assign(10'000, 'd');
      },
      [](auto& s) { s.files.assign(1000, s.files[0]); },
      [](auto& s) { s.files[0].sha256 = ""; },  // it could not be read
      [](auto& s) { s.files[0].sha256 = std::string(64, 'G'); },
  };
  for (size_t i = 0; i < std::size(changes); ++i) {
    auto one = subject();
    changes[i](one);
    EXPECT_TRUE(std::holds_alternative<Verdict>(make_question(one))) << "change " << i;
  }
  auto talkative = subject();
  talkative.reasons.assign(1000, std::string(1000, 'r'));
  ASSERT_TRUE(std::holds_alternative<Question>(make_question(talkative)))
      << "reasons are cut: they do nothing";
  EXPECT_LT(std::get<Question>(make_question(talkative)).text.size(), 4000U);
}

TEST(Approval, TheDigestCoversEverythingThatDecides) {
  const std::string before = approval_digest(subject());
  const std::function<void(ApprovalSubject&)> changes[] = {
      [](auto& s) { s.tool = "run_python"; },
      [](auto& s) { s.plan.argv[2] = "a  b"; },
      [](auto& s) {
        s.plan.argv = {"python3", "build.py", "a", "b"};
      },
      [](auto& s) { s.plan.directory = "/project/sub"; },
      [](auto& s) { s.plan.environment[0].value = "C"; },
      [](auto& s) {
        s.plan.environment.push_back({"LD_PRELOAD", "/project/x.so"});
      },
      [](auto& s) { s.plan.view[0].access = Access::write; },
      [](auto& s) { s.plan.hosts = {"example.org"}; },
      [](auto& s) { s.plan.limits.wall_ms += 1; },
      [](auto& s) { s.plan.level = IsolationLevel::subprocess; },
      [](auto& s) { s.input = "x"; },
      [](auto& s) { s.script_input = "x"; },
      [](auto& s) { s.files[0].sha256 = sha256("print(2)"); },
      [](auto& s) { s.files[0].path = "/project/other.py"; },
      [](auto& s) { s.files.clear(); },
      [](auto& s) {
        s.files.push_back({"/project/b.py", sha256("")});
      },
  };
  for (size_t i = 0; i < std::size(changes); ++i) {
    auto changed = subject();
    changes[i](changed);
    EXPECT_NE(approval_digest(changed), before) << "change " << i;
  }
  auto same = subject();
  same.reasons.clear();
  EXPECT_EQ(approval_digest(same), before) << "why it is asked changes nothing that happens";
  same.files.push_back({"/project/a.py", sha256("")});
  auto other_order = same;
  std::swap(other_order.files[0], other_order.files[1]);
  EXPECT_EQ(approval_digest(same), approval_digest(other_order));
}

struct AnswersRow {
  const char* what;
  std::vector<Answer> answers;
  bool approved;
};

TEST(Approval, WhichAnswersAreAYes) {
  const uint64_t now = 1000;
  const Answer yes{"d", Decision::allow, 2000, 1};
  const AnswersRow rows[] = {
      {"no approver has answered", {}, false},
      {"a yes", {yes}, true},
      {"a yes to another plan", {{"e", Decision::allow, 2000, 1}}, false},
      {"a yes without a digest", {{"", Decision::allow, 2000, 1}}, false},
      {"expired", {{"d", Decision::allow, 1000, 1}}, false},
      {"used up", {{"d", Decision::allow, 2000, 0}}, false},
      {"a no", {{"d", Decision::deny, 2000, 1}}, false},
      {"a yes and a no", {yes, {"d", Decision::deny, 2000, 1}}, false},
      {"a no and a yes", {{"d", Decision::deny, 2000, 1}, yes}, false},
      {"ask is no answer", {{"d", Decision::ask, 2000, 1}, yes}, false},
      {"an empty answer", {Answer{}}, false},
  };
  for (const auto& row : rows) {
    ApprovalBook book;
    for (const auto& answer : row.answers) book.add(answer);
    EXPECT_EQ(book.approves("d", now), row.approved) << row.what;
    EXPECT_FALSE(book.approves("", now)) << row.what;
  }
}

TEST(Approval, OnceIsOnceAndASessionEnds) {
  const Question question{"d", ""};
  ApprovalBook book;
  EXPECT_FALSE(book.spend("d", 0));
  book.add(make_answer(question, Reply::once, 0));
  EXPECT_FALSE(book.spend("e", 0));
  EXPECT_TRUE(book.spend("d", 59'999));
  EXPECT_FALSE(book.spend("d", 59'999));
  book.add(make_answer(question, Reply::once, 0));
  EXPECT_FALSE(book.spend("d", 60'000)) << "expired";

  book = {};
  book.add(make_answer(question, Reply::session, 0, {.session_ms = 100, .session_uses = 3}));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(book.spend("d", 99));
  EXPECT_FALSE(book.spend("d", 99));

  book.add(make_answer(question, Reply::session, 0));
  book.add(make_answer(question, Reply::no, 0));
  EXPECT_FALSE(book.spend("d", 1)) << "a no counts before every yes";
}

TEST(Approval, TheBookIsBounded) {
  ApprovalBook book;
  for (int i = 0; i < 3000; ++i) book.add(make_answer({std::to_string(i), ""}, Reply::session, 0));
  EXPECT_TRUE(book.spend("2999", 1));
  EXPECT_TRUE(book.spend("2000", 1));
  EXPECT_FALSE(book.spend("1999", 1)) << "forgotten is asked again";
}

}  // namespace
}  // namespace cloche
