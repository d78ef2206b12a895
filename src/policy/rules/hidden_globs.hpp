// The operator's key `hide`: the paths of a tree that no call reads or changes.
//
// A pattern is about the whole path below the top of its tree: `.env` is the one at the top, `**/.env` one in
// any directory. What it matches is hidden with everything in it. A name is compared in every way in which a
// file system here may compare it (forms_of_name), so `.ENV` is hidden by `.env` as well.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/facts.hpp"
#include "policy/protected/folded_name.hpp"

namespace cloche {

// What a model reads, and what stands beside a change that is withheld.
inline constexpr std::string_view hidden_reason = "it is hidden: no call reads it or writes to it";

// One pattern, component by component; ** is alone in its own.
using HiddenPattern = std::vector<NameForms>;

class HiddenGlobs {
 public:
  // The error says what is wrong with the first bad one, without a place.
  static Result<HiddenGlobs> read(const std::vector<std::string>& patterns);

  bool empty() const { return patterns_.empty(); }
  // Whether the path, or a directory that it lies in, is meant.
  bool hides(std::string_view path) const;

  // What a search for hidden paths has to do with a directory that is not hidden itself.
  enum class Search {
    none,          // nothing in it can be meant
    inside,        // something in it can be
    across_links,  // likewise, and the pattern names each directory so far: a link in its place is followed
  };
  Search search(std::string_view directory) const;

 private:
  std::vector<HiddenPattern> patterns_;
};

// The patterns, and what they led to when a call was judged.
class HiddenPaths {
 public:
  static Result<HiddenPaths> read(const HideFacts& facts);

  // `path` is relative to its tree, whose root is an absolute path.
  bool hides(const std::string& root, const std::string& path) const;

 private:
  HiddenGlobs globs_ = {};
  std::vector<std::string> found_ = {};  // absolute
};

// Whether it costs a walk through all directories of a tree.
bool searches_everywhere(std::string_view pattern);

}  // namespace cloche
