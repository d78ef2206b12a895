// Which pieces of an argument could be paths, when no shape says what the argument is. One rule: a path may
// begin where the argument begins, behind each of = , : ; @ and a blank, behind a leading + or -, and where
// an option's letters end. Programs read their arguments in many ways; every reading that leaves the
// workspace is found here, and the path gate judges it. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cloche {

struct PathPiece {
  std::string text = {};
  // Another reading is at least as likely: /sub in -Iinclude/sub, /users in "GET /users". Its letters alone
  // do not say that it is a path of the host's.
  bool guess = false;

  bool operator==(const PathPiece&) const = default;
};

inline constexpr size_t max_path_candidates = 4096;
inline constexpr size_t max_candidate_bytes = 1 << 20;

// Each piece once. Nothing: there are more than can be judged.
std::optional<std::vector<PathPiece>> paths_in(const std::string& word);

// Whether programs that expand ~ would take the piece for a home directory: ~, ~/x and ~name, not ~1.2.
bool is_home(const PathPiece& piece);

}  // namespace cloche
