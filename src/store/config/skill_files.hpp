// Reads skills and executors once, by descriptor, and finds out whether they are the operator's. What an
// agent could have written, or what came with a project, only tightens (Trust::project).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "model/skill.hpp"
#include "policy/authority/authority.hpp"

namespace cloche {

// Where a session may write, and the caller's home. All resolved.
struct SessionPlaces {
  std::string workspace = {};                    // empty: there is none
  std::vector<std::string> writable_roots = {};  // what else a call may write to
  std::string home = {};
};

// The operator's, when the file lies in no directory that calls can write to and in no project (no parent
// directory below the home has a .git or .cloche in it), was reached through no link in such a directory, has
// no second name, and only root and the caller could have written it.
Trust trust_of(const std::string& path, const SessionPlaces& places);

Result<Skill> load_skill(const std::string& path, const SessionPlaces& places);

Result<Executor> load_executor(const std::string& manifest, const SessionPlaces& places);

// DIR/manifest.json and DIR/*/manifest.json, by name. A bad one refuses all of them, so that no tool is
// silently missing.
Result<std::vector<Executor>> load_executors(const std::string& directory, const SessionPlaces& places);

// That the folder of an executor is still the one that was loaded: what was put there since was never judged.
Result<void> check_unchanged(const Executor& executor);

// Of the executor's code as it is now, in the folder that was loaded: approved_executors may name it.
Result<std::string> digest_of_code(const Executor& executor);

struct Settled {
  Authority authority;
  std::vector<OwnedFd> held;  // what was judged, held until it is shown
};

// Looks once at what the grants of an authority name. What is absent is left out with a note, and where links
// lead is judged again. A grant's source is then the resolved path, its target the declared one, and what was
// found goes with it: nothing looks it up by name again.
Result<Settled> settle_grants(Authority authority, const HostPaths& names);

// One of them; nothing when it does not exist.
Result<std::optional<Grant>> settle_grant(Grant grant, const HostPaths& names, std::vector<OwnedFd>& held);

}  // namespace cloche
