// Walks through everything beneath a directory of a layer or of the project: without recursion, because a
// hostile tree is deeper than a stack, and by descriptors, because its paths are longer than the kernel
// takes.
#pragma once

#include <dirent.h>

#include <functional>
#include <string>

#include "base/result.hpp"

namespace cloche {

// What becomes of a directory that its owner may not read or enter.
enum class ClosedDirectory {
  opened,  // for as long as the walk takes
  passed,  // what is in it is not seen
};

struct WalkedEntry {
  int directory;          // holds it
  const std::string& in;  // the directory's path below the top
  const char* name;
  unsigned char type;  // DT_DIR, ...
};

// A directory comes before what is in it. The top itself, `name` in `parent`, is not visited.
using VisitEntry = std::function<Result<void>(const WalkedEntry& entry)>;
Result<void> walk_below(int parent, const std::string& name, ClosedDirectory closed, const VisitEntry& visit);

}  // namespace cloche
