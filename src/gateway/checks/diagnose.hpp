// What this host can enforce, found out by running the self-proof through the same path as any command.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/sys/environment.hpp"
#include "confine/boxes/choose.hpp"
#include "gateway/configuration/installation.hpp"
#include "gateway/session.hpp"

namespace cloche {

struct LayerHealth {
  LayerId id = LayerId::user_ids;
  bool enforced = false;
  bool tried = true;  // not all are, once one is missing
  std::string by;     // the mechanism
  std::string proof;  // the checks that held
  std::string fix;    // what would provide it
};

struct BackendHealth {
  Backend backend = Backend::native;
  Offer offer = {};
};

// A sandbox profile that no command can have here.
struct ProfileFault {
  std::string name;
  std::string why;
};

struct Diagnosis {
  bool active = false;  // every layer of the default level holds
  std::string problem;  // one sentence, when it is not
  std::string proof;    // digest of the proof
  std::vector<LayerHealth> layers;
  std::string bwrap;  // its path; empty: not installed
  bool disabled_via_env = false;
  std::vector<BackendHealth> backends = {};  // each tried out
  std::optional<Backend> in_force = {};      // what a command gets; none: it is refused
  std::vector<std::string> notes = {};       // less than the default, and why
  std::string misconfiguration = {};  // why every call is refused whatever the host can do; empty: it is not
  std::vector<ProfileFault> profile_faults = {};
  std::vector<std::string> pools = {};      // of servers that run now, each in one sentence
  std::optional<uint64_t> overshoot_bytes;  // of a watched memory limit, the worst of a few tries
};

Diagnosis diagnose(const Environment& environment, const Installation& found);

// What refuses every call before it is looked at: for `cloche config` and `cloche doctor`, which run none.
// Nothing is made.

// As calls with these words would be, in their workspace.
Result<void> judge_loading(const SessionOptions& options, const Environment& environment);

// Whether calls that are made from here would have this directory for a workspace; no operator has the home
// or a system directory for one.
bool may_be_workspace(const std::string& path, const Environment& environment);

// Whatever the workspace. Empty: the configuration can be taken.
std::string misconfiguration(const Environment& environment, const Installation& installation);

}  // namespace cloche
