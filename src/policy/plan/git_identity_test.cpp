#include "policy/plan/git_identity.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

TEST(GitIdentity, AsGitReadsIt) {
  struct Row {
    std::string config;
    std::string name;
    std::string email;
  };
  const Row rows[] = {
      {"[user]\n\tname = Ada Lovelace\n\temail = ada@example.org\n", "Ada Lovelace", "ada@example.org"},
      {"[USER]\nNAME=Ada\r\nEmail =ada@example.org", "Ada", "ada@example.org"},
      {"\xef\xbb\xbf[user] name = Ada # not this\n", "Ada", ""},
      {"[user]\n\tname = \"Ada # Lovelace \" ; nor this\n", "Ada # Lovelace ", ""},
      {"[user]\n\tname = Ada \\\"the first\\\" \\\\ \\\n Lovelace  \n", "Ada \"the first\" \\  Lovelace", ""},
      {"[user]\n\tname = Ada\n[core]\n\tname = x\n[user]\n\temail = a@b\n", "Ada", "a@b"},
      {"[user]\n\tname = Ada\n\tname = Grace\n", "Grace", ""},
      {"[user \"work\"]\n\tname = Ada\n[user.work]\n\temail = a@b\n", "", ""},
      {"[include]\n\tpath = ~/other\n[includeIf \"gitdir:~/w]x\"]\n\tpath = y\n[user]\n\tname = Ada\n", "Ada",
       ""},
      {"[user]\n\tname\n\temail = a@b\n", "", "a@b"},
      {"; nothing\n# here\n", "", ""},
      {"", "", ""},
      // What is no configuration ends there, as it ends git.
      {"[user]\n\tname = Ada\n[core\n\temail = x\n[user]\n\temail = a@b\n", "Ada", ""},
      {"[user]\n\tname = Ada\n\t=\n\temail = a@b\n", "Ada", ""},
      {"[user]\n\tname = \"Ada\n\temail = a@b\n", "", ""},
      {"[user]\n\tname = Ada\\q\n\temail = a@b\n", "", ""},
      {"[user]\n\tname = Ada\\", "Ada", ""},
      // Not fit to be passed on.
      {"[user]\n\tname = Ada\\nLovelace\n\temail = a@b\n", "", "a@b"},
      {"[user]\n\tname = Ada\x1b[31m\n\temail = a@b\n", "", "a@b"},
      {"[user]\n\tname = Ada\xe2\x80\xae\n\temail = a@b\xff\n", "", ""},
      {"[user]\n\tname = " + std::string(max_identity_bytes, 'x') +
           "\n\temail = " + std::string(max_identity_bytes + 1, 'x') + "\n",
       std::string(max_identity_bytes, 'x'), ""},
      {"[user]\n\tname = \xc3\x85sa \xe5\xb1\xb1\n", "\xc3\x85sa \xe5\xb1\xb1", ""},
  };
  for (const auto& row : rows) {
    const GitIdentity read = identity_in(row.config);
    EXPECT_EQ(read.name, row.name) << row.config;
    EXPECT_EQ(read.email, row.email) << row.config;
  }
}

TEST(GitIdentity, WhatIsWrittenIsReadAsTheSame) {
  const GitIdentity rows[] = {
      {"Ada Lovelace", "ada@example.org"}, {"", "ada@example.org"}, {"Ada \"x\" \\ # ; ", "a b"}, {"A", ""}};
  for (const auto& identity : rows) {
    for (const Owners owners : {Owners::as_outside, Owners::others}) {
      const std::string text = identity_config(identity, owners);
      EXPECT_EQ(identity_in(text), identity) << text;
      EXPECT_EQ(text.find("checkStat = minimal") != std::string::npos, owners == Owners::others) << text;
    }
  }
}

TEST(GitIdentity, OneFileCompletesTheOther) {
  EXPECT_EQ(completed({"Ada", ""}, {"Grace", "g@h"}), (GitIdentity{"Ada", "g@h"}));
  EXPECT_FALSE(is_known(completed({}, {})));
}

}  // namespace
}  // namespace cloche
