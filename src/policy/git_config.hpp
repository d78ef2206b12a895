// Whether a git configuration that a command left behind can make git run anything. git init and git clone
// write one, so it cannot just be taken away; and dozens of keys name a program, with every version of git
// more of them, so what is known to be harmless is listed, and everything else is not.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cloche {

// The longest that is read; longer ones are not harmless.
inline constexpr size_t max_git_config_bytes = size_t{64} << 10;

// Nothing: every key is known to run nothing. Otherwise what stands in the way, for a sentence: a key that is
// not known, or a line that this strict reader and git might read differently.
std::optional<std::string> danger_in_git_config(std::string_view text);

// Where a configuration sends git for more to execute: core.hooksPath, and the files of include and
// includeIf. What is in them is as much to be kept from a command as the configuration itself.
struct ExecutedPlace {
  std::string path;            // as written
  bool beside_config = false;  // relative to the configuration's own directory; otherwise to the working tree
  bool operator==(const ExecutedPlace&) const = default;
};
std::vector<ExecutedPlace> executed_places(std::string_view text);

}  // namespace cloche
