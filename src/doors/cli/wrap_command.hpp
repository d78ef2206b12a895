// The door `cloche wrap`: what another sandbox would be told to keep the same plan. Prints it and runs
// nothing.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/sys/environment.hpp"
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

int wrap_door(std::span<char* const> words, const Environment& environment);

}  // namespace cloche
