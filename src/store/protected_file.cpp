#include "store/protected_file.hpp"

#include <fcntl.h>

#include "base/path.hpp"
#include "base/sys.hpp"
#include "store/second_name.hpp"
#include "store/share_place.hpp"

namespace cloche {

std::string protected_file(const std::string& program) { return share_beside(program) + "/protected.json"; }

Result<ProtectedSet> load_protected_file(const std::string& program, const std::string& workspace) {
  constexpr size_t max_file_bytes = 1 << 20;
  const std::string path = protected_file(program);
  const auto file = sys::open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!file.ok())
    return refusal("the protected set " + path + " cannot be read",
                   "install share/ beside the programs, or build again");
  // The place of the descriptor that is read, not of a name that may lead elsewhere by then.
  const std::string real = TRY(sys::path_of(file.value().get()));
  const bool own = !workspace.empty() && is_beneath(workspace, program);
  if (!own && !workspace.empty() && lies_in(workspace, real)) {
    return refusal("the protected set " + real + " lies in the workspace: a command could shorten it",
                   "move it, or name another workspace");
  }
  const std::string text = TRY(sys::read_all(file.value().get(), max_file_bytes));
  return read_protected(text, "share/protected.json");
}

}  // namespace cloche
