// `cloche run`: words in, bytes and an exit code out. No decision is taken here.
#pragma once

#include <span>
#include <string_view>

#include "base/sys/environment.hpp"
#include "base/sys/fd.hpp"
#include "doors/cli/arguments.hpp"
#include "gateway/gateway.hpp"
#include "policy/gates/approval.hpp"

namespace cloche {

// Which of the caller's descriptors 0, 1 and 2 were open when the process started.
struct CallersDescriptors {
  bool input = true;
  bool output = true;
  bool errors = true;
};

// What the caller's terminal or another process sends us is for the command: a signalfd with all of it.
OwnedFd take_over_signals();
// Of --run DIR alone: which workspace it is, on stderr where that is a terminal.
void say_workspace_of_run(const Session& session);
// Says on stderr that it waits, and why.
void complain_of_wait(std::string_view why);

// How it ended and why, on the channels that the words asked for; the exit code.
// `say_changes`: to the operator at the terminal; model_line where an agent shows stderr to its model.
int finish_run(const CallResult& result, const RunArguments& arguments,
               std::string (*say_changes)(const ChangesOutcome&) = summary_line);

// What a command has of the caller's process: its umask, and a terminal of its own where the caller has one.
void take_over_process(RunArguments& arguments, const CallersDescriptors& callers);

// What would happen to the command, without letting it happen: for `explain` and --dry-run.
Result<Judged> judge_run(const RunArguments& arguments, const Environment& environment);

int run_command(std::span<char* const> words, const Environment& environment,
                const CallersDescriptors& callers, Approver& approver);

}  // namespace cloche
