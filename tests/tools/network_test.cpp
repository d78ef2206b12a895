// What autonomy asks about the network of a call, and the sentences that say whose network it is.
#include "tools/fixture.hpp"

namespace cloche::test {
namespace {

class CallNetwork : public Tools {
 protected:
  std::string explained(const Call& call, const Words& flags) const {
    Words words = {"explain", "call", call.tool, call.arguments};
    words.insert(words.end(), flags.begin(), flags.end());
    return cloche_words(words).out;
  }
};

const Call a_script = {"run_script", script("true")};
const Call a_command = {"run_shell", R"({"argv":["true"]})"};

// The promise is of every call that has a network, not of those alone whose skill declares it.
TEST_P(CallNetwork, SupervisedAsksWhoeverDeclaredTheHosts) {
  const Words given[] = {{"--net", "api.invalid", "--commands", "any"},
                         {"--net-any", "--commands", "any"},
                         {"--skill", skill("needs_network: [api.invalid]"), "--profile", "workspace-write",
                          "--commands", "any"}};
  for (const Words& flags : given) {
    for (const Call& one : {a_script, a_command}) {
      const Answer answer = call(one, flags);
      EXPECT_TRUE(refused_by(answer, "approval")) << one.tool << " " << flags.front();
      EXPECT_TRUE(contains(explained(one, flags), "asks before it uses the network: it may reach"))
          << one.tool << " " << flags.front();
    }
  }
}

TEST_P(CallNetwork, WhatHasNoneIsNotAskedAbout) {
  const Words network = {"--net-any", "--commands", "full"};
  EXPECT_TRUE(ended(call({"run_shell", R"({"argv":["ls"]})"}, network), "exited"));
  EXPECT_TRUE(ended(call({"run_python", code("pass")}, network), "exited"));
  EXPECT_TRUE(ended(call(a_script, {"--commands", "any"}), "exited"));
  EXPECT_TRUE(ended(call(a_script, {"--net-any", "--autonomy", "full"}), "exited"));
  const std::string own = skill("needs_network: [api.invalid]");
  EXPECT_TRUE(ended(
      call({"run_shell", R"({"argv":["ls"]})"}, {"--skill", own, "--profile", "workspace-write"}), "exited"))
      << "of a skill neither";
  EXPECT_EQ(cloche_words({"run", "--net-any", "--", "true"}).exit_code, 0) << "the operator's own command";
}

TEST_P(CallNetwork, AllowedToolsAnswerForTheirTools) {
  const std::string own =
      skill("needs_network: true\ncapabilities: ['code:exec']\nallowed-tools: run_script");
  const Words flags = {"--skill", own, "--net-any", "--commands", "any"};
  EXPECT_TRUE(ended(call(a_script, flags), "exited"));
  EXPECT_TRUE(refused_by(call(a_command, flags), "approval")) << "it names the other tool";
}

FOR_EVERYONE(CallNetwork);

}  // namespace
}  // namespace cloche::test
