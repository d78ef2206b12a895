// Which calls of a session may have its home. What one call leaves there (a .bashrc, a .gitconfig, a program
// on the PATH) runs in the next one with the rights of that one. So a call has the home only while every call
// that had it before had at least the same rights, and no call that runs in it has more; every other call has
// a fresh one.
//
// Threads: as many as like; each call holds its Use until it has ended.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/call.hpp"
#include "model/run_request.hpp"
#include "store/workspace/task_home.hpp"

namespace cloche {

// What a call can reach that another may not: hosts, passed variables, trees beside the workspace, and what
// of the host its isolation leaves.
using Rights = std::set<std::string>;
Rights rights_of(const Launch& launch, const RunRequest& operators);

// The decision, without the directories. Not for several threads at once.
class HomeSharing {
 public:
  bool enter(const Rights& rights);  // false: it may not
  void leave(const Rights& rights);  // of one that entered
  void start_over() { least_.reset(); }
  bool is_used() const { return !running_.empty(); }

 private:
  std::optional<Rights> least_ = {};  // of all that ever had it; none: no call had
  std::multiset<Rights> running_ = {};
};

class SharedHome {
 public:
  static Result<std::unique_ptr<SharedHome>> make(const std::string& state);

  struct Offer {
    std::vector<Grant> grants = {};
    uint64_t generation = 0;
  };
  Result<Offer> offer();

  class Use {
   public:
    Use() = default;
    Use(SharedHome& home, Rights rights) : home_(&home), rights_(std::move(rights)) {}
    Use(Use&& other) noexcept
        : home_(std::exchange(other.home_, nullptr)), rights_(std::move(other.rights_)) {}
    Use& operator=(Use&& other) noexcept {
      std::swap(home_, other.home_);
      std::swap(rights_, other.rights_);
      return *this;
    }
    ~Use() {
      if (home_ != nullptr) home_->leave(rights_);
    }
    bool granted() const { return home_ != nullptr; }

   private:
    SharedHome* home_ = nullptr;
    Rights rights_ = {};
  };
  // Of what was offered; not granted where that has been emptied meanwhile, or others are in the way.
  Use enter(const Rights& rights, uint64_t generation);
  // One that has become too large would refuse every further call: the next one begins with an empty home.
  void start_over(uint64_t generation);

 private:
  explicit SharedHome(std::unique_ptr<SessionHome> home) : home_(std::move(home)) {}
  void leave(const Rights& rights);

  std::mutex lock_;
  std::unique_ptr<SessionHome> home_;
  HomeSharing sharing_;
  uint64_t generation_ = 1;
};

}  // namespace cloche
