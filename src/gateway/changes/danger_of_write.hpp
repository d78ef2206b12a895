// What files would be to the host that an agent writes by a tool of its own, where nothing is judged after
// it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/facts.hpp"

namespace cloche {

struct DangerousWrite {
  std::string path;  // relative to the workspace: a file, or a directory that would be made for one
  std::string why;   // the host would execute it, or what it names
};

// `paths` are absolute, without links, beneath the workspace, and all of one call: together they may make
// what none of them makes alone. Whatever is written is taken for the worst that it could be. Nothing: the
// host would execute none of it.
Result<std::optional<DangerousWrite>> danger_of_writes(const std::string& workspace,
                                                       const std::vector<std::string>& paths,
                                                       const std::string& state, const GitSources& git);

}  // namespace cloche
