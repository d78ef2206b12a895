#include "store/protected/git_places.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

TEST(GitSources, AreAllThatGitMayTake) {
  const auto found_with = [](std::vector<std::string> variables, const std::string& home) {
    std::vector<char*> block;
    for (auto& variable : variables) block.push_back(variable.data());
    block.push_back(nullptr);
    return find_git_sources(Environment(block.data()), home, "/state");
  };
  using Files = std::vector<std::string>;
  EXPECT_EQ(found_with({}, "").files, Files{"/etc/gitconfig"});
  EXPECT_EQ(found_with({}, "/h"),
            (GitSources{"/h", {"/etc/gitconfig", "/h/.config/git/config", "/h/.gitconfig"}, "/state"}));
  EXPECT_EQ(found_with({"GIT_CONFIG_SYSTEM=/s", "GIT_CONFIG_GLOBAL=/g", "XDG_CONFIG_HOME=/x"}, "/h").files,
            (Files{"/etc/gitconfig", "/s", "/g", "/x/git/config", "/h/.config/git/config", "/h/.gitconfig"}));
  EXPECT_EQ(found_with({"GIT_CONFIG_GLOBAL=", "XDG_CONFIG_HOME=x"}, "").files, Files{"/etc/gitconfig"});
}

}  // namespace
}  // namespace cloche
