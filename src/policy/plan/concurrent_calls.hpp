// Which calls cannot run at the same time, and what a call that waits for others is told. Pure:
// store/workspace/workspace_lock.hpp and store/workspace/task_home.hpp take the locks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/plan.hpp"
#include "model/run_request.hpp"

namespace cloche {

// The trees of the host that a command of this plan can write to, without its own home and /tmp.
std::vector<std::string> trees_changed_by(const ConfinementPlan& plan);

// Whether the plan has this directory of a task, writable.
bool is_mounted(const ConfinementPlan& plan, const Grant& given);
// Whether an entry of the view lies beneath that directory.
bool lies_within(const ViewEntry& entry, const Grant& given);

// Whether other calls of a task may run beside this one. They may not where the plan shows something within
// the task's home or /tmp, such as a workspace that lies in the host's /tmp: its mount points are then
// directories that every call of the task can write to, and a call that runs at the same time could move them
// away. `pinned` and what lies beneath it do not count: a directory directly in /tmp that every call which
// shares the home has mounted there itself. The kernel lets no process rename or remove what is a mount point
// in its own view.
enum class TaskUse { shared, exclusive };
TaskUse task_use_of(const ConfinementPlan& plan, const std::vector<Grant>& own, std::string_view pinned = {});

// What a call waits for.
enum class WaitsFor {
  approved_call,  // which runs alone in the workspace
  other_calls,    // which could change the files that this one was approved with
  calls_of_task,  // beside which it cannot run: TaskUse
};
std::string_view why_waiting(WaitsFor what);

enum class WaitEnd { ready, too_long, cancelled };
Result<void> judge_wait(WaitsFor what, WaitEnd end);

}  // namespace cloche
