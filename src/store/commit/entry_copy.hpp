// Copies an entry of a layer, a directory with everything in it: where the layer is on another mount than the
// project. Owner, mode, times, holes, attributes of users and links between the copied files are kept.
#pragma once

#include <sys/stat.h>

#include <map>
#include <string>
#include <utility>

#include "base/result.hpp"

namespace cloche {

class EntryCopier {
 public:
  // Copies are made in `target`, and files with several names keep them within it.
  explicit EntryCopier(int target) : target_(target) {}

  Result<void> copy(int from_directory, const std::string& from, const std::string& to);

 private:
  Result<void> copy_one(int from_directory, const char* from, int to_directory, const char* to,
                        const std::string& path);
  Result<void> copy_file(int from_directory, const char* from, int to_directory, const char* to,
                         const struct stat& seen);

  int target_;
  std::map<std::pair<dev_t, ino_t>, std::string> copied_ = {};  // files with several names
};

}  // namespace cloche
