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
// not known, a line that cannot be read, or a character that git itself writes to none.
std::optional<std::string> danger_in_git_config(std::string_view text);

// What of a configuration stands in the way, as it is written there: each entry, or line, exactly.
std::vector<std::string> dangers_in_git_config(std::string_view text);

// As above, but what was in it before is the user's word.
std::optional<std::string> danger_in_git_config(std::string_view text,
                                                const std::vector<std::string>& before);

}  // namespace cloche
