// Whose configuration holds. Pure: store/host/callers_home.hpp looks at the environment and the disk.
#pragma once

#include <string>

#include "base/result.hpp"
#include "model/facts.hpp"

namespace cloche {

struct HomeFacts {
  unsigned user = 0;
  std::string written = {};  // HOME, or else the account's home; empty: neither is known
  std::string place = {};    // the same as a plain path
  bool in_proc = false;      // what lies there is another process's
  FileFact::Kind kind = FileFact::Kind::absent;
  bool of_another_user = false;
  std::string account = {};            // the home of the caller's account; empty: not known
  bool account_is_configured = false;  // or may be, and no variable names another place
  std::string config_home = {};        // XDG_CONFIG_HOME, where it belongs to another user
  std::string passed_over = {};  // the home whose configuration is then not read, where there may be one
};

// The home, or why it is not known whose configuration holds.
Result<std::string> judge_home(const HomeFacts& facts);

}  // namespace cloche
