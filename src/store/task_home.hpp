// The home and the /tmp that the calls of one task share: directories of the run's own, private to the task,
// that nothing else sees. They end with the run, or by `cloche log prune`.
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
// what other calls leave in theirs (a usercustomize.py, a .bashrc) would run with its capabilities.
Result<TaskHome> make_task_home(const RunPlace& place, const std::string& task_id,
                                const std::string& executor = {});

// The two of them in a directory that is Cloche's own; `path` is its path.
Result<TaskHome> make_home_beneath(int directory, const std::string& path);

// As they are put into a view.
std::vector<Grant> task_grants(const TaskHome& home);

// Whether a plan shows something within a task's home or /tmp, such as a workspace that lies in the host's
// /tmp. Its mount points are then directories that every call of the task can write to: one that runs at the
// same time could move them away, and so this call runs alone. `pinned` does not count, nor what lies beneath
// it: a directory that every call which shares the home has mounted there itself, directly in /tmp. The
// kernel lets no process rename or remove what is a mount point in its own view.
enum class Company { shared, alone };
Company company_of(const ConfinementPlan& plan, const std::vector<Grant>& own, std::string_view pinned = {});

// Waits for the calls of the task that this one cannot run beside, at most as long as the call may take, and
// makes the mount points that it needs. They are made without following a link; what a call has put in the
// way refuses. To be held until the call has ended; nothing is held when the plan has nothing of a task.
// `waits` is told why once it has taken a second.
Result<OwnedFd> enter_task(const ConfinementPlan& plan, const std::vector<Grant>& own,
                           const std::function<void(std::string_view why)>& waits = {},
                           std::string_view pinned = {});

// Of every task of the run.
void remove_task_homes(const RunPlace& place);

}  // namespace cloche
