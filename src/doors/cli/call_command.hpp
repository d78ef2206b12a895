// `cloche call`: words in, bytes and an exit code out. No decision is taken here.
#pragma once

#include <span>
#include <string>

#include "base/sys/environment.hpp"
#include "gateway/gateway.hpp"

namespace cloche {

int call_command(std::span<char* const> words, const Environment& environment, Approver& approver);

// The JSON of `call --json`: that of `run --json` with what a call has more.
std::string call_json(const CallResult& result);

}  // namespace cloche
