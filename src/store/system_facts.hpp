// What of the host's system every sandbox sees: /usr and its neighbours, and the curated entries of /etc.
//
// Looking takes some fifty system calls, and the answer changes when somebody installs something. So it is
// kept in the state directory, with the identities of the three directories that were looked through: no
// entry of a directory appears, vanishes or becomes something else without the directory's times changing.
// (What is *in* the files is another matter, and the skeleton's.)
#pragma once

#include <sys/stat.h>

#include <string>

#include "model/facts.hpp"

namespace cloche {

// By what was seen at a path that is no link.
FileFact fact_from(const struct stat& seen, std::string path);

// One path as it is, links not followed. Absent when it is not there.
FileFact look_at(const std::string& path);

// Fills facts.system and facts.etc. Kept only where the state directory (facts.state) is there already.
void look_at_system(Facts& facts, const std::string& state);

}  // namespace cloche
