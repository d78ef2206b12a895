// Who commits. git looks for user.name and user.email in the configuration of the caller's home, which no
// command sees; so these two are read out of it and given to commands in a configuration of ours. It stands
// where git looks first, and what a repository or the command itself says comes later and counts. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "model/facts.hpp"

namespace cloche {

inline constexpr size_t max_identity_bytes = 256;  // of a name or an address
// Where commands find it, and how git is told.
inline constexpr std::string_view identity_file = "/etc/cloche-gitconfig";
inline constexpr std::string_view identity_variable = "GIT_CONFIG_SYSTEM";

// As git reads it, but for what it includes from elsewhere: the last of several counts. What is too long, is
// no UTF-8 or has characters that do not print is not taken.
GitIdentity identity_in(std::string_view git_config);
// The first, and of the second what it lacks.
GitIdentity completed(GitIdentity first, const GitIdentity& second);

inline bool is_known(const GitIdentity& identity) {
  return !identity.name.empty() || !identity.email.empty();
}

// Whether git inside sees the owner of the project's files as git outside does. If not, each takes the
// other's index for stale, reads every file again, and writes the index anew.
enum class Owners { as_outside, others };

// The host's own configuration, which ours takes the place of, and on top of it the identity and what git is
// to leave out when it compares files with its index.
std::string identity_config(const GitIdentity& identity, Owners owners);

}  // namespace cloche
