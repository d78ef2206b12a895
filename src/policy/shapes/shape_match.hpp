// Matches an argv against shapes, and says which of its words are paths. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "policy/rules/path_candidates.hpp"
#include "policy/shapes/shapes.hpp"

namespace cloche {

// A word that a pattern took as more than a fixed token.
struct ShapeOperand {
  using Role = PathRole;  // never guess
  size_t index = 0;       // in argv
  Role role = Role::file;

  bool operator==(const ShapeOperand&) const = default;
};

struct ShapeMatch {
  const Shape* shape = nullptr;
  std::vector<ShapeOperand> operands = {};
};

// Whether this one shape accepts the argv.
std::optional<ShapeMatch> match_shape(const Shape& shape, const std::vector<std::string>& argv);

// The first that accepts it, of those that the profile has: passive ones first, so that a command which can
// be hardened is.
std::optional<ShapeMatch> find_shape(const Shapes& shapes, CommandProfile profile,
                                     const std::vector<std::string>& argv);

// The paths that a match names, as written. With too many, or too long ones, the list is not whole and the
// caller refuses.
struct PathCandidates {
  std::vector<PathCandidate> list = {};
  bool too_many = false;
};
PathCandidates path_candidates(const ShapeMatch& match, const std::vector<std::string>& argv);

// The longest that a passive command takes: it only reads, and what it opens may be a pipe that never ends.
inline constexpr uint64_t passive_wall_ms = 2ULL * 60 * 1000;

// What runs: the argv with the shape's hardening. `workspace` is absolute.
Launch launch_of(const ShapeMatch& match, const std::vector<std::string>& argv, const std::string& workspace);

}  // namespace cloche
