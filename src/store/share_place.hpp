// Where what the programs read is: share/ stands beside the directory of the running program, as
// ../share/cloche.
#pragma once

#include <string>

#include "base/path.hpp"

namespace cloche {

// `program` is the running program's own path, or that of another in the same directory.
inline std::string share_beside(const std::string& program) {
  const std::string beside(parent_of(parent_of(program)));
  return (beside == "/" ? "" : beside) + "/share/cloche";
}

}  // namespace cloche
