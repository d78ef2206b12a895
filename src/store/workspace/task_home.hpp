// The home and the /tmp that the calls of one task share: directories of the run, which no other task sees.
// They are removed with the run, or by `cloche log prune`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
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

// The home and the /tmp that the calls of one server share: STATE/sessions/ID/N/home and .../tmp, private to
// it. A server holds a lock on its directory for as long as it lives. A directory that no process holds was
// left by a server that was killed, and goes when the next one starts.
inline constexpr const char* sessions_name = "sessions";

// Not for several threads at once.
class SessionHome {
 public:
  // Removes what dead servers have left, and makes one of its own.
  static Result<std::unique_ptr<SessionHome>> make(const std::string& state);
  SessionHome(const SessionHome&) = delete;
  SessionHome& operator=(const SessionHome&) = delete;
  ~SessionHome();

  // Made where it is missing, and open to its owner again where a command has closed it.
  Result<TaskHome> now() const;
  // What comes next is empty. What was there stays until the session ends, or remove_earlier().
  void start_over() { ++generation_; }
  void remove_earlier() const;

 private:
  SessionHome(std::string directory, OwnedFd alive)
      : directory_(std::move(directory)), alive_(std::move(alive)) {}

  std::string directory_;
  OwnedFd alive_;  // the lock
  uint64_t generation_ = 1;
};

}  // namespace cloche
