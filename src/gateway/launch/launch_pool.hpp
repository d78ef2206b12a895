// Sandboxes that are prepared before a call comes, for a gateway that stays: namespaces, cgroup, id and the
// still part of the view are there, and nothing of a call's or of the operator's trees.
//
// Each is used for one call and destroyed, and so is one that is not used in ten minutes. A pool belongs to
// one gateway: to one configuration and one session. The call's plan is judged, rendered and sent whole as
// ever; a sandbox that has the digest of another shape, or whose prepared part is not what the plan begins
// with, is refused here, and by the jail once more. In every such case, and where a prepared sandbox is dead
// or does not answer, the call starts as if there were no pool.
//
// Theory of operation. expect() says after each call what the next will be like; one thread prepares for the
// last two kinds of calls, as many as the bound says, and destroys what is no longer wanted. It begins a
// moment after a call, so that the answer goes out first. The mounts of the host are watched: a prepared
// sandbox has a copy of their table, so all of them end when it changes. The thread ends with the pool, and
// writes its counts into the state directory, for `cloche doctor -v`.
#pragma once

#include <pthread.h>

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "gateway/launch/launch_resources.hpp"
#include "gateway/launch/pool_counts.hpp"

namespace cloche {

// How many sandboxes a pool keeps. Pure.
struct PoolFacts {
  size_t bound = 0;
  uint64_t idle_ms = 0;          // since the last call
  uint64_t available_bytes = 0;  // of the host's memory
  uint64_t each_bytes = 0;       // that one which waits has
};
size_t count_wanted(const PoolFacts& facts);

// What a sandbox must have in common with a call that starts in it, as a digest: the backend, the network,
// the ids, what its cgroup limits, the views' first parts and what is ready-made of them. Pure. `state`:
// Cloche's state directory.
std::string shape_of(const ConfinementPlan& plan, const CallerFact& caller, const std::string& state);

class LaunchPool {
 public:
  LaunchPool(Installation installation, size_t bound);
  ~LaunchPool();
  LaunchPool(const LaunchPool&) = delete;
  LaunchPool& operator=(const LaunchPool&) = delete;

  // One that is ready for such a call; nothing: there is none.
  std::optional<LaunchResources> take(const ConfinementPlan& plan, const CallerFact& caller);
  // One that was taken and cannot be used: it is destroyed when there is time.
  void give_back(LaunchResources resources);
  // One that was taken and did not begin with the call.
  void note_failed();
  // One whose call has ended: its keeper is waited for when the answer is out.
  void retire(std::unique_ptr<LaunchResources> used);
  // What ended calls have left there is to be emptied once this one is answered. False: it cannot do that.
  bool tidy_later(const std::string& layers);
  // A call like this is to be expected. `shape`: its digest, where that is known; empty: it is not.
  void expect(const ConfinementPlan& plan, const CallerFact& caller, std::string shape = {});
  PoolCounts counts() const;

 private:
  struct Kind {
    std::string shape;
    ConfinementPlan plan;  // of a call of this kind
    CallerFact caller;
    std::shared_ptr<SkeletonWatch> watch;
  };
  struct Box {
    std::shared_ptr<const Kind> kind;
    LaunchResources resources;
    uint64_t made_ms = 0;
    uint64_t bytes = 0;
  };
  void start_thread();
  void run();
  void drop_after_mounts();
  bool measure_boxes();
  PoolCounts counts_now() const;
  size_t share_of(const Kind* kind, size_t wanted) const;
  size_t count_of(const Kind* kind) const;
  std::list<Box> sort_out(size_t wanted);
  std::shared_ptr<const Kind> next_kind(size_t wanted) const;
  void wake() const;

  const Installation installation_;
  const size_t bound_;
  OwnedFd wake_;
  OwnedFd mounts_of_thread_;
  OwnedFd mounts_of_calls_;
  mutable std::mutex lock_;
  std::list<Box> boxes_;
  std::list<Box> given_back_;
  std::vector<std::shared_ptr<const Kind>> kinds_;  // the newest first
  uint64_t hits_ = 0;
  uint64_t misses_ = 0;
  std::string untidy_ = {};  // a directory of layers; empty: there is none
  uint64_t last_call_ms_ = 0;
  bool failed_ = false;  // to prepare one: not tried again before the next call
  bool closing_ = false;
  std::optional<pthread_t> thread_;
};

}  // namespace cloche
