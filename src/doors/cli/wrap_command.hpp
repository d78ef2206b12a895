// `cloche wrap`: prints the command line or configuration with which another sandbox enforces a plan. Runs
// nothing.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "doors/cli/arguments.hpp"

namespace cloche {

struct WrapArguments {
  enum class Backend { bwrap, oci, seatbelt };
  enum class Runtime { runc, crun, runsc };
  Backend backend = Backend::bwrap;
  Runtime runtime = Runtime::runc;  // of oci: who will run it
  RunArguments run = {};            // the flags that are those of `cloche run`, and the command
};

// `words` are those after "wrap".
Result<WrapArguments> parse_wrap(std::span<char* const> words);

}  // namespace cloche
