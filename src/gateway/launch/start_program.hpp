// From what may be started to how it went: resources, self-proof, the jail and its supervisor. Nothing is
// looked up again for it, and nothing is planned: where the world is no longer what the plan was made from,
// nothing is started, and the caller is told what to look at before it judges again.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "confine/native/proof.hpp"
#include "confine/startable.hpp"
#include "confine/supervise/supervisor.hpp"
#include "gateway/configuration/installation.hpp"
#include "gateway/launch/launch_pool.hpp"
#include "gateway/launch/launch_resources.hpp"
#include "gateway/launch/warm_boxes.hpp"
#include "model/facts.hpp"
#include "store/layers/call_layers.hpp"

namespace cloche {

// The self-proof is taken from the state directory when this boot has one for this shape of plan, or run
// first.
enum class Proving { when_needed, always };

struct StartOptions {
  const Installation& installation;
  const Streams& streams;
  std::string quarantine = {};  // where what it made of the protected set is put; empty: in Cloche's state
  std::span<const ExecutedFile> approved = {};  // put into its layers, where it has some
  std::string task = {};  // what is staged of it the command sees and writes to; empty: it is of no task
  Proving proving = Proving::when_needed;
  std::optional<LaunchResources> resources =
      {};                      // started before there was a plan; taken where it fits the plan
  LaunchPool* pool = nullptr;  // of those that are prepared; none: each call starts its own
  WarmBoxes* warm = nullptr;   // where a call may find its interpreter started
};

struct Ran {
  Outcome outcome = {};
  Proof proof = {};
  std::optional<CallLayers> layers = {};  // what it wrote, of a plan with layered trees
  // Every process of the call is gone but its keeper, which takes a moment to end. To wait for it is left to
  // the end of this, when there is nothing else to be done.
  std::unique_ptr<LaunchResources> resources = {};
};

// What the facts of a plan lacked, learnt by trying to start it.
struct Learnt {
  bool mounts_below = false;   // the host's mounts in the operator's trees come along and must be covered
  bool other_backend = false;  // the level's best one lacks a layer here: the others are tried
  int times = 0;               // how often a plan was void

  void add(const Learnt& more);
};

// The plan no longer fits the world. Nothing was started.
struct Voided {
  Error why;  // what the call ends with if it is not judged again
  Learnt learnt;
};

// How often a call is judged again before it is given up.
inline constexpr int most_judged_again = 8;

// `facts` are those that the plan was made from. An Error: it was not started.
Result<std::variant<Ran, Voided>> start_program(const Startable& what, const Facts& facts,
                                                StartOptions options);

// The self-proof alone, for a front end that has time before the first command and none during it. An Error:
// this host does not keep what the plan promises. With a pool also for a sandbox of that, which then has
// some.
Result<void> prove_plan(const ConfinementPlan& plan, const CallerFact& caller,
                        const Installation& installation, LaunchPool* pool = nullptr);

// What stands behind the layers of this spec: kept of this boot, or proven now.
Result<Proof> proof_for(const ConfinementPlan& plan, const LaunchSpec& spec, const CallerFact& caller,
                        const HostProbe& probe, const Installation& installation, Proving proving);

// What was learnt, applied to facts that were looked up again.
Result<void> apply(const Learnt& learnt, Facts& facts);

}  // namespace cloche
