// What a program that links Cloche says, as the session that a gateway is opened with: its values become the
// flags of `cloche call`, and these are read by the one table that there is.
#pragma once

#include <cloche/values.h>

#include <string>
#include <vector>

#include "base/result.hpp"
#include "doors/cli/call_arguments.hpp"

namespace cloche {

// "--profile=readonly", "--ro=/x", ...: each value is joined to its flag, so that none is taken for one.
// Pure.
Result<std::vector<std::string>> flags_of(const v1::Options& options);

// With the functions, and where the programs are. Nothing is looked up.
Result<CallArguments> session_of(const v1::Options& options);

// "NAME=VALUE", with the options' directories in the place of the variables that name them. `own`: the
// environment of the process.
Result<std::vector<std::string>> environment_of(const v1::Options& options,
                                                const std::vector<std::string>& own);

v1::Error public_error(const Error& error);

}  // namespace cloche
