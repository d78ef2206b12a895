#include "policy/written_places.hpp"

#include "base/sys/path.hpp"

namespace cloche {

Result<void> judge_way(const std::string& named, const FileFact& found, bool writable,
                       const std::vector<std::string>& written) {
  for (const auto& root : written) {
    // What a call could put there itself it may as well point to.
    if (!writable && is_beneath(root, found.path)) continue;
    for (const auto& turn : found.turns) {
      // From the root itself .. leads where the operator has put it: no call can move what it is in.
      if (turn != root && is_beneath(root, turn))
        return refusal(named + " is reached through " + turn + ", where calls can write, so any of them " +
                           "decides where it leads",
                       "name " + found.path + " itself if that is meant");
    }
  }
  return {};
}

}  // namespace cloche
