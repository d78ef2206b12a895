// From the hints of a capability to what is mounted, and the fine filter over it. Pure: paths are compared by
// their letters, so a caller that resolves links asks judge_shown_path() again about where they led.
//
// A hint is a path with globs: ~/notes/**, ./out/*.md, /srv/data. What is mounted is the part before the
// first component with a glob in it; what the path gate lets through is what the whole hint covers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace cloche {

// What paths mean on this host. All absolute and plain, with links resolved.
struct HostPaths {
  std::string home = {};
  std::string workspace = {};                   // empty: there is none, and ./ means nothing
  std::vector<std::string> own = {};            // Cloche's configuration and state
  std::vector<std::string> secret_grants = {};  // of the managed or the user's file; ~/ is the home
  std::vector<std::string> written = {};        // where else calls can write: no link there is followed out
};

// Why a hint is none, by its letters alone: "has .. in it". Empty: it may be one.
std::string problem_of_hint(std::string_view hint);

// The hint as an absolute pattern: ~ and ./ expanded, no empty or . component.
Result<std::string> expand_hint(std::string_view hint, const HostPaths& host);

// What of an absolute pattern is mounted.
std::string mount_part(std::string_view pattern);

// Whether a path of the host may be shown at all because a hint asked: not /, $HOME, what contains them, or
// /tmp; and the secret set only by grant.
Result<void> judge_shown_path(const std::string& path, const HostPaths& host);

// Besides: what may not be written to, system directories, and what the host executes later of a home, which
// needs a grant as well.
Result<void> judge_written_path(const std::string& path, const HostPaths& host);

// As judge_shown_path, for what was mounted as `declared` and turned out to be at `resolved` when every link
// was followed: a link in the workspace leads nowhere else, no matter who made it.
Result<void> judge_resolved(const std::string& declared, const std::string& resolved, const HostPaths& host);

// The secret that a path lies in or contains; empty: it meets none.
std::string secret_met(const std::string& path, const HostPaths& host);

// Whether an absolute pattern covers an absolute path. * and ? stay within a component, ** is any number of
// them, [abc], [a-z], [!a] and {a,b} as in a shell; a hint without a glob covers everything beneath it.
// Linear in the path whatever the pattern.
bool covers(std::string_view pattern, std::string_view path);

// Without those that are, or lie beneath, another of them.
std::vector<std::string> outermost(std::vector<std::string> paths);

}  // namespace cloche
