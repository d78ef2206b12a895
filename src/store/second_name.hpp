// Whether something lies in a directory: by its name, or because a directory in there is mounted on the way
// to it. A bind mount is a second name, and whoever writes to the first one has written to both.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/sys/mount_table.hpp"

namespace cloche {

// Both without links. What does not exist yet lies where it would be made.
bool lies_in(const std::string& directory, const std::string& path);

// Only by a mount.
bool is_mounted_from(const std::string& directory, const std::string& path);

// The same for many of them at one time: each is looked at once.
class MountLook {
 public:
  bool is_mounted_from(const std::string& directory, const std::string& path);

 private:
  struct MountedOn {
    bool has_number = false;
    uint64_t number = 0;
    unsigned major = 0;
    unsigned minor = 0;
  };
  using Table = std::optional<std::vector<Mount>>;  // none: it cannot be read

  static std::optional<MountedOn> look(std::string path);
  static bool may_be_from(const MountedOn& directory, const MountedOn& path);
  const std::optional<MountedOn>& mount_of(const std::string& path);
  const Table& table();

  std::map<std::string, std::optional<MountedOn>> seen_;
  std::optional<Table> table_;
};

// The number of the mount that a path is on; 0: the kernel does not say.
uint64_t mount_number(const std::string& path);

}  // namespace cloche
