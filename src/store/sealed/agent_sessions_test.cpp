// What is stored of an agent's session from one hook call to the next.
#include "store/sealed/agent_sessions.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace cloche {
namespace {

class AgentSessionsTest : public ::testing::Test {
 protected:
  AgentSessionsTest() {
    char name[] = "/tmp/cloche-sessions-XXXXXX";
    state_ = ::mkdtemp(name);
  }
  ~AgentSessionsTest() override { std::filesystem::remove_all(state_); }
  AgentSessions sessions() const { return AgentSessions::open(state_).value(); }

  std::string state_;
  const SessionKey one_{"claude", "s-1"};
};

TEST_F(AgentSessionsTest, TheFirstWorkspaceStays) {
  EXPECT_TRUE(sessions().fix_workspace(one_, "/a", 1).ok());
  EXPECT_TRUE(sessions().fix_workspace(one_, "/a", 2).ok());
  EXPECT_FALSE(sessions().fix_workspace(one_, "/a/b", 3).ok());
  EXPECT_FALSE(sessions().fix_workspace({"claude", "s-1", "sub"}, "/b", 3).ok()) << "its subagents too";
  EXPECT_TRUE(sessions().fix_workspace({"claude", "s-2"}, "/b", 3).ok());
  EXPECT_TRUE(sessions().fix_workspace({"codex", "s-1"}, "/b", 3).ok());
}

TEST_F(AgentSessionsTest, WhatWasForgedRefuses) {
  EXPECT_TRUE(sessions().fix_workspace(one_, "/a", 1).ok());
  for (const auto& entry : std::filesystem::directory_iterator(state_ + "/agent-sessions"))
    if (entry.path().extension() == ".session") std::ofstream(entry.path()) << "{}";
  EXPECT_FALSE(sessions().fix_workspace(one_, "/a", 2).ok());
}

TEST_F(AgentSessionsTest, TheNewestOfAnAgent) {
  EXPECT_FALSE(sessions().newest("claude"));
  EXPECT_TRUE(sessions().fix_workspace(one_, "/a", 5).ok());
  EXPECT_TRUE(sessions().fix_workspace({"claude", "s-2"}, "/b", 3).ok());
  EXPECT_EQ(sessions().newest("claude")->workspace, "/a");
  EXPECT_FALSE(sessions().newest("codex"));
}

TEST_F(AgentSessionsTest, EachAgentOfASessionHasItsDirectory) {
  const SessionKey sub{"claude", "s-1", "sub"};
  EXPECT_FALSE(sessions().directory(one_));
  EXPECT_TRUE(sessions().move(one_, {"/a", "/a/b"}).ok());
  EXPECT_EQ(sessions().directory(one_), (ShellDirectory{"/a", "/a/b"}));
  EXPECT_FALSE(sessions().directory(sub));
}

TEST_F(AgentSessionsTest, OverlappingCommandsKnowOfEachOther) {
  {
    const auto alone = ForegroundCall::begin(sessions(), one_);
    EXPECT_TRUE(alone.value().has_run_alone());
  }
  const auto first = ForegroundCall::begin(sessions(), one_);
  {
    const auto within = ForegroundCall::begin(sessions(), one_);
    EXPECT_FALSE(within.value().has_run_alone());
  }
  EXPECT_FALSE(first.value().has_run_alone()) << "the other has ended, but it was there";
  const auto other = ForegroundCall::begin(sessions(), {"claude", "s-2"});
  EXPECT_TRUE(other.value().has_run_alone());
}

}  // namespace
}  // namespace cloche
