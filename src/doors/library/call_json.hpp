// The JSON of `cloche call --json`, which the library gives as well.
#pragma once

#include <string>

#include "gateway/gateway.hpp"

namespace cloche {

// That of `run --json` with what a call has more.
std::string call_json(const CallResult& result);

}  // namespace cloche
