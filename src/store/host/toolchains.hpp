// Language toolchains that live outside /usr: shown read-only where they are and put on PATH, never with the
// files that hold credentials.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/facts.hpp"

namespace cloche {

struct ToolchainQuery {
  std::string wanted;  // auto, none, or names with commas
  std::string home;
  std::string path;                                       // the caller's PATH
  std::function<std::string(std::string_view)> variable;  // of the caller's environment; empty when unset
};

// An unknown name is a usage error. A known toolchain that is not installed is an error when it was named,
// and left out under auto.
Result<std::vector<ToolchainFact>> find_toolchains(const ToolchainQuery& query);

}  // namespace cloche
