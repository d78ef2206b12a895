// Reads skills and executors once, by descriptor, and finds out whose word they are. What an agent could have
// written, or what came with a project, only tightens (Trust::project).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "model/skill.hpp"
#include "policy/authority/authority.hpp"

namespace cloche {

// Where a session may write, and where it is at home. All resolved.
struct SessionPlaces {
  std::string workspace = {};                    // empty: there is none
  std::vector<std::string> writable_roots = {};  // what else a call may write to
  std::string home = {};
};

// The operator's, when the file lies in no writable place and in no project (no parent directory short of the
// home has a .git or .cloche in it), was reached through no link in one, has no second name, and nobody but
// root and we could have written it.
Trust trust_of(const std::string& path, const SessionPlaces& places);

Result<Skill> load_skill(const std::string& path, const SessionPlaces& places);

Result<Executor> load_executor(const std::string& manifest, const SessionPlaces& places);

// DIR/manifest.json and DIR/*/manifest.json, by name. One that is bad refuses all of them: a tool that is
// silently missing would be looked for elsewhere.
Result<std::vector<Executor>> load_executors(const std::string& directory, const SessionPlaces& places);

// That the folder of an executor is still the one that was loaded: what was put in its place was never
// judged.
Result<void> check_unchanged(const Executor& executor);

// Of the file that is its code, in the folder that was loaded, as it is now: what approved_executors may
// name.
Result<std::string> digest_of_code(const Executor& executor);

struct Settled {
  Authority authority;
  std::vector<OwnedFd> held;  // what was judged, for as long as it is to be what is shown
};

// The one look at what the grants of an authority name: what is absent is left out with a note, and where
// links lead is judged again. A grant's source is then the resolved path, its target the declared one, and
// what was found goes with it: nothing looks it up by name again.
Result<Settled> settle_grants(Authority authority, const HostNames& names);

// One of them: nothing when it is not there.
Result<std::optional<Grant>> settle_grant(Grant grant, const HostNames& names, std::vector<OwnedFd>& held);

}  // namespace cloche
