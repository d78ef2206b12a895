#include "policy/judge_home.hpp"

#include <gtest/gtest.h>

namespace cloche {
namespace {

using Kind = FileFact::Kind;

TEST(JudgeHome, IsKnownOrNothingIs) {
  const struct {
    HomeFacts facts;
    const char* said;  // the home, or the beginning of the refusal
  } rows[] = {
      {{.user = 7}, "HOME is not set and the passwd database has no home for the user id 7, so"},
      {{.kind = Kind::directory}, "/h"},
      {{.in_proc = true, .kind = Kind::directory}, "HOME=/h lies in /proc, so"},
      {{.kind = Kind::absent}, "HOME=/h is no directory, so"},
      {{.kind = Kind::file}, "HOME=/h is no directory, so"},
      {{.kind = Kind::absent, .account = "/a"}, "/h"},
      {{.kind = Kind::file, .account = "/a"}, "HOME=/h is no directory, so"},
      {{.kind = Kind::absent, .account = "/h"}, "/h"},
      {{.kind = Kind::absent, .account = "/a", .account_is_configured = true},
       "HOME=/h is not there, and the configuration in /a would not hold; set HOME to /a; with sudo, use "
       "sudo -H"},
      {{.kind = Kind::directory, .of_another_user = true, .account = "/a", .account_is_configured = true},
       "HOME=/h belongs to another user, and the configuration in /a would not hold"},
      {{.kind = Kind::directory, .of_another_user = true, .account = "/a"}, "/h"},
      {{.kind = Kind::directory, .account = "/a", .account_is_configured = true}, "/h"},
      {{.kind = Kind::directory, .config_home = "/x"}, "/h"},
      {{.kind = Kind::directory, .account = "/h", .config_home = "/x", .passed_over = "/h"},
       "XDG_CONFIG_HOME=/x belongs to another user, and the configuration in /h would not hold"},
  };
  for (const auto& row : rows) {
    HomeFacts facts = row.facts;
    if (facts.user == 0) facts.written = facts.place = "/h";
    const auto judged = judge_home(facts);
    EXPECT_TRUE((judged.ok() ? judged.value() : describe(judged.error())).starts_with(row.said)) << row.said;
  }
}

}  // namespace
}  // namespace cloche
