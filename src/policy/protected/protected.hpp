// What a file tool may not write, by the path alone: the protected set
// (policy/protected/protected_names.hpp), all of .git, and in a workspace that holds them the parts of the
// running Cloche and what the configuration names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/protected/protected_names.hpp"

namespace cloche {

// The row of share/protected.json that this path is, or lies beneath, at any depth; nullptr: none.
const ProtectedName* find_protected(std::string_view path);

// A file or directory of this workspace that judges its calls; a command's view has it read-only.
struct ProtectedPart {
  std::string path;  // relative to the workspace
  std::string reason;
};
// The part that this path of the workspace is, or lies beneath; nullptr: none.
const ProtectedPart* find_part(const std::vector<ProtectedPart>& parts, std::string_view path);

// At the top of a project on another mount than the state directory, for the time of a commit: with the id of
// its change set behind it.
inline constexpr std::string_view commit_directory = ".cloche-commit-";

// Whether the path is in what Cloche keeps in a workspace for itself: the record in tool_calls/, the
// project's configuration in .cloche, and what a commit keeps. No tool reads these either.
bool is_cloches_own(std::string_view path);

}  // namespace cloche
