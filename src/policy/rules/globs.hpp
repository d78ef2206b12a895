// Globs over names of tools and over paths. Time is bounded by pattern times text, whatever both say.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace cloche {

// Over paths, component by component: * is any run of characters of one name, ? any one byte of it, and **
// any number of whole components.
using GlobComponents = std::vector<std::string>;

bool components_match(const GlobComponents& pattern, const std::vector<std::string_view>& path);

// The globs that one with {a,b} stands for. The error says what is wrong with it, without a place.
Result<std::vector<std::string>> expand_braces(std::string_view text);

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

// Over names of tools: * is any run of characters, ? any one of them.
bool is_glob(std::string_view pattern);
bool glob_matches(std::string_view pattern, std::string_view name);
// Letters, digits and _ - . : / @ with the two signs of a glob; not empty, at most 128 bytes.
bool is_tool_pattern(std::string_view pattern);
// Whether everything that `narrow` matches is surely matched by `wide`. May miss some; never errs.
bool glob_covers(std::string_view wide, std::string_view narrow);

// A name that the pattern matches: run_shell if it does.
std::string sample_name(std::string_view pattern);

}  // namespace cloche
