// Removes what a call or a commit left in a private directory, however deep it is and whatever its modes are.
#pragma once

#include <string>

#include "base/result.hpp"

namespace cloche {

// One name of a directory that is held, with everything in it. Nothing has the name: done. Directories are
// moved up within `directory` while they are removed, so no other process may work in it.
Result<void> remove_entry(int directory, const std::string& name);

}  // namespace cloche
