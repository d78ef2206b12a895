// One set of small programs, each with the answer that it gives at every isolation level and the one that it
// gives without Cloche, and the exceptions that docs/ladder.md owns up to.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cloche::test {

struct Answer {
  int exit_code = 0;
  std::string out = {};

  bool operator==(const Answer&) const = default;
};

struct Exception {
  std::string backend;
  Answer answer;
  std::string reason;
};

// Bash finds these variables: BESIDE, STATE, OTHER and GRANT (files and directories of the host), PORT
// (somebody listens on the host's loopback), VICTIM (a process of the caller's), MARKER (a word of this
// call's alone).
struct Program {
  std::string name;
  std::string script;
  Answer answer;
  std::optional<Answer> control = {};  // none: better not tried on the host
  std::vector<std::string> flags = {};
  std::vector<Exception> exceptions = {};
  bool control_of_root = false;  // only root could do it in the first place
  std::string input = {};
  std::vector<std::string> argv = {};  // in place of the script
};

const std::vector<Program>& programs();
const Answer& expected(const Program& program, const std::string& backend);

}  // namespace cloche::test
