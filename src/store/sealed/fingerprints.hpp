// Fingerprints of secrets: what stands for a value in a plan and its digest. An HMAC over name and value,
// with a key that lies in the state directory for nothing else. The key is made where it is missing, also by
// what only explains: a later call has to come to the same digest.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/plan.hpp"

namespace cloche {

Result<void> add_fingerprints(const std::string& state, std::vector<Secret>& secrets);

}  // namespace cloche
