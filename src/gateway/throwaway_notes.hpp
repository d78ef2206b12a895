// Where throwaways lie (gateway/throwaway.hpp), so that every call, also the smallest, can take away what was
// left by one that was killed: a file in STATE/tried by the throwaway's own name, which holds its parent.
#pragma once

#include <string>
#include <string_view>

#include "base/sys/fd.hpp"

namespace cloche {

inline constexpr std::string_view throwaway_prefix = "cloche-try-";

// The note of the one that is called `name`.
std::string throwaway_note(const std::string& state, const std::string& name);

// Held by whoever uses it, and by whoever removes it; nothing: another has it.
OwnedFd lock_throwaway(const std::string& path);

// Removes those that have a note and that nobody uses any more. It looks nowhere else.
void clear_throwaways(const std::string& state);

}  // namespace cloche
