// Whether the way to something of the operator's passes a workspace; policy/path_trust.hpp judges it.
#pragma once

#include <string>

#include "base/result.hpp"
#include "policy/path_trust.hpp"

namespace cloche {

// Along `path`, which is absolute, link by link as the kernel goes. `workspace` is resolved; empty: there is
// none, and only what is there is said. An error: a link leads nowhere, or it cannot be looked at.
Result<Reach> reach_of(const std::string& path, const std::string& workspace);

// The same with where it ends. What cannot be walked counts as there: opening it explains why.
ReachFact look_at_reach(const std::string& path, const std::string& workspace);

}  // namespace cloche
