// A directory by its path and its identity. What does not match is not the directory that was meant, and is
// never used, changed or removed.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "base/sys/fd.hpp"

namespace cloche {

struct KnownDirectory {
  std::string path = {};
  uint64_t device = 0;
  uint64_t inode = 0;
  // When it was made: the number of a directory that was removed is given to a new one. 0: not known.
  int64_t born_ns = 0;

  bool operator==(const KnownDirectory&) const = default;
};
// Whether both are one directory, whatever they are called.
bool is_same_directory(const KnownDirectory& one, const KnownDirectory& other);

// A path with the identity of what is there now.
Result<KnownDirectory> know_directory(const std::string& path);
Result<KnownDirectory> know_held(int directory, const std::string& path);
// An Error if it is not the one that is known.
Result<OwnedFd> open_known(const KnownDirectory& directory);
// What is in the directory, and then itself. Only if it is the one that is known.
void remove_known(const KnownDirectory& directory);

// Whether the directory that is held is at this path.
bool stands_at(const std::string& path, int directory);

// Whether a file can be renamed from the one directory to the other: the same mount, not only the same file
// system.
bool are_on_one_mount(int one, int other);

}  // namespace cloche
