// Which calls of a task cannot run at the same time. Pure: store/workspace/task_home.hpp takes the lock.
#pragma once

#include <string_view>
#include <vector>

#include "model/plan.hpp"
#include "model/run_request.hpp"

namespace cloche {

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

}  // namespace cloche
