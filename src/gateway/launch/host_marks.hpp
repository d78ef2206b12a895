// What of the host a box that waits was started from, and no plan names: the interpreter's file, the
// directories that it found modules in, and what is mounted. Where any of it has changed, a call gets a box
// of its own.
#pragma once

#include <sys/stat.h>

#include <string>
#include <utility>
#include <vector>

#include "base/sys/fd.hpp"

namespace cloche {

class HostMarks {
 public:
  // As these files and directories are now. What is absent counts as well.
  static HostMarks take(std::vector<std::string> paths);
  // Not once anything was mounted where this process sees it.
  bool still_hold() const;

 private:
  OwnedFd mounts_;
  std::vector<std::pair<std::string, struct stat>> files_;
};

// The files of the first Python that one of these programs may be, and the directories of its modules.
std::vector<std::string> marks_of_python(const std::vector<std::string>& programs);

}  // namespace cloche
