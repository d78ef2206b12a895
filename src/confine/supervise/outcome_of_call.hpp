// From what was heard during a call to its Outcome. Pure, apart from one look at the host for a program that
// was not found inside.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.hpp"
#include "confine/watch/watch.hpp"
#include "jail/core/wire.hpp"
#include "jail/core/wire_encode.hpp"
#include "model/outcome.hpp"
#include "model/plan.hpp"

namespace cloche {

struct Reports {
  bool started = false;
  bool gone = false;
  std::optional<wire::Report> failed;
  std::optional<wire::Report> not_executed;
  std::optional<wire::Report> ended;
  std::optional<wire::Report> usage;
  std::optional<LimitHit> hit;
  int signal_passed = 0;
  bool cancelled = false;    // the caller cancelled it, and it had not ended by then
  bool lost_a_part = false;  // of the box, which therefore was ended
};

// Of a box that another program builds: it did not come to the command. `errors` is what it wrote to stderr.
Error box_error(const std::optional<wire::Report>& failed, Backend backend, const std::string& errors);

// The sentence for a step of the jail that failed: which, why, on what, and what to do. `directory` is where
// the command was to start; what the jail itself is told is that of the tool around it.
Error step_error(const wire::Report& report, const wire::PlanText& jail, const std::string& directory);

Outcome judge(const Reports& reports, const ConfinementPlan& plan);

Denial denied_processes(const ConfinementPlan& plan, uint64_t times);
// By the paths of the memory file systems that had no more room.
Denial denied_memory(const ConfinementPlan& plan, const std::vector<std::string>& full);

// A call that did not end by itself nor by a limit: a process outside ended it, or our own machinery broke.
// That does not say what the host can do, and it may be tried again.

// Of whatever was killed before there was an outcome: "WHAT was ended from outside ...".
Error interrupted_error(Message what);

// A step of the jail's for whose failure the kernel gave no reason: the process that was to take it was
// killed. Of a box that another program builds no reason is known either way.
bool was_interrupted(const wire::Report& failed);
bool was_interrupted(const Outcome& outcome);

}  // namespace cloche
