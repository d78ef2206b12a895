// What a file would be to the host that an agent writes by a tool of its own, where nothing is judged after
// it.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "model/facts.hpp"

namespace cloche {

// `path` is absolute, without links, beneath the workspace. The answer says why the host would execute it, or
// what it names; nothing: it would not. Whatever is written is taken for the worst that it could be.
Result<std::optional<std::string>> danger_of_write(const std::string& workspace, const std::string& path,
                                                   const std::string& state, const GitSources& git);

}  // namespace cloche
