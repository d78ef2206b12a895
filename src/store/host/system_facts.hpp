// What of the host's system every sandbox sees: /usr and its neighbours, and the curated entries of /etc.
//
// The scan takes some fifty system calls, and its result changes when software is installed. So it is cached
// in the state directory, with the identities of the three directories that were scanned: no entry of a
// directory appears, vanishes or becomes something else without the directory's times changing. (What the
// files hold is checked by store/host/skeleton.hpp.)
#pragma once

#include <sys/stat.h>

#include <string>

#include "model/facts.hpp"

namespace cloche {

// From the stat of a path that is no link.
FileFact fact_from(const struct stat& seen, std::string path);

// One path as it is, links not followed. Absent when nothing is there.
FileFact look_at(const std::string& path);

// Fills facts.system and facts.etc. Cached only where the state directory (facts.state) exists already.
void look_at_system(Facts& facts, const std::string& state);

}  // namespace cloche
