// Follows a path one name at a time from the root of the host: which links it crosses, and what is at its
// end. Unlike the kernel's own walk this works also for a path that ends nowhere, and for one whose end has a
// longer path than the kernel can name.
#pragma once

#include <sys/stat.h>

#include <string>
#include <vector>

namespace cloche {

struct SymlinkTrace {
  struct Link {
    std::string path;  // absolute, with no link in it but the last name
    struct stat seen;
  };
  std::vector<Link> links = {};  // in the order in which they were followed
  std::string path = {};         // of the end, or of what could not be passed; absolute, without links
  struct stat seen = {};         // of the end
  int error = 0;                 // why there is no end
  std::string missing = {};      // of one that ends nowhere: where its end would be
};

// `path` is absolute. The end is never a link.
SymlinkTrace trace_symlinks(const std::string& path);

}  // namespace cloche
