// The mount table of this process, as /proc/self/mountinfo has it, and where in its file system a path lies.
// A bind mount gives a directory a second name; its path in the file system is one and the same.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cloche {

struct Mount {
  std::string device;  // "8:1"; of all mounts of one file system the same
  std::string root;    // what of the file system is mounted
  std::string point;   // where
};

// In the order of the table: of two on one point the later one is on top.
std::vector<Mount> read_mount_table(std::string_view text);

// The table of this process now. It is read again when the kernel says that something was mounted, unmounted
// or remounted since, and in another mount namespace. Nothing: it cannot be read.
std::shared_ptr<const std::vector<Mount>> mount_table();

// Where a path without links lies.
struct FileSystemPath {
  std::string device;
  std::string path;
};
std::optional<FileSystemPath> path_in_file_system(const std::vector<Mount>& table, const std::string& path);

}  // namespace cloche
