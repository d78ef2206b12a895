// The last numbers of the call's cgroups, read by the keeper when everything in them has ended, and their
// removal.
#pragma once

#include "jail/core/wire.hpp"

namespace cloche::jail {

void read_groups(const wire::Start& start, wire::Report& report);
void remove_groups(const wire::Start& start);

}  // namespace cloche::jail
