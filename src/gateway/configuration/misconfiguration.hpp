// What refuses every call before it is looked at: for `cloche config` and `cloche doctor`, which run none.
// Nothing is made.
#pragma once

#include <string>

#include "base/result.hpp"
#include "base/sys/environment.hpp"
#include "gateway/configuration/installation.hpp"
#include "gateway/session.hpp"

namespace cloche {

// As calls with these words would be, in their workspace.
Result<void> judge_loading(const SessionOptions& options, const Environment& environment);

// Whether calls that are made from here would have this directory for a workspace; no operator has the home
// or a system directory for one.
bool may_be_workspace(const std::string& path, const Environment& environment);

// Whatever the workspace. Empty: the configuration can be taken.
std::string misconfiguration(const Environment& environment, const Installation& installation);

}  // namespace cloche
