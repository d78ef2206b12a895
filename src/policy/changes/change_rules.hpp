// The operator's word on changes: rules, and what of the protected set a call may change all the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json_text.hpp"
#include "base/result.hpp"
#include "model/change_set.hpp"
#include "model/verdict.hpp"
#include "policy/protected/protected.hpp"
#include "policy/rules/globs.hpp"
#include "policy/rules/hidden_globs.hpp"

namespace cloche {

// Matches by path and kind; `more_than` makes it speak only when it matches more changes than that, of the
// call or, with those of earlier calls, of its task.
struct ChangeRule {
  std::vector<PathGlob> paths = {};    // none: every path
  std::vector<ChangeKind> kinds = {};  // none: every kind
  std::optional<uint64_t> more_than = {};
  bool per_task = false;
  Decision action = Decision::deny;
  std::string where = {};  // its file and line, for the operator

  // By the path within its tree, or by the absolute one.
  bool matches(const ChangeSet& set, const Change& change) const;
};

// `changes` of a configuration file: [{paths, kinds, more_than, per, action, match}]. Whatever is not
// understood refuses the file. An action looser than `loosest` is refused as a project's.
Result<std::vector<ChangeRule>> read_change_rules(const JsonValue& list, const std::string& source,
                                                  Decision loosest);

struct ChangeRules {
  std::vector<ChangeRule> rules = {};
  // What earlier calls of the task brought into the project: tree, path and kind.
  ChangeSet earlier = {};
  // Absolute; what is at or beneath one of them passes the judge of the protected set.
  std::vector<std::string> allowed = {};
  HiddenPaths hidden = {};  // what no call writes
  // Files and directories of the first tree that judge its calls.
  std::vector<ProtectedPart> parts = {};
  // Trees that the caller's own processes cannot write either: a link may lead there. The view's read-only
  // toolchains can be added.
  std::vector<std::string> system_trees = {"/usr",   "/bin",    "/sbin", "/lib",      "/lib32",
                                           "/lib64", "/libx32", "/opt",  "/nix/store"};
  // Deleting more than half of the files asks from this many deleted files on.
  uint64_t least_deleted_to_ask = 10;

  bool count_per_task() const;
};

}  // namespace cloche
