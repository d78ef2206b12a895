// The operator's word on changes: rules, and what of the protected set a call may change all the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/change_set.hpp"
#include "model/verdict.hpp"
#include "policy/protected/protected.hpp"
#include "policy/rules/globs.hpp"

namespace cloche {

// Matches by path and kind; `more_than` makes it speak only when it matches more changes than that.
struct ChangeRule {
  enum class Per { call, task };

  std::vector<PathGlob> paths = {};    // none: every path
  std::vector<ChangeKind> kinds = {};  // none: every kind
  std::optional<uint64_t> more_than = {};
  Per per = Per::call;
  Decision action = Decision::deny;
  uint64_t matched_before = 0;          // by earlier calls of the task
  std::string where = {};               // its file and line, for the operator
  std::vector<std::string> match = {};  // paths that it must match, checked by the loader

  // By the path within its tree, or by the absolute one.
  bool matches(const ChangeSet& set, const Change& change) const;
};

// How many changes of the set each rule matches: what a task adds up.
std::vector<uint64_t> count_matches(const ChangeSet& set, const std::vector<ChangeRule>& rules);

struct ChangeRules {
  std::vector<ChangeRule> rules = {};
  // Absolute; what is at or beneath one of them passes the judge of the protected set.
  std::vector<std::string> allowed = {};
  // Files and directories of the first tree that judge its calls.
  std::vector<ProtectedPart> parts = {};
  // Trees that the caller's own processes cannot write either: a link may lead there. The view's read-only
  // toolchains can be added.
  std::vector<std::string> system_trees = {"/usr",   "/bin",    "/sbin", "/lib",      "/lib32",
                                           "/lib64", "/libx32", "/opt",  "/nix/store"};
  // Deleting more than half of the files asks from this many deleted files on.
  uint64_t least_deleted_to_ask = 10;
};

}  // namespace cloche
