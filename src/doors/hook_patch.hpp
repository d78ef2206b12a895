// The files that a patch of Codex's names. Codex reads a patch leniently: it trims lines before it looks for
// a header, so that one with a blank before it counts. We are strict: a line that could be taken for a header
// is one, written exactly as it should be, or the patch is refused. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace cloche {

// As they are written there, in their order.
Result<std::vector<std::string>> files_of_patch(std::string_view patch);

}  // namespace cloche
