// The self-proof: before a shape of plan is used for the first time on this boot, a probe goes through the
// same path as any command and shows that what is configured is enforced. The result is kept, 0600, and
// records name its digest.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "confine/launch.hpp"

namespace cloche {

struct Proof {
  std::string digest;  // "sha256:..." of the probe's report
  std::string report;
  std::map<LayerId, std::string> by_layer;  // the checks behind each layer
};

// Names what a proof is good for: this boot, these programs, this shape of plan.
Result<std::string> proof_key(const ConfinementPlan& plan, const LaunchSpec& spec, const std::string& jail,
                              const std::string& probe);

// The plan under which the probe runs: the given one, with the probe and one file that only Landlock denies
// added.
// `hold_ms` is how long the probe holds its memory for the one that counts it.
// Without a box the probe is where it is.
Result<ConfinementPlan> proof_plan(const ConfinementPlan& plan, const std::string& probe, unsigned hold_ms,
                                   Backend backend = Backend::native);

// What this process's own namespaces are called, to compare with the probe's.
std::map<std::string, std::string> own_namespaces();

// What of it a backend is held to.
struct ProofTerms {
  Backend backend = Backend::native;
  std::vector<LayerId> layers = {};  // those it offers
  bool sys_is_shown = false;         // by the plan itself, so that its absence is not checked
};

// Whether the view has what the probe looks for in /sys.
bool shows_sys(const ConfinementPlan& plan);

// Every check of these layers must be there and hold; the first that does not is the error, by its layer's
// name. `memory_seen_bytes` is what was counted while the probe held memory.
Result<Proof> judge_proof(const std::string& report, const std::map<std::string, std::string>& outside,
                          const Limits& limits, uint64_t memory_seen_bytes, const ProofTerms& terms);

Result<Proof> load_proof(const std::string& state, const std::string& key);
// Nothing when it cannot be kept: the next call proves anew.
void store_proof(const std::string& state, const std::string& key, const Proof& proof);

}  // namespace cloche
