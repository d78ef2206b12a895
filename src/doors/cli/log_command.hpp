// `cloche log`: records listed, and one shown, verified, followed or removed.
#pragma once

#include <span>
#include <string>

#include "base/result.hpp"
#include "store/record/run_log.hpp"
#include "store/record/verify_run.hpp"

namespace cloche {

struct LogArguments {
  enum class Action { help, list, show, verify, tail, prune };
  Action action = Action::help;
  std::string run = {};   // an id, "last" or a path
  std::string task = {};  // only its calls
  std::string head = {};
  std::string older_than = {};
  bool json = false;
  bool help = false;
};

// `words` are those after "log".
Result<LogArguments> parse_log(std::span<char* const> words);

std::string list_table(const std::vector<RunSummary>& runs);
// A line for each call, and one for each gate that did not allow it.
std::string log_table(const Log& log);
std::string log_line(const LoggedCall& call);
std::string verification_text(const Verification& verification);

}  // namespace cloche
