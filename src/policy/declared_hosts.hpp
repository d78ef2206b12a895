// From the words that declare a host - a flag, a skill, a capability - to the entries of a plan.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace cloche {

// NAME, NAME:PORT, *.NAME, *.NAME:PORT or localhost:PORT, into the plan's spelling; without a port 80 and
// 443. What is there already is not added again.
Result<void> declare_host(std::vector<std::string>& hosts, std::string_view word);
// Any public name, on 80 and 443.
Result<void> declare_any_host(std::vector<std::string>& hosts);

}  // namespace cloche
