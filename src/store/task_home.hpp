// The home and the /tmp that the calls of one task share: directories of the run's own, private to the task,
// that nothing else sees. They end with the run, or by `cloche log prune`.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/plan.hpp"
#include "model/run_request.hpp"
#include "store/run_place.hpp"

namespace cloche {

struct TaskHome {
  std::string home;
  std::string tmp;
};

// Made where it is missing.
Result<TaskHome> make_task_home(const RunPlace& place, const std::string& task_id);

// As they are put into a view.
std::vector<Grant> task_grants(const TaskHome& home);

// What a plan shows within a task's home or /tmp, such as a workspace that lies in the host's /tmp, needs
// something there to be mounted on. Made without following a link; what a call has put in the way refuses.
Result<void> make_mount_points(const ConfinementPlan& plan, const std::vector<Grant>& own);

// Of every task of the run.
void remove_task_homes(const RunPlace& place);

}  // namespace cloche
