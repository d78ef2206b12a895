// Ids of runs, tasks and calls: names that are nothing else on the way into a path, a table or a shell.
#pragma once

#include <string_view>

#include "base/result.hpp"

namespace cloche {

inline constexpr std::string_view transcript_ending = ".jsonl";

// Letters, digits, '.', '_' and '-', not a dot first, at most 64 bytes.
bool is_bare_word(std::string_view word);
Result<void> check_run_id(std::string_view id);
Result<void> check_call_id(std::string_view id);
// A task's directory stands beside the transcripts, so it must not be called like one.
Result<void> check_task_id(std::string_view id);

}  // namespace cloche
