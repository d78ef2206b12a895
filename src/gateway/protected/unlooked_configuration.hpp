// The project's configuration after a call whose Cloche was killed: as long as nobody has looked at the tree
// since, a `.cloche` that was not there when that call began may be the command's own work. What it says is
// read by nobody. Whoever is about to run something takes the look that is due first, which moves it to the
// quarantine; and runs nothing then, because it may as well be a person's word that holds commands back.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/sys/environment.hpp"
#include "gateway/configuration/installation.hpp"

namespace cloche {

// Refuses what may be a command's. Changes nothing.
Result<void> judge_unlooked_configuration(const std::string& state, const std::string& workspace);

// Where something is about to run, by the words of whoever asks for it.
struct WorkspaceWords {
  const std::optional<std::string>& run;  // whose artifacts/ it is
  const std::optional<std::string>& workspace;
  const std::vector<std::string>& allow_protected;
};

// Takes it away, and says where it is: an error, once.
Result<void> take_unlooked_configuration(const WorkspaceWords& said, const Environment& environment,
                                         const Installation& installation);

}  // namespace cloche
