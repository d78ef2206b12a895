// The file of the protected set, shipped in share/. There is none compiled in: without the file nothing is
// written.
#pragma once

#include <string>

#include "base/result.hpp"
#include "policy/protected.hpp"

namespace cloche {

// Where it is: share/ stands beside the directory of the running program, `program`, as ../share/cloche.
std::string protected_file(const std::string& program);

// `program` is the running program's own path: share/ stands beside its directory as ../share/cloche. The
// file may not lie in `workspace` (resolved), unless the program itself does: then it is the workspace's
// owner who built it.
Result<ProtectedSet> load_protected_file(const std::string& program, const std::string& workspace);

}  // namespace cloche
