// What calls that were killed while they wrote have left in Cloche's state: files and skeletons that were
// never given their names. Looked for where a killed call was found and where something is proven anew, not
// by every call: it lists directories.
#pragma once

#include <string>

namespace cloche {

void clear_leftovers(const std::string& state);

}  // namespace cloche
