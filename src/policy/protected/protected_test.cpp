// What is protected, in every spelling that some file system takes for the same name.
#include "policy/protected/protected.hpp"

#include <gtest/gtest.h>

#include "base/json/json_text.hpp"
#include "base/sys/sys.hpp"

namespace cloche {
namespace {

// By which row; "": it is free.
std::string by(std::string_view path) {
  const ProtectedName* row = find_protected(path);
  return row == nullptr ? "" : std::string(row->path);
}

TEST(Protected, TheShippedSet) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {".git/hooks/pre-commit", ".git/hooks"},
      {"vendor/lib/.git/hooks/post-checkout", ".git/hooks"},
      {".git/config", ".git/config"},
      {".git/modules/a/b/config", ".git/modules/**/config"},
      {".git", ".git"},
      {".git/HEAD", ".git"},
      {".gitmodules", ".gitmodules"},
      {"home/.bashrc", ".bashrc"},
      {".envrc", ".envrc"},
      {".mcp.json", ".mcp.json"},
      {".vscode/tasks.json", ".vscode"},
      {"a/b/.idea/x", ".idea"},
      {".cloche/config.json", ".cloche"},
      {".github/workflows/ci.yml", ""},
      {".gitattributes", ""},
      {".gitignore", ""},
      {".env", ""},
      {"src/main.cpp", ""},
      {"git/hooks/x", ""},
      {"hooks/pre-commit", ""},
      {"", ""},
      {"...", ""},
  };
  for (const auto& [path, entry] : rows) EXPECT_EQ(by(path), entry) << path;
}

TEST(Protected, SpellingsThatMeanTheSameSomewhere) {
  for (const std::string_view path :
       {".GIT/hooks/x",                     // no case
        ".git./hooks/x", ".git /hooks/x",   // Windows drops these
        ".git . ./hooks/x",                 //
        ".git::$INDEX_ALLOCATION/hooks/x",  // the same directory by its stream
        ".git\\hooks\\x",                   // its separator
        "GIT~1/hooks/x",                    // its short name
        ".g\u200cit/hooks/x",               // what HFS+ ignores
        "\ufeff.git/hooks/x",               //
        ".gi\u2060t/hooks/x",               // what a case-folding ext4 ignores
        "./.git//hooks/./x",                // the same to everybody
        ".ba\u017fhrc", ".\u00dfh/config", ".pro\ufb01le", ".bash_pro\ufb01le", ".\u212ashrc"})
    EXPECT_NE(by(path), "") << path;
}

TEST(Protected, LookAlikesOfOtherLettersAreOtherNames) {
  for (const std::string_view path :
       {".g\u0456t/hooks/x" /* Cyrillic i */, "\uff0egit/hooks" /* fullwidth dot */, ".git\u00e9/hooks",
        "a.git/hooks", ".git-old/hooks", "\xff.git/hooks"})
    EXPECT_EQ(by(path), "") << path;
}

// The build made the table from this file: each row is found by its examples, with its reason and its line.
TEST(Protected, EveryExampleOfTheSourceHolds) {
  const auto text = sys::read_file(CLOCHE_SOURCE_DIR "/share/protected.json");
  ASSERT_TRUE(text.ok());
  const auto root = read_json(text.value(), "share/protected.json");
  ASSERT_TRUE(root.ok());
  const auto examples = [](const JsonValue& item, const char* key) {
    const JsonValue* list = item.find(key);
    EXPECT_TRUE(list != nullptr && !list->items.empty()) << "line " << item.line << ": no " << key;
    std::vector<std::string> paths;
    if (list != nullptr)
      for (const auto& path : list->items) paths.push_back(path.text);
    return paths;
  };
  for (const auto& item : root.value().find("protected")->items) {
    for (const auto& path : examples(item, "match")) {
      const ProtectedName* row = find_protected(path);
      ASSERT_NE(row, nullptr) << path;
      EXPECT_EQ(row->line, item.line) << path;
      EXPECT_EQ(row->reason, item.find("reason")->text) << path;
    }
    for (const auto& path : examples(item, "not_match")) {
      const ProtectedName* row = find_protected(path);
      EXPECT_TRUE(row == nullptr || row->line != item.line) << path;
    }
  }
}

TEST(Protected, APartAndWhatIsBeneathIt) {
  const std::vector<ProtectedPart> parts = {{"tools/bin", "r"}};
  for (const char* path : {"tools/bin", "tools/bin/x", "./tools//bin/x", "tools/BIN/x", "tools\\bin"})
    EXPECT_NE(find_part(parts, path), nullptr) << path;
  for (const char* path : {"tools", "tools/binary", "bin", "a/tools/bin", ""})
    EXPECT_EQ(find_part(parts, path), nullptr) << path;
}

TEST(Protected, WhatIsClochesOwn) {
  for (const std::string_view path : {"tool_calls", "tool_calls/T-1.jsonl", "Tool_Calls/x", "./tool_calls/x",
                                      "tool_calls./x", ".cloche/config.json", "sub/.cloche", ".CLOCHE"})
    EXPECT_TRUE(is_cloches_own(path)) << path;
  for (const std::string_view path :
       {"", "src/tool_calls/x", "tool_calls2", "tool_call", ".cloches", "cloche"})
    EXPECT_FALSE(is_cloches_own(path)) << path;
}

}  // namespace
}  // namespace cloche
