// The gates: each a pure function from a case to a verdict. None relies on another having run, so each
// refuses by itself what it cannot judge.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/call.hpp"
#include "policy/shapes/shape_match.hpp"

namespace cloche {

// The most that any call may have.
CommandProfile most_commands(const Ceilings& ceilings);
// What a call may have: its ceiling, narrowed by what it asked for.
CommandProfile commands_for(const Ceilings& ceilings, const Intent& intent);

// The paths that a call names under these shapes, as written; what store/host/operands is to look up before
// decide(). Under `any` there are none: what is an operand is not known, and the kernel alone answers for
// paths.
std::vector<std::string> paths_to_observe(const Intent& intent, const Ceilings& ceilings,
                                          const Shapes& shapes);

// What to send instead of a call that cannot be read.
std::string how_to_send(const Intent& intent);

// Why a variable of the caller's stays outside; empty: it is passed. An operator may change what programs do
// in a command of his own, and gives no secret away by its name alone.
std::string_view why_left_out(const Case& c, std::string_view name);
// The shape that a call runs under. None for an operator's command and under `any`, where nothing is
// hardened: the operator who grants it wants the program as it is.
std::optional<ShapeMatch> shape_of(const Case& c, const Shapes& shapes);

// The argv that would run: what was asked, with the hardening of the shape that takes it. Pure in what was
// asked.
std::vector<std::string> final_argv(const Case& c, const Shapes& shapes);

Verdict loadout_gate(const Case& c);
Verdict shape_gate(const Case& c, const Shapes& shapes);
Verdict no_shell_gate(const Case& c);
Verdict path_gate(const Case& c, const Shapes& shapes);
Verdict env_gate(const Case& c);
Verdict network_gate(const Case& c, const Shapes& shapes);

// Every tool that Cloche ships, by its one name.
const std::vector<std::string>& shipped_tools();

}  // namespace cloche
