// What may be started: a call that has a Permit, or a process of Cloche's own. Everything that turns a plan
// into a process takes one of these, and a bare plan is none. It refers to what it was made from.
#pragma once

#include "confine/own_process.hpp"
#include "jail/core/wire.hpp"
#include "policy/gates/permit.hpp"

namespace cloche {

class Startable {
 public:
  Startable(const Permit& permit)  // NOLINT: implicit by design
      : plan_(permit.plan()),
        directory_{permit.prepared().directory.device, permit.prepared().directory.inode} {}
  Startable(const OwnProcess& own) : plan_(own.plan()) {}  // NOLINT: implicit by design
  Startable(Permit&&) = delete;
  Startable(OwnProcess&&) = delete;

  const ConfinementPlan& plan() const { return plan_; }
  // Which directory it starts in, as it was judged.
  const wire::Identity& directory() const { return directory_; }

 private:
  const ConfinementPlan& plan_;
  wire::Identity directory_ = {};
};

}  // namespace cloche
