// Globs over paths, component by component: * is any run of characters of one name, ? any one byte of it, and
// ** any number of whole components. Time is bounded by pattern times path, whatever both say.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace cloche {

using GlobComponents = std::vector<std::string>;

bool components_match(const GlobComponents& pattern, const std::vector<std::string_view>& path);

// A glob as models write it. {a,b} stands for each of its words; [ is itself, because files are named
// "[id].tsx". One without a slash is about the name alone, at any depth.
class PathGlob {
 public:
  // The error says what is wrong with it, without a place.
  static Result<PathGlob> read(std::string_view text);

  bool matches(std::string_view path) const;

 private:
  std::vector<GlobComponents> alternatives_;
};

}  // namespace cloche
