// Which calls may begin, as a value: it has no thread, no clock and no lock. A bounded number runs, the
// others wait in the order in which they came, and a call for which there is no room is refused at once.
//
// Between tenants the next place goes to the one with the fewest running calls, and of these to the one that
// has waited longest since its last call began. So a tenant never waits behind all the calls of another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "model/call_bounds.hpp"

namespace cloche {

class FairQueue {
 public:
  using Ticket = uint64_t;
  struct Begun {
    Ticket ticket;
    std::string tenant;
  };

  explicit FairQueue(QueueLimits limits) : limits_(limits) {}

  // Nothing: there is no room. `bytes` is what the call holds on to while it waits.
  std::optional<Ticket> add(const std::string& tenant, size_t bytes);
  // Forgets a call that has not begun. False: it has.
  bool drop(Ticket ticket);
  void drop_all();

  bool may_begin() const { return waiting_ > 0 && running_ + returning_ < limits_.running; }
  // Whose turn it is: counted as running from now on. Nothing: no call waits, or no place is free.
  std::optional<Begun> begin();
  void end(const std::string& tenant);

  // A running call that waits for a person has no place meanwhile. When it wants it back it has the next one
  // that is free, before all that wait.
  void step_aside(const std::string& tenant);
  void want_back() { ++returning_; }
  bool may_come_back() const { return running_ < limits_.running; }
  void come_back(const std::string& tenant);

  size_t waiting() const { return waiting_; }
  size_t running() const { return running_; }

 private:
  struct Waiting {
    Ticket ticket;
    size_t bytes;
  };
  struct Tenant {
    std::deque<Waiting> waiting = {};
    size_t waiting_bytes = 0;
    size_t running = 0;
    uint64_t last_turn = 0;  // when a call of it began, or it came
  };
  using Tenants = std::map<std::string, Tenant>;  // those that have something here

  Tenant& know(const std::string& name);
  void forget_idle(Tenants::iterator tenant);

  const QueueLimits limits_;
  Tenants tenants_;
  Ticket next_ticket_ = 0;
  uint64_t turn_ = 0;
  size_t waiting_ = 0;
  size_t running_ = 0;
  size_t returning_ = 0;
};

}  // namespace cloche
