#include "doors/hook/hook_front.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "base/scratch.hpp"

namespace cloche {
namespace {

class HookFront : public testing::Test {
 protected:
  void SetUp() override { ::sigprocmask(SIG_SETMASK, nullptr, &before_); }
  void TearDown() override { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

  struct Said {
    int code;
    std::string out;
    std::string err;
  };
  // With a judge that is a shell script.
  Said ask(const std::string& judge, std::vector<std::string> flags = {}) {
    std::ofstream(program_) << "#!/bin/sh\n" << judge << "\n";
    std::filesystem::permissions(program_, std::filesystem::perms::owner_all);
    return ask_program(std::move(flags));
  }
  Said ask_program(std::vector<std::string> flags = {}) {
    flags.insert(flags.begin(), {"cloche", "hook"});
    std::vector<char*> words;
    for (auto& word : flags) words.push_back(word.data());
    char* none[] = {nullptr};
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int code = hook_front(program_, words, none);
    const std::string out = testing::internal::GetCapturedStdout();
    return {code, out, testing::internal::GetCapturedStderr()};
  }

  Scratch scratch_;
  std::string program_ = scratch_.path + "/judge";
  sigset_t before_{};
};

TEST_F(HookFront, PassesAWholeAnswerOn) {
  const Said said = ask("echo '{\"a\": 1}'");
  EXPECT_EQ(said.code, 0);
  EXPECT_EQ(said.out, "{\"a\": 1}\n");
  EXPECT_EQ(said.err, "");
}

TEST_F(HookFront, StartsTheJudgeWithTheSameFlagsAndNothingElse) {
  const Said said = ask("echo \"{ $* $HOME }\"", {"--workspace", "/w"});
  EXPECT_EQ(said.out, "{ hook-judge --workspace /w  }\n");
}

TEST_F(HookFront, RefusesWhateverElseBecomesOfTheJudge) {
  for (const char* judge :
       {"exit 0", "exit 1", "exit 2", "exit 3", "echo", "echo '{'", "printf '{}'", "echo '{}'; echo '{}'",
        "echo '{}'; exit 1", "echo '{}'; kill -9 $$", "echo '{}'; kill -SEGV $$", "yes '{}'"}) {
    const Said said = ask(judge);
    EXPECT_EQ(said.code, 2) << judge;
    EXPECT_EQ(said.out, "") << judge;
    EXPECT_NE(said.err.find("so the call is refused"), std::string::npos) << judge << said.err;
  }
}

TEST_F(HookFront, RefusesAJudgeThatTakesTooLong) {
  const Said said = ask("exec sleep 60", {"--timeout", "1s"});
  EXPECT_EQ(said.code, 2);
  EXPECT_NE(said.err.find("in time"), std::string::npos) << said.err;
}

TEST_F(HookFront, RefusesWithoutAJudge) {
  EXPECT_EQ(ask_program().code, 2);
  std::ofstream(program_) << "not a program";
  EXPECT_EQ(ask_program().code, 2);
  std::filesystem::permissions(program_, std::filesystem::perms::owner_all);
  EXPECT_EQ(ask_program().code, 2);
}

}  // namespace
}  // namespace cloche
