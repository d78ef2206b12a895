// Modules that a Python which waits for its script has imported already: those that the operator named, from
// where Python finds the system's, and never from a workspace or a home.
//
// Python runs a module `sitecustomize` at every start, before it looks at its script and with no frame that a
// script's would lie on. Debian keeps it in /etc, of which a view has copies: in a sandbox that waits this
// file begins with the imports.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/plan.hpp"

namespace cloche {

struct EarlyImports {
  std::string file = {};  // the sitecustomize of this Python, in the view; empty: nothing is imported
  std::string text = {};  // the whole of it
};

// Where the system's link to that module leads, when that is where Debian has it; else empty.
std::string import_file(std::string_view link);
// What is imported first, and then what the file of the host says.
std::string import_text(const std::vector<std::string>& modules, const std::string& of_host);

// For the first program that the plan's may be. Nothing is imported where this Python has no such file, or
// the view no copy of it.
EarlyImports early_imports(const ConfinementPlan& plan, const std::vector<std::string>& modules);

// The same plan with that file in the place of the host's.
ConfinementPlan with_imports(ConfinementPlan plan, const EarlyImports& imports);

}  // namespace cloche
