// `cloche log`: records listed, and one shown, verified, followed or removed.
#pragma once

#include <span>
#include <string>

#include "base/result.hpp"

namespace cloche {

struct LogArguments {
  enum class Action { help, list, show, verify, tail, prune };
  Action action = Action::help;
  std::string run = {};   // an id, "last" or a path
  std::string call = {};  // of show: this one alone
  std::string task = {};  // only its calls
  std::string head = {};
  std::string older_than = {};
  bool denied = false;  // of show: only what was denied
  bool json = false;
  bool help = false;
};

// `words` are those after "log".
Result<LogArguments> parse_log(std::span<char* const> words);

}  // namespace cloche
