// Whether a file lies in a directory: by its path, or because a directory in there is mounted above the file.
// A bind mount is a second name, and a write by the first name is a write by both.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/sys/mount_table.hpp"

namespace cloche {

// Both paths are without links. What does not exist yet lies where it would be made.
bool lies_in(const std::string& directory, const std::string& path);

// Only by a mount.
bool is_mounted_from(const std::string& directory, const std::string& path);

// The same for many paths: the mount of each is looked up once.
class MountCache {
 public:
  struct Seen {
    int error = 0;  // why there is nothing to say
    mode_t mode = 0;
    uint64_t mount = 0;  // the number of the mount that it is on; 0: the kernel does not say
    unsigned major = 0;
    unsigned minor = 0;
  };
  // A link is not followed.
  const Seen& look(const std::string& path);

  bool is_mounted_from(const std::string& directory, const std::string& path);

 private:
  static bool may_be_from(const Seen& directory, const Seen& path);
  const Seen& look_at_existing(const std::string& path);

  std::map<std::string, Seen> seen_;
  std::shared_ptr<const std::vector<Mount>> table_;  // of the first look at it
};

}  // namespace cloche
