// Removes what killed calls left in Cloche's state: files and skeletons that were never given their final
// names. Called where a killed call was found and where something is proven anew, not by every call, because
// it lists directories.
#pragma once

#include <string>

namespace cloche {

void clear_leftovers(const std::string& state);

}  // namespace cloche
