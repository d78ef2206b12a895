// Names are matched one by one, on the way down a tree.
#include "policy/protected/protected_names.hpp"

#include <gtest/gtest.h>

#include "base/sys/path.hpp"

namespace cloche {
namespace {

// The row that a path comes to, name by name; "": it is free.
std::string by(std::string_view path) {
  NameMatch match;
  for (const auto& name : components_of(path)) {
    match = match_name(match.trail, name);
    if (match.member != nullptr) return std::string(match.member->path);
  }
  return "";
}

TEST(ProtectedNames, AreFoundOnTheWayDown) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {".envrc", ".envrc"},
      {"a/b/.ENVRC", ".envrc"},
      {"a/.vscode/tasks.json", ".vscode"},
      {".config/fish/config.fish", ".config/fish"},
      {".config/other", ""},
      {".config/config/git", ""},
      {"git/.config/git", ".config/git"},
      {".yarn/cache/x", ""},
      {".yarn/releases/x", ".yarn/releases"},
      {"My.Code-Workspace", "*.code-workspace"},
      {"a:b.code-workspace", "*.code-workspace"},
      {"A:b.Code-\u200bworkspace", "*.code-workspace"},
      {"a.code-workspace:x", "*.code-workspace"},
      {"mise.a:b.toml", "mise.*.toml"},
      {"a\\b:c.sublime-project", "*.sublime-project"},
      {"a:b.toml", ""},
      {"gitmod~2", "gitmod~?"},
      {"gitmod~22", ""},
      {".envrc.", ".envrc"},
      {".en\u200cvrc", ".envrc"},
      {".config\\fish", ".config/fish"},
      {".Config\\x\\fish", ""},
      {"envrc", ""},
      {".git", ""},
      {"code-workspace", ""},
  };
  for (const auto& [path, wanted] : rows) EXPECT_EQ(by(path), wanted) << path;
}

}  // namespace
}  // namespace cloche
