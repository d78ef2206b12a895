// What is protected, in every spelling that some file system takes for the same name.
#include "policy/protected.hpp"

#include <gtest/gtest.h>

#include "base/sys.hpp"

namespace cloche {
namespace {

using Scope = ProtectedEntry::Scope;

const ProtectedSet& shipped() {
  static const ProtectedSet entries = [] {
    const auto text = sys::read_file(CLOCHE_SOURCE_DIR "/share/protected.json");
    EXPECT_TRUE(text.ok());
    auto read = read_protected(text.value(), "share/protected.json");
    EXPECT_TRUE(read.ok()) << (read.ok() ? "" : read.error().what.text());
    return read.ok() ? std::move(read).value() : ProtectedSet{};
  }();
  return entries;
}

// By which entry; "": it is free.
std::string by(std::string_view path, Scope asked_by = Scope::file_tools) {
  const ProtectedEntry* entry = find_protected(shipped(), path, asked_by);
  return entry == nullptr ? "" : entry->path;
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

TEST(Protected, ProgramsMayWriteWhereOnlyTheFileToolsMayNot) {
  EXPECT_EQ(by(".git/index", Scope::every_write), "") << "git commit works";
  EXPECT_EQ(by(".git/HEAD", Scope::every_write), "");
  EXPECT_EQ(by(".git/hooks/x", Scope::every_write), ".git/hooks");
  EXPECT_EQ(by(".git/config", Scope::every_write), ".git/config");
}

TEST(Protected, WhatIsClochesOwn) {
  for (const std::string_view path : {"tool_calls", "tool_calls/T-1.jsonl", "Tool_Calls/x", "./tool_calls/x",
                                      "tool_calls./x", ".cloche/config.json", "sub/.cloche", ".CLOCHE"})
    EXPECT_TRUE(is_cloches_own(path)) << path;
  for (const std::string_view path :
       {"", "src/tool_calls/x", "tool_calls2", "tool_call", ".cloches", "cloche"})
    EXPECT_FALSE(is_cloches_own(path)) << path;
}

TEST(Protected, ABadFileIsRefusedWithItsLine) {
  const auto one = [](const std::string& entry) { return "{\"protected\": [\n" + entry + "]}"; };
  const std::pair<std::string, std::string> rows[] = {
      {"", "f"},
      {"{}", "protected is not a list"},
      {R"({"protected": []})", "protected is not a list"},
      {R"({"protect": []})", "unknown key"},
      {one("1"), "f:2: an object"},
      {one(R"({"path": "a", "reason": "b", "match": ["a"]})"), "f:2: not_match is not"},
      {one(R"({"path": "a", "reason": "b", "not_match": ["b"]})"), "f:2: match is not"},
      {one(R"({"path": "a", "match": ["a"], "not_match": ["b"]})"), "f:2: reason is not"},
      {one(R"({"path": "", "reason": "b", "match": ["a"], "not_match": ["b"]})"), "f:2: path is not"},
      {one(R"({"path": "/a", "reason": "b", "match": ["a"], "not_match": ["b"]})"), "f:2: path is not"},
      {one(R"({"path": "**/a", "reason": "b", "match": ["a"], "not_match": ["b"]})"), "f:2: path is not"},
      {one(R"({"path": "a", "reason": "b", "match": ["b"], "not_match": ["c"]})"), "a does not match b"},
      {one(R"({"path": "a", "reason": "b", "match": ["a"], "not_match": ["x/a/y"]})"), "a matches x/a/y"},
      {one(R"({"path": "a", "reason": "b", "scope": "all", "match": ["a"], "not_match": ["b"]})"),
       "scope is not"},
      {one(R"({"path": "a", "why": "b", "match": ["a"], "not_match": ["b"]})"), "unknown key"},
  };
  for (const auto& [text, complaint] : rows) {
    const auto read = read_protected(text, "f");
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_NE(read.error().what.text().find(complaint), std::string::npos)
        << text << ": " << read.error().what;
  }
}

}  // namespace
}  // namespace cloche
