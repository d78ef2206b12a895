#include "store/agent_tools_file.hpp"

#include <fcntl.h>

#include "base/path.hpp"
#include "base/sys.hpp"
#include "store/second_name.hpp"
#include "store/share_place.hpp"

namespace cloche {

Result<AgentToolTable> load_agent_tools(const std::string& program, const std::string& workspace) {
  constexpr size_t most_bytes = 1 << 20;
  const std::string path = share_beside(program) + "/agent_tools.json";
  const auto file = sys::open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!file.ok())
    return refusal("the table of the agents' own tools " + path + " cannot be read",
                   "install share/ beside the programs, or build again");
  // The place of the descriptor that is read, not of a name that may lead elsewhere by then.
  const std::string real = TRY(sys::path_of(file.value().get()));
  const bool own = !workspace.empty() && is_beneath(workspace, program);
  if (!own && !workspace.empty() && lies_in(workspace, real))
    return refusal(
        "the table of the agents' own tools " + real + " lies in the workspace: a command could extend it",
        "move it, or name another workspace");
  return read_agent_tools(TRY(sys::read_all(file.value().get(), most_bytes)), "share/agent_tools.json");
}

}  // namespace cloche
