// Where grants are shown, and what lies beneath one.
#pragma once

#include <string>
#include <string_view>

#include "model/facts.hpp"
#include "model/run_request.hpp"

namespace cloche {

// Where the command sees a grant, of which `fact` is what was found.
std::string shown_at(const Grant& grant, const FileFact& fact);

// The grant in or under which this place of the view lies, so that nothing of ours can be put there; null:
// none.
const Grant* granted_over(const RunRequest& request, const Facts& facts, std::string_view place);

}  // namespace cloche
