// The process that an agent starts as `cloche hook`. Agents take every end of a hook but an answer and exit 2
// for a yes: a crash, a time-out, a missing program, an exit of 1. So the judge, which reads what the model
// wrote, is a process of its own. Unless it gives a whole answer in time, this process ends with exit 2 and a
// sentence.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cloche {

// How long judging may take, from the value of --timeout. An Error: it is no time, or longer than agents
// wait.
Result<uint64_t> judging_ms(std::string_view given);

// Whether these words (after "hook") ask for a judgement, and not for help or an installation.
bool is_hook_judgement(std::span<char* const> words);

// The command of the judge, which no other caller needs: `hook` without this process before it.
inline constexpr std::string_view judge_word = "hook-judge";

// `program` is cloche; `words` are all of argv.
int hook_front(const std::string& program, std::span<char* const> words, char* const* environment);

}  // namespace cloche
