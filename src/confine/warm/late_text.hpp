// A command that waits for a file: it is started with all of its plan, and where the file will be there is a
// pipe. An interpreter has everything behind it by then but the script: it stands in the open of it. When the
// text is there, the supervisor puts the file in the pipe's place and the text into the pipe. So the command
// is the one that a start without a wait would have been, at a later moment; nothing in the box knows of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "confine/native/jail_process.hpp"
#include "jail/core/wire_encode.hpp"
#include "model/plan.hpp"

namespace cloche {

// What of a plan a text can be late for: the script of a tool's own interpreter, which is all that differs
// from call to call.
struct LateScript {
  std::string_view target = {};  // absolute in the view
  std::string_view code = {};
};
// None: the plan is not one of `python3 -I SCRIPT` alone, or this text must be a file when it is opened.
std::optional<LateScript> late_script(const ConfinementPlan& plan);
// The same plan with an empty script.
ConfinementPlan without_script(ConfinementPlan plan);

// The rendered plan of a command that waits: equal for plans that differ in the script alone.
wire::PlanText with_late_text(wire::PlanText plan, std::string_view target);

// Gives the jail of such a plan its text; the command goes on at the end of `jail.late_text`, and not before.
// False: it has not come to its wait yet, and nothing was done. An Error: it cannot be used, and when it ends
// without more ado, none of the text was executed.
Result<bool> write_late_text(JailProcess& jail, const LateScript& script);

}  // namespace cloche
