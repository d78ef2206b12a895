// The front of `cloche hook`: small and static, so that somebody is left to say no. Agents take every end of
// a hook but an answer and exit 2 for a yes: a crash, a time-out, a missing program, an exit of 1. So the
// judge is a process of its own, and whatever becomes of it but a whole answer in time is exit 2 with a
// sentence here.
#pragma once

#include <span>
#include <string>

namespace cloche {

// Whether these words (after "hook") ask for a judgement, and not for help or an installation.
bool is_hook_judgement(std::span<char* const> words);

// `full` is where cloche-full is; `words` are all of argv.
int hook_front(const std::string& full, std::span<char* const> words, char* const* environment);

}  // namespace cloche
