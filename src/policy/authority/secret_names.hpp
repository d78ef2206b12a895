// Which variables of the caller's a command may never have, however they were asked for: those that look like
// secrets, and those that make an approved program do something else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cloche {

// A name that people give to keys, tokens and passwords, or to what leads to them.
bool looks_secret(std::string_view name);

// "it looks like a secret", "it changes what programs do", "it is no name"; empty: it may pass.
std::string_view why_dropped(std::string_view name);

}  // namespace cloche
