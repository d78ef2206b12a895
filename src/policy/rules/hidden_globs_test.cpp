#include "policy/rules/hidden_globs.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

using Search = HiddenGlobs::Search;

HiddenGlobs globs(const std::vector<std::string>& patterns) {
  auto read = HiddenGlobs::read(patterns);
  EXPECT_TRUE(read.ok());
  return read.ok() ? std::move(read).value() : HiddenGlobs();
}

TEST(HiddenGlobs, HideWhatTheyMatchAndWhatLiesInIt) {
  const struct {
    const char* pattern;
    const char* path;
    bool hidden;
  } rows[] = {
      {".env", ".env", true},
      {".env", "sub/.env", false},
      {".env", ".env.local", false},
      {".env*", ".env.local", true},
      {".ENV", ".env", true},
      {".env", ".eNv", true},
      {".env", ".e\u200bnv", true},  // what a case-folding file system passes over
      {".env", ".env.", true},
      {"config/*.key", "config/prod:eu.key", true},
      {"config/*.KEY", "config/We:ird.Key", true},
      {"config/*.key", "config/x.key:stream", true},
      {"config/*.key", "config/x.key. ", true},
      {"config/*.key", "config/a:b.k\u200bey", true},
      {"config/*.key", "config/a:b.pub", false},
      {"config/prod:eu.key", "config/prod:eu.key", true},
      {"id_rsa.*", "id_rsa.", true},
      {"id_rsa.*", "id_rsa. ", true},
      {"id_rsa.*", "id_rsa.\u200b", true},
      {"id_rsa.*", "id_rsa", false},
      {"a???b", "a\u200bb", true},
      {"*.d", "a:b.d/x", true},
      {"{.env,.npmrc}", ".npmrc", true},
      {"**/.env", ".env", true},
      {"**/.env", "a/b/.env", true},
      {"**/.env", "a/.env/b", true},
      {"secrets", "secrets/key", true},
      {"secrets/", "secrets/key", true},
      {"./.env", ".env", true},
      {"secrets/**", "secrets/a/b", true},
      {"secrets", "secrets2/key", false},
      {"config/*.key", "config/a.key", true},
      {"config/*.key", "config/a/b.key", false},
      {"config/**/x", "config/x", true},
      {"config/**/x", "config/a/b/x", true},
      {"config/**/x", "other/x", false},
      {"**", "anything", true},
      {".env", "", false},
  };
  for (const auto& row : rows)
    EXPECT_EQ(globs({row.pattern}).hides(row.path), row.hidden) << row.pattern << " " << row.path;
}

TEST(HiddenGlobs, SayWhereToSearch) {
  const struct {
    const char* pattern;
    const char* directory;
    Search search;
  } rows[] = {
      {".env", "", Search::across_links},       {".env", "src", Search::none},
      {"a/b/c", "a", Search::across_links},     {"a/b/c", "a/b", Search::across_links},
      {"a/b/c", "a/c", Search::none},           {"**/.env", "", Search::across_links},
      {"**/.env", "any/where", Search::inside}, {"a/**/x", "a", Search::across_links},
      {"a/**/x", "a/b", Search::inside},        {"a/**/x", "b", Search::none},
  };
  for (const auto& row : rows)
    EXPECT_EQ(globs({row.pattern}).search(row.directory), row.search) << row.pattern << " " << row.directory;
}

TEST(HiddenGlobs, AreRefusedWhereTheyMeanNoPathBelowATree) {
  for (const char* pattern : {"", "/", "/etc/passwd", "../x", "a/../b", "a\nb", "{a,b"})
    EXPECT_FALSE(HiddenGlobs::read({pattern}).ok()) << pattern;
}

TEST(HiddenPaths, AreThoseThatAPatternLedToAsWell) {
  const auto paths = HiddenPaths::read({{"config/key"}, {{.path = "/w/real/key"}}});
  ASSERT_TRUE(paths.ok());
  EXPECT_TRUE(paths.value().hides("/w", "config/key"));
  EXPECT_TRUE(paths.value().hides("/w", "real/key"));
  EXPECT_TRUE(paths.value().hides("/w/real", "key"));
  EXPECT_FALSE(paths.value().hides("/w", "real/other"));
}

}  // namespace
}  // namespace cloche
