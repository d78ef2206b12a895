#include "store/sealed/leftovers.hpp"

#include "base/sys/private_file.hpp"
#include "store/host/skeleton.hpp"

namespace cloche {

void clear_leftovers(const std::string& state) {
  if (state.empty()) return;
  clear_unfinished(state);
  for (const char* name : {"backends", "changes-of-tasks", "proofs", "share", "tried"})
    clear_unfinished(state + "/" + name);
  clear_skeletons(state);
}

}  // namespace cloche
