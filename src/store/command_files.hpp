// The files of command shapes: those shipped in share/ and the user's own. One that a sandboxed command or
// another user could have written is refused, and so is a directory of the user's that others can write.
#pragma once

#include <string>
#include <vector>

#include "base/environment.hpp"
#include "base/result.hpp"
#include "policy/shapes.hpp"

namespace cloche {

struct CommandFile {
  enum class By { shipped, user, named };
  std::string shown;  // how messages name it
  std::string path;
  By by = By::named;  // with Cloche, in the user's directory, on a command line
};

// Those that come with Cloche. `program` is the running program's own path: share/ stands beside its
// directory as ../share/cloche.
Result<std::vector<CommandFile>> shipped_command_files(const std::string& program);

// Shipped ones first, then $XDG_CONFIG_HOME/cloche/commands/*.json.
Result<std::vector<CommandFile>> find_command_files(const std::string& program,
                                                    const Environment& environment);

// Every shape of every file, examples checked. A user's that somebody else could have written refuses. None
// of the files may lie in `workspace` (resolved), unless the program itself does: then it is the workspace's
// owner who built it.
Result<Shapes> load_command_files(const std::vector<CommandFile>& files, const std::string& program,
                                  const std::string& workspace);

}  // namespace cloche
