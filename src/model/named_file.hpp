// A file that an operator's flag names and the front end has read.
#pragma once

#include <string>

#include "model/facts.hpp"

namespace cloche {

struct NamedFile {
  std::string flag;     // as it was written, for sentences
  FileFact found = {};  // where it is, and the links that led there

  bool operator==(const NamedFile&) const = default;
};

}  // namespace cloche
