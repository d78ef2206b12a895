#include "policy/protected/git_config_reader.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace cloche {
namespace {

struct Row {
  std::string text;
  std::vector<std::string> entries;  // KIND NAME=VALUE
  bool fails = false;
};

std::vector<std::string> entries_in(GitConfigReader& reader) {
  std::vector<std::string> entries;
  while (const auto entry = reader.next())
    entries.push_back(kind_of(*entry) + " " + entry->name + "=" + entry->value);
  return entries;
}

TEST(GitConfigReader, AsGitReadsIt) {
  const Row rows[] = {
      {"", {}},
      {"# a\n; b\n\n[core]\n", {}},
      {"[core]\n\thooksPath = hk\n", {"core.hookspath =hk"}},
      {"[core] hooksPath = hk\n", {"core.hookspath =hk"}},
      {"[core]hooksPath=hk[x]\n", {"core.hookspath =hk[x]"}},
      {"[CORE]\nHOOKSPATH=hk\r\nbare\r\n", {"core.hookspath =hk", "core.bare ="}},
      {"\xef\xbb\xbf[core] a = b", {"core.a =b"}},
      {"[core] a = b # c\n b = c ; d\n c = d#e\n", {"core.a =b", "core.b =c", "core.c =d"}},
      {"[core] a = \"b # c\" d\n", {"core.a =b # c d"}},
      {"[core] a = \" b \" \n", {"core.a = b "}},
      {"[core] a = b\\\n  c\n", {"core.a =b  c"}},
      {"[core] a = b\\\r\nc\n", {"core.a =bc"}},
      {"[core] a = \"b\\\nc\"\n", {"core.a =bc"}},
      {"[core] a = \\\"b\\\\\\t\\n\\b\n", {"core.a =\"b\\\t\n\b"}},
      {"[remote \"a b\"]\nurl = x\n", {"remote.*.url a b=x"}},
      {"[remote \t \"a\\\"\\\\\\b]\"] url = x\n", {"remote.*.url a\"\\b]=x"}},
      {"[Remote.Origin] url = x\n", {"remote.*.url origin=x"}},
      {"[remote \"\"] url = x\n", {"remote.*.url =x"}},
      {"[a]b=c\n[d]e=f\n", {"a.b =c", "d.e =f"}},
      {"[a] b = c\\", {"a.b =c"}},
      {"a = b\n[c]\nd = e\n", {".a =b", "c.d =e"}},
      // Where git gives up.
      {"[]\na = b\n", {}, true},
      {"[a\nb]\n", {}, true},
      {"[a b]\nc = d\n", {}, true},
      {"[a \"b]\nc = d\n", {}, true},
      {"[a \"b\" ]\nc = d\n", {}, true},
      {"[a]\nb = c\nd e\nf = g\n", {"a.b =c"}, true},
      {"[a]\nb = \"c\nd = e\n", {}, true},
      {"[a]\nb = c\\q\n", {}, true},
      {"[a]\n1b = c\n", {}, true},
      {"[a]\n=\n", {}, true},
  };
  for (const auto& row : rows) {
    GitConfigReader reader(row.text);
    EXPECT_EQ(entries_in(reader), row.entries) << row.text;
    EXPECT_EQ(reader.has_failed(), row.fails) << row.text;
  }
}

}  // namespace
}  // namespace cloche
