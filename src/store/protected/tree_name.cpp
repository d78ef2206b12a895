#include "store/protected/tree_name.hpp"

#include <fcntl.h>
#include <sys/stat.h>

namespace cloche {

std::string tree_name(int root) {
  struct statx seen {};
  if (::statx(root, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &seen) != 0) return {};
  const bool known = (seen.stx_mask & STATX_BTIME) != 0;
  std::string name;
  for (const uint64_t number :
       {uint64_t{seen.stx_dev_major}, uint64_t{seen.stx_dev_minor}, uint64_t{seen.stx_ino},
        known ? static_cast<uint64_t>(seen.stx_btime.tv_sec) : 0,
        known ? uint64_t{seen.stx_btime.tv_nsec} : 0})
    name += (name.empty() ? "" : "-") + std::to_string(number);
  return name;
}

}  // namespace cloche
