#include "store/leftovers.hpp"

#include "base/private_file.hpp"
#include "store/look_memory.hpp"
#include "store/skeleton.hpp"

namespace cloche {

void clear_leftovers(const std::string& state) {
  if (state.empty()) return;
  clear_unfinished(state);
  for (const char* name : {"backends", "before", "proofs", "share", "tried", looked_name})
    clear_unfinished(state + "/" + name);
  clear_skeletons(state);
}

}  // namespace cloche
