#include "doors/hook/agent_environment.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

std::vector<std::string> taken(std::vector<std::string> variables, std::vector<std::string> words) {
  std::vector<char*> block;
  for (auto& text : variables) block.push_back(text.data());
  block.push_back(nullptr);
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  AgentEnvironment environment(block.data(), argv);
  std::vector<std::string> texts;
  for (char** at = environment.block(); *at != nullptr; ++at) texts.emplace_back(*at);
  return texts;
}

bool starts(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  return is_agents_start(argv);
}

using Texts = std::vector<std::string>;

TEST(AgentEnvironment, HasNothingThatMovesTheOperatorsPlaces) {
  const Texts agents = {"HOME=/evil",
                        "XDG_CONFIG_HOME=/evil",
                        "XDG_STATE_HOME=/evil",
                        "LD_PRELOAD=/evil.so",
                        "GLIBC_TUNABLES=x",
                        "TMPDIR=/evil",
                        "GIT_CONFIG_GLOBAL=/e",
                        "CARGO_HOME=/evil",
                        "CLOCHE_UID_RANGE=1",
                        "PATHOLOGY=x",
                        "PATH",
                        "PATH=/bin",
                        "CLOCHE_SANDBOX=off",
                        "TERM=dumb"};
  EXPECT_EQ(taken(agents, {"cloche", "hook"}), (Texts{"PATH=/bin", "CLOCHE_SANDBOX=off", "TERM=dumb"}));
}

TEST(AgentEnvironment, TakesPlacesFromTheInstalledLine) {
  EXPECT_EQ(taken({"HOME=/evil"}, {"cloche", "hook", "--home", "/h", "--workspace", "/w", "--state-home=/s",
                                   "--config-home", "/c", "--uid-range", "70000:5"}),
            (Texts{"HOME=/h", "XDG_STATE_HOME=/s", "XDG_CONFIG_HOME=/c", "CLOCHE_UID_RANGE=70000:5"}));
  EXPECT_EQ(taken({}, {"cloche", "hook", "--home"}), Texts{}) << "read_options() refuses it";
}

TEST(AgentEnvironment, IsForJudgementsAndFiledCommands) {
  for (const Texts& words : {Texts{"cloche", "hook"}, Texts{"cloche", "hook", "--home", "/h"},
                             Texts{"cloche", "run", "--call", "x"}, Texts{"cloche", "run", "--call=x"},
                             Texts{"cloche", "run", "--home", "/h", "--call", "x"},
                             Texts{"cloche", "mcp", "--workspace", ".", "--home", "/h"}})
    EXPECT_TRUE(starts(words)) << words.back();
  for (const Texts& words : {Texts{"cloche"}, Texts{"cloche", "hook", "--install", "claude"},
                             Texts{"cloche", "run"}, Texts{"cloche", "run", "--", "x", "--call"},
                             Texts{"cloche", "call", "x"}, Texts{"cloche", "mcp", "--workspace", "."}})
    EXPECT_FALSE(starts(words)) << words.back();
}

TEST(AgentEnvironment, WritesDownOnlyWhatIsNotTheAccounts) {
  const auto flags = [](Texts variables, const std::string& account) {
    std::vector<char*> block;
    for (auto& text : variables) block.push_back(text.data());
    block.push_back(nullptr);
    return flags_of_places(Environment(block.data(), account));
  };
  EXPECT_EQ(flags({"HOME=/h"}, "/h"), Texts{});
  EXPECT_EQ(flags({}, "/h"), Texts{});
  EXPECT_EQ(flags({"HOME=/h", "XDG_CONFIG_HOME=/h/.config", "XDG_STATE_HOME=/h/.local/state"}, "/h"),
            Texts{});
  EXPECT_EQ(flags({"HOME=/x", "XDG_STATE_HOME=/s", "CLOCHE_UID_RANGE=70000:5"}, "/h"),
            (Texts{"--home", "/x", "--state-home", "/s", "--uid-range", "70000:5"}));
}

}  // namespace
}  // namespace cloche
