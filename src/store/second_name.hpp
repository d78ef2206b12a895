// Whether something lies in a directory: by its name, or because a directory in there is mounted on the way
// to it. A bind mount is a second name, and whoever writes to the first one has written to both.
#pragma once

#include <string>

namespace cloche {

// Both without links. What does not exist yet lies where it would be made.
bool lies_in(const std::string& directory, const std::string& path);

// Only by a mount.
bool is_mounted_from(const std::string& directory, const std::string& path);

}  // namespace cloche
