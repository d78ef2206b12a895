// Files that have more than one name. Who finds another one in a tree that can be written has found the file:
// no mount on the name that Cloche knows keeps it then.
#pragma once

#include <string>
#include <vector>

namespace cloche {

// Of a file, or of the files in a directory and in those right in it: what has another name and could be
// written by `caller`. Where only the system's own programs are, nothing is looked for: a second name of
// those gives away every program, not Cloche.
std::vector<std::string> with_other_names(const std::string& place, unsigned caller);

}  // namespace cloche
