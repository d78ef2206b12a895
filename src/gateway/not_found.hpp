// Why a program was not found inside: it is on no PATH there, not in the view, or there without what would
// interpret it. Looks at the host, and at nothing that the command has made.
#pragma once

#include <optional>
#include <string>

#include "model/plan.hpp"

namespace cloche {

struct NotFound {
  std::string why = {};     // one sentence about argv[0]; empty: the host has none either
  std::string advice = {};  // how it ends for the operator alone
};

// `callers_path` is the PATH outside.
NotFound why_not_found(const ConfinementPlan& plan, const std::string& callers_path);

// Where on the host a program and the first directory lie. None: the host has nothing there.
// `name` is a word that the plan's command or script would start.
std::optional<std::string> program_on_host(const ConfinementPlan& plan, const std::string& name);
std::optional<std::string> directory_on_host(const ConfinementPlan& plan);

}  // namespace cloche
