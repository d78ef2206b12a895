// Where a diff goes: with colours and through the operator's pager on a terminal, as it is anywhere else.
#pragma once

#include <string>
#include <vector>

#include "base/sys/environment.hpp"
#include "doors/changes/change_text.hpp"

namespace cloche {

// For stdout as it is; NO_COLOR is honoured.
DiffOptions options_for_output(const Environment& environment, bool stat);

// Returns the exit code. No pager from `writable`, where calls write, is started.
int page(const std::string& text, std::vector<std::string> writable);

}  // namespace cloche
