// The compiled-in set says what share/protected.json says, and names are matched one by one.
#include "policy/protected_names.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/path.hpp"
#include "base/sys.hpp"
#include "policy/folded_name.hpp"
#include "policy/protected.hpp"

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

TEST(ProtectedNames, AreThoseOfTheShippedFile) {
  const auto text = sys::read_file(CLOCHE_SOURCE_DIR "/share/protected.json");
  ASSERT_TRUE(text.ok());
  const auto shipped = read_protected(text.value(), "share/protected.json");
  ASSERT_TRUE(shipped.ok());
  std::map<std::string, std::string> wanted;
  for (const auto& entry : shipped.value()) {
    // Git directories have rules of their own, and programs write in .git.
    if (entry.scope != ProtectedEntry::Scope::every_write || entry.path.starts_with(".git/")) continue;
    std::string path;
    for (const auto& name : components_of(entry.path)) path += (path.empty() ? "" : "/") + folded_name(name);
    wanted[path] = entry.reason;
  }
  std::map<std::string, std::string> compiled;
  for (const auto& row : protected_names()) compiled[std::string(row.path)] = row.reason;
  EXPECT_EQ(compiled, wanted) << "write src/policy/protected_names.cpp again";
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
