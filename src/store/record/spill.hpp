// Files without a name, for output that is more than a server holds in memory for one call. They are gone
// when their descriptor is closed.
#pragma once

#include <string>

#include "base/chunks.hpp"
#include "base/sys/fd.hpp"

namespace cloche {

// Nothing: there can be none in that directory, and then memory has to do.
OwnedFd open_spill(const std::string& directory);

// The text, and what is in the file behind it. Both outlive the pieces; -1: there is no file.
Chunks chunks_of(std::string_view first, int spill);

}  // namespace cloche
