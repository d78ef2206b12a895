// What an approval covers, and what becomes of the answers.
#include "gateway/approval/ask_approval.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "base/scratch.hpp"
#include "base/text/sha256.hpp"

namespace cloche {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

class FilesNamed : public testing::Test {
 protected:
  void put(const std::string& name, const std::string& text = "x") {
    fs::create_directories((fs::path(root) / name).parent_path());
    std::ofstream(root + "/" + name) << text;
  }
  Words named(const Words& words) const {
    Words names;
    for (const auto& file : files_named(words, {root}).files)
      names.push_back(file.path.substr(root.size() + 1) + (file.sha256.empty() ? " (no hash)" : ""));
    return names;
  }

  Scratch scratch;
  std::string root = scratch.path + "/ws";
};

// A link that leaves the workspace leads to the file that was hashed only where the view has what the host
// has.
TEST_F(FilesNamed, BehindALinkThatLeavesTheDirectory) {
  put("real.sh", "good");
  fs::create_directories(scratch.path + "/out");
  std::ofstream(scratch.path + "/out/far.sh") << "good";
  fs::create_symlink(root + "/real.sh", root + "/absolute.sh");
  fs::create_symlink(scratch.path + "/out/far.sh", root + "/far.sh");
  fs::create_directory_symlink(scratch.path + "/out", root + "/dir");
  fs::create_symlink("/nowhere/at/all", root + "/dangling.sh");
  const FilesOfView same{.on_host = {}, .is_same = [](const std::string&) { return true; }};
  const FilesOfView other{.on_host = {},
                          .is_same = [&](const std::string& path) { return path != scratch.path + "/out"; }};
  for (const char* name : {"absolute.sh", "far.sh", "dir/far.sh", "dangling.sh"}) {
    const auto unknown = files_named({name}, {root}).files;
    ASSERT_EQ(unknown.size(), 1U) << name;
    EXPECT_EQ(unknown[0].sha256, "") << name;
  }
  for (const char* name : {"absolute.sh", "far.sh", "dir/far.sh"}) {
    const auto known = files_named({name}, {root}, same).files;
    ASSERT_EQ(known.size(), 1U) << name;
    EXPECT_EQ(known[0].sha256, sha256("good")) << name;
    EXPECT_NE(known[0].path.find(" -> "), std::string::npos) << "the link is part of it: " << known[0].path;
  }
  EXPECT_EQ(files_named({"absolute.sh"}, {root}, other).files.at(0).sha256, sha256("good"));
  for (const char* name : {"far.sh", "dir/far.sh", "dangling.sh"})
    EXPECT_EQ(files_named({name}, {root}, other).files.at(0).sha256, "") << name;
}

// A grant that is shown within the workspace is what a command finds there.
TEST_F(FilesNamed, InAGrantThatIsShownWithin) {
  put("sub/x.sh", "the host's");
  fs::create_directories(scratch.path + "/granted");
  std::ofstream(scratch.path + "/granted/x.sh") << "granted";
  const FilesOfView view{.on_host = [&](const std::string& path) -> std::optional<ShownFile> {
                           if (path != root + "/sub/x.sh") return std::nullopt;
                           return ShownFile{scratch.path + "/granted", scratch.path + "/granted/x.sh"};
                         },
                         .is_same = {}};
  EXPECT_EQ(files_named({"sub/x.sh"}, {root}, view).files.at(0).sha256, sha256("granted"));
}

TEST_F(FilesNamed, EachSpellingOfAName) {
  for (const char* name : {"a.py", "p.awk", "M2", "q.js", "pk/__main__.py", "mod.py", "deep/mod/__init__.py"})
    put(name);
  const std::pair<Words, Words> rows[] = {
      {{"python3", "a.py"}, {"a.py"}},
      {{"python3", "./a.py", "a.py", root + "/a.py"}, {"a.py"}},
      {{"awk", "-fp.awk"}, {"p.awk"}},
      {{"make", "--file=M2"}, {"M2"}},
      {{"node", "--require=./q.js", "none.js"}, {"q.js"}},
      {{"python3", "pk"}, {"pk/__main__.py"}},
      {{"python3", "-m", "mod"}, {"mod.py"}},
      {{"python3", "-m", "deep.mod"}, {"deep/mod/__init__.py"}},
      {{"echo", std::string(5000, 'x'), std::string(300, 'y')}, {}},
      {{"ls", "/etc/passwd", "../x", "/", "", "."}, {}},
  };
  for (const auto& [words, expected] : rows) EXPECT_EQ(named(words), expected) << words.back();
}

TEST_F(FilesNamed, WhatLiesOutsideHasNoHash) {
  put("a");
  std::ofstream(scratch.path + "/secret") << "secret";
  fs::create_symlink(scratch.path + "/secret", root + "/out");
  fs::create_symlink("a", root + "/in");
  fs::create_symlink("loop", root + "/loop");
  ASSERT_EQ(::mkfifo((root + "/fifo").c_str(), 0600), 0);
  EXPECT_EQ(named({"out", "in", "loop", "fifo"}), (Words{"out (no hash)", "in"}));
}

TEST_F(FilesNamed, TooMuchHasNoHash) {
  put("a", "x");
  fs::resize_file(root + "/a", 100ULL << 20);
  EXPECT_EQ(named({"cat", "a", "a"}), (Words{"a (no hash)"}));
}

class Scripted : public Approver {
 public:
  explicit Scripted(Reply reply) : reply_(reply) {}
  Answer ask(const Question& question) override {
    ++asked;
    if (during) during();
    return make_answer(question, reply_, 0, {.once_ms = ~0ULL, .session_ms = ~0ULL});
  }
  int asked = 0;
  std::function<void()> during = {};

 private:
  Reply reply_;
};

ApprovalSubject subject(std::string input = "1") {
  ApprovalSubject made{.tool = "run_shell"};
  made.plan.argv = {"ls"};
  made.input = std::move(input);
  return made;
}

TEST(Questions, AYesCountsOnceAndForASessionAgain) {
  for (const auto& [reply, asked] : {std::pair{Reply::once, 2}, {Reply::session, 1}}) {
    Questions questions;
    Scripted approver(reply);
    EXPECT_FALSE(questions.ask([] { return subject(); }, approver));
    EXPECT_FALSE(questions.ask([] { return subject(); }, approver));
    EXPECT_EQ(approver.asked, asked);
  }
}

TEST(Questions, WhyNotIsSaidAsItWas) {
  Questions questions;
  Scripted no(Reply::no);
  const auto refused = questions.ask([] { return subject(); }, no);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->gate, GateId::approval);
  EXPECT_NE(refused->reason.text().find("did not say yes"), std::string::npos);
  std::string input = "1";
  Scripted yes(Reply::once);
  yes.during = [&] { input = "2"; };
  const auto changed = questions.ask([&] { return subject(input); }, yes);
  ASSERT_TRUE(changed);
  EXPECT_NE(changed->reason.text().find("changed while"), std::string::npos);
  ApprovalSubject unread = subject();
  unread.files = {{"/w/big", ""}};
  const auto unasked = questions.ask([&] { return unread; }, yes);
  ASSERT_TRUE(unasked);
  EXPECT_NE(unasked->reason.text().find("/w/big"), std::string::npos);
}

TEST(Questions, WhereTheOperatorMustAnswerNobodyElseIsAsked) {
  class Operators : public Scripted {
   public:
    using Scripted::Scripted;
    bool speaks_for_operator() const override { return true; }
  };
  ApprovalSubject one = subject();
  one.approvers = Approvers::operator_alone;
  Questions questions;
  Scripted client(Reply::session);
  EXPECT_TRUE(questions.ask([&] { return one; }, client));
  EXPECT_EQ(client.asked, 0);
  Operators operators(Reply::once);
  EXPECT_FALSE(questions.ask([&] { return one; }, operators));
  EXPECT_EQ(operators.asked, 1);
}

// A no is about one call. An approver who is asked again may have another answer.
TEST(Questions, EachQuestionHasItsOwnAnswer) {
  Questions questions;
  Scripted no(Reply::no);
  Scripted yes(Reply::once);
  for (int round = 0; round < 2; ++round) {
    EXPECT_TRUE(questions.ask([] { return subject(); }, no));
    EXPECT_FALSE(questions.ask([] { return subject(); }, yes));
  }
  EXPECT_EQ(no.asked, 2);
  EXPECT_EQ(yes.asked, 2);
}

TEST(Questions, AnApproverThatThrowsSaysNo) {
  Questions questions;
  Scripted broken(Reply::session);
  broken.during = [] { throw std::runtime_error("the dialog is gone"); };
  const auto refused = questions.ask([] { return subject(); }, broken);
  ASSERT_TRUE(refused);
  EXPECT_NE(refused->reason.text().find("failed instead of answering"), std::string::npos);
  broken.during = [] { throw 1; };
  EXPECT_TRUE(questions.ask([] { return subject(); }, broken));
  broken.during = nullptr;
  EXPECT_FALSE(questions.ask([] { return subject(); }, broken));
}

class WrongAnswer : public Approver {
 public:
  explicit WrongAnswer(Answer answer) : answer_(std::move(answer)) {}
  Answer ask(const Question&) override { return answer_; }

 private:
  Answer answer_;
};

TEST(Questions, AYesToSomethingElseIsNamedAsThat) {
  Questions questions;
  WrongAnswer other({"sha256:other", Decision::allow, ~0ULL, 1});
  const auto refused = questions.ask([] { return subject(); }, other);
  ASSERT_TRUE(refused);
  EXPECT_NE(refused->reason.text().find("to another question"), std::string::npos);
}

}  // namespace
}  // namespace cloche
