// Which pieces of an argument could be paths, when no shape says what the argument is. One rule: a path may
// begin where the argument begins, behind each of = , : ; @ and a blank, behind a leading + or -, and where
// an option's letters end. Programs read their arguments in many ways; every reading that leaves the
// workspace is found here, and the path gate judges it. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cloche {

enum class PathRole {
  file,
  path,
  argument,  // anything; what could be a path in it counts as one
  guess,     // another reading is at least as likely: /sub in -Iinclude/sub, /users in "GET /users". Its
             // letters alone do not say that it is a path of the host's
};

// A path as it is written in a command.
struct PathCandidate {
  std::string written = {};
  PathRole role = PathRole::file;

  bool operator==(const PathCandidate&) const = default;
};

inline constexpr size_t max_path_candidates = 4096;
inline constexpr size_t max_candidate_bytes = 1 << 20;

// Each piece once, as argument or guess. Nothing: there are more than can be judged.
std::optional<std::vector<PathCandidate>> paths_in(const std::string& word);

// Whether programs that expand ~ would take it for a home directory: ~, ~/x and ~name, not ~1.2.
bool is_home(const PathCandidate& path);

}  // namespace cloche
