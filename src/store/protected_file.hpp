// The file of the protected set, shipped in share/. There is none compiled in: without the file nothing is
// written.
#pragma once

#include <string>

#include "base/result.hpp"
#include "policy/protected.hpp"

namespace cloche {

// Where it is, as store/share_place.hpp says.
std::string protected_file(const std::string& program);

// `program` is the running program's own path. The file may not lie in `workspace` (resolved), unless the
// program itself does: then it is the workspace's owner who built it.
Result<ProtectedSet> load_protected_file(const std::string& program, const std::string& workspace);

}  // namespace cloche
