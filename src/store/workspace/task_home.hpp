// The home and the /tmp that the calls of one task share: directories of the run, which no other task sees.
// They are removed with the run, or by `cloche log prune`.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "model/plan.hpp"
#include "model/run_request.hpp"
#include "store/record/run_place.hpp"

namespace cloche {

struct TaskHome {
  std::string home;
  std::string tmp;
};

// Made where it is missing. An executor has a home of its own in the task, which only its own calls share:
// what other calls leave in a home (a usercustomize.py, a .bashrc) would run with the executor's
// capabilities.
Result<TaskHome> make_task_home(const RunPlace& place, const std::string& task_id,
                                const std::string& executor = {});

// Where that would be. Makes nothing.
Result<TaskHome> plan_task_home(const RunPlace& place, const std::string& task_id,
                                const std::string& executor = {});

// The same in another directory of Cloche's; `path` is its path.
Result<TaskHome> make_home_beneath(int directory, const std::string& path);

// As they are put into a view.
std::vector<Grant> task_grants(const TaskHome& home);

// Waits for the calls of the task that this one cannot run beside (policy/plan/concurrent_calls.hpp), at most
// as long as the call may take, and makes the mount points that it needs. They are made without following a
// link; an Error where an earlier call has put something else there. To be held until the call has ended;
// nothing is held when the plan has nothing of a task. `waits` is told why after a second.
Result<OwnedFd> enter_task(const ConfinementPlan& plan, const std::vector<Grant>& own,
                           const std::function<void(std::string_view why)>& waits = {},
                           std::string_view pinned = {});

// Those of every task of the run.
void remove_task_homes(const RunPlace& place);

}  // namespace cloche
