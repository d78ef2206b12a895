// The hands of the file tools are those of a Permit: no path and no descriptor gives them.
#include <string>
#include <utility>

#include "store/workspace/workspace_files.hpp"

namespace cloche {

Result<HeldWorkspace> held(const Permit& permit) { return HeldWorkspace::open(permit); }

#ifdef OF_PATH  // error: (invalid initialization|cannot convert|no matching|no viable conversion)
Result<HeldWorkspace> held(const std::string& path) { return HeldWorkspace::open(path); }
#endif

#ifdef OF_PREPARED  // error: (invalid initialization|cannot convert|no matching|no viable conversion)
Result<HeldWorkspace> held(const Prepared& prepared) { return HeldWorkspace::open(prepared); }
#endif

#ifdef OF_DESCRIPTOR  // error: private
HeldWorkspace held(OwnedFd directory) { return HeldWorkspace(std::move(directory), "/w", {}, {}); }
#endif

#ifdef DERIVED  // error: private
struct Mine : HeldWorkspace {
  explicit Mine(OwnedFd directory) : HeldWorkspace(std::move(directory), "/w", {}, {}) {}
};
#endif

}  // namespace cloche
