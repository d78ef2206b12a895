// A full quota of keys is waited for, nothing else is, and not for ever.
#include "jail/core/keyring.hpp"

#include <gtest/gtest.h>

#include <string>

#include "jail/core/wire.hpp"

namespace cloche::jail {
namespace {

struct Row {
  const char* what;
  unsigned failures;  // before it succeeds
  int number;
  int joined;
  unsigned waited_us;
};

constexpr unsigned ever = 1'000'000;

TEST(JoinKeyring, WaitsForTheQuotaOnly) {
  const Row rows[] = {
      {"at once", 0, 0, 0, 0},
      {"after three others ended", 3, EDQUOT, 0, 3 * keyring_pause_us},
      {"at the last moment", keyring_patience_us / keyring_pause_us, EDQUOT, 0, keyring_patience_us},
      {"never", ever, EDQUOT, EDQUOT, keyring_patience_us},
      {"no such call", ever, ENOSYS, ENOSYS, 0},
      {"forbidden", ever, EPERM, EPERM, 0},
      {"no memory", ever, ENOMEM, ENOMEM, 0},
  };
  for (const auto& row : rows) {
    unsigned tries = 0;
    unsigned waited_us = 0;
    const auto join = [&] {
      errno = row.number;
      return tries++ < row.failures ? -1 : 0;
    };
    EXPECT_EQ(join_keyring_in_time(join, [&](unsigned time_us) { waited_us += time_us; }), row.joined)
        << row.what;
    EXPECT_EQ(waited_us, row.waited_us) << row.what;
  }
}

TEST(JoinKeyring, AFullQuotaNamesTheSetting) {
  const std::string hint = wire::hint_for(wire::Step::session_keyring, EDQUOT);
  EXPECT_NE(hint.find("kernel.keys.maxkeys"), std::string::npos) << hint;
  EXPECT_STREQ(wire::hint_for(wire::Step::session_keyring, EPERM), "");
}

}  // namespace
}  // namespace cloche::jail
