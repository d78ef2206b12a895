#include "gateway/launch/start_program.hpp"

#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "confine/boxes/host_mounts.hpp"
#include "confine/native/probe.hpp"
#include "confine/supervise/outcome_of_call.hpp"
#include "egress/gate.hpp"
#include "egress/published_listeners.hpp"
#include "gateway/changes/settle_changes.hpp"
#include "gateway/launch/caller.hpp"
#include "gateway/launch/live_places.hpp"
#include "gateway/launch/why_not_found.hpp"
#include "policy/plan/layered_trees.hpp"
#include "store/host/observe.hpp"
#include "store/record/prune.hpp"

namespace cloche {
namespace {

BoxResources box_of(const ConfinementPlan& plan) { return {plan.backend, plan.network}; }

// What the host shows of why it was refused is better advice than what it might have been.
Result<Outcome> explained(Result<Outcome> ended) {
  if (ended.ok()) return ended;
  return with_cause_seen(ended.take_error());
}

Result<std::optional<CallLayers>> layers_for(const ConfinementPlan& plan, const CallerFact& caller,
                                             const Installation& installation, const std::string& task = {}) {
  if (layered_trees(plan).empty()) return std::optional<CallLayers>();
  return std::optional<CallLayers>(TRY(CallLayers::make(plan, installation.state, caller.privileged, task)));
}

Result<LaunchResources> prepare_now(const ConfinementPlan& plan, const CallerFact& caller,
                                    const HostProbe& probe, const Installation& installation) {
  constexpr int longest_preparing_ms = 2000;
  LaunchResources resources = TRY(LaunchResources::prepare(plan, caller, probe, installation));
  if (resources.jail().readiness(longest_preparing_ms) == JailProcess::Readiness::ready) return resources;
  return Error{Cause::internal, "no sandbox can be prepared ahead here", 0, "leave the pool out: --pool 0"};
}

// Through the same steps as the command that follows.
Result<Proof> prove_once(const LaunchSpec& as, const ConfinementPlan& plan, const CallerFact& caller,
                         const HostProbe& probe, const Installation& installation, unsigned hold_ms) {
  const Backend backend = as.backend;
  const OwnProcess tried = TRY(self_proof(plan, installation.probe, hold_ms, backend));
  LaunchResources resources = as.pooled ? TRY(prepare_now(tried.plan(), caller, probe, installation))
                                        : TRY(LaunchResources::take(caller, tried.plan().limits, installation,
                                                                    {backend, tried.plan().network}));
  const auto layers = TRY(layers_for(tried.plan(), caller, installation));
  if (layers) resources.use(*layers);
  const LaunchSpec spec = TRY(resources.render(tried, probe, installation));
  const Outcome outcome =
      TRY(explained(supervise(resources.jail(), tried, spec, resources.cgroup(), Streams{})));
  if (was_interrupted(outcome)) return interrupted_error("the self-proof did not finish: " + outcome.reason);
  if (outcome.end != End::exited || outcome.exit_code != 0) {
    return Error{Cause::internal, "the self-proof did not finish: " + outcome.reason, 0,
                 "run it again; if that stays, install Cloche anew: its programs belong together"};
  }
  ProofTerms terms{.backend = backend, .sys_is_shown = shows_sys(plan)};
  for (const auto& layer : spec.layers) terms.layers.push_back(layer.id);
  return judge_proof(outcome.output, own_namespaces(), tried.plan().limits,
                     outcome.usage.memory_peak_bytes.value_or(0), terms);
}

// On a busy machine a watched total may be taken too late to see what the probe held for a moment: then it
// holds longer.
Result<Proof> prove(const LaunchSpec& as, const ConfinementPlan& plan, const CallerFact& caller,
                    const HostProbe& probe, const Installation& installation) {
  for (unsigned hold_ms : {25U, 200U}) {
    auto proof = prove_once(as, plan, caller, probe, installation, hold_ms);
    if (proof.ok() || proof.error().layer != LayerId::memory_limit) return proof;
  }
  return prove_once(as, plan, caller, probe, installation, 1000);
}

}  // namespace

Result<Proof> proof_for(const ConfinementPlan& plan, const LaunchSpec& spec, const CallerFact& caller,
                        const HostProbe& probe, const Installation& installation, Proving proving) {
  if (spec.backend == Backend::none) return Proof{};  // nothing is promised
  const std::string key = TRY(proof_key(plan, spec, installation.jail, installation.probe));
  if (proving == Proving::when_needed) {
    if (auto kept = load_proof(installation.state, key); kept.ok()) return kept;
  }
  Proof proof = TRY(prove(spec, plan, caller, probe, installation));
  store_proof(installation.state, key, proof);
  clear_leftovers(installation.state);  // now and then, and here it costs nothing that is felt
  return proof;
}

namespace {

// A prepared sandbox could not be used, and it is certain that nothing was started in it.
struct NotBegun {};

// Without a host it hears which names were looked up, and starts no process until one is.
Result<std::unique_ptr<EgressGate>> gate_for(const LaunchResources& resources, const ConfinementPlan& plan,
                                             const LaunchSpec& spec, const Installation& installation) {
  if (spec.jail.listeners.empty()) return std::unique_ptr<EgressGate>();
  return std::make_unique<EgressGate>(resources.egress_start(plan, installation), plan,
                                      TRY(listen_at(plan.published)));
}

// As run_once(), in a box that has its script already.
Result<Ran> run_warm(std::unique_ptr<WarmBox> box, const Startable& what, const StartOptions& options) {
  LaunchResources& resources = box->resources;
  auto gate = TRY(gate_for(resources, what.plan(), box->spec, options.installation));
  Outcome outcome = TRY(explained(
      supervise(resources.jail(), what, box->spec, resources.cgroup(), options.streams, gate.get())));
  outcome.proof = box->proof.digest;
  outcome.started = Started::warm;
  Ran ran{std::move(outcome), box->proof, {}, {}};
  options.warm->finish(std::move(box));
  return ran;
}

Result<std::variant<Ran, NotBegun>> run_in(LaunchResources resources, const Startable& what,
                                           const CallerFact& caller, const HostProbe& probe,
                                           const StartOptions& options) {
  using Ended = std::variant<Ran, NotBegun>;
  const ConfinementPlan& plan = what.plan();
  auto layers = TRY(layers_for(plan, caller, options.installation, options.task));
  if (layers) {
    TRY(layers->put_approved(options.approved));
    resources.use(*layers);
  }
  const LaunchSpec spec = TRY(resources.render(what, probe, options.installation));
  if (!resources.begins(spec)) {
    if (options.pool != nullptr) options.pool->give_back(std::move(resources));
    return Ended(NotBegun{});
  }
  Proof proof = TRY(proof_for(plan, spec, caller, probe, options.installation, options.proving));
  auto gate = TRY(gate_for(resources, plan, spec, options.installation));
  Streams streams = options.streams;
  // A server empties what ended calls have left when the answer is out: while this one starts, the two would
  // wait for the same file system.
  const bool later = layers && options.pool != nullptr && options.pool->tidy_later(layers->root());
  if (layers && !later) streams.meanwhile = [&layers] { clear_ended_layers(layers->root()); };
  auto ended = explained(supervise(resources.jail(), what, spec, resources.cgroup(), streams, gate.get()));
  if (!ended.ok() && resources.jail().never_began()) {
    if (options.pool != nullptr) options.pool->note_failed();
    return Ended(NotBegun{});
  }
  Outcome outcome = TRY(std::move(ended));
  outcome.proof = proof.digest;
  outcome.started = spec.pooled ? Started::pooled : Started::cold;
  for (const auto& port : plan.published) outcome.published.push_back(to_text(port));
  return Ended(Ran{std::move(outcome), std::move(proof), std::move(layers),
                   std::make_unique<LaunchResources>(std::move(resources))});
}

Result<Ran> run_once(LaunchResources resources, const Startable& what, const CallerFact& caller,
                     const HostProbe& probe, const StartOptions& options) {
  auto ended = TRY(run_in(std::move(resources), what, caller, probe, options));
  if (auto* ran = std::get_if<Ran>(&ended)) return std::move(*ran);
  const ConfinementPlan& plan = what.plan();
  LaunchResources own = TRY(LaunchResources::take(caller, plan.limits, options.installation, box_of(plan)));
  auto anew = TRY(run_in(std::move(own), what, caller, probe, options));
  return std::get<Ran>(std::move(anew));
}

// A clone or a layer without the host's mounts below it is EINVAL to an ordinary user: the kernel uncovers
// nothing for one.
bool refused_for_mounts_below(const Error& error, const CallerFact& caller) {
  return error.number == EINVAL && !caller.privileged &&
         (error.step == FailedStep::clone_source || error.step == FailedStep::mount_layer);
}

// The view could not be built, so nothing was started.
bool is_about_a_mount(const Error& error) {
  return error.layer == LayerId::mount_view || error.step == FailedStep::clone_source ||
         error.step == FailedStep::place_mount;
}

// The one that was taken before there was a plan, where it fits.
Result<LaunchResources> resources_for(const ConfinementPlan& plan, const CallerFact& caller,
                                      StartOptions& options) {
  if (options.resources && options.resources->fits(box_of(plan), plan.limits))
    return *std::exchange(options.resources, std::nullopt);
  if (options.pool != nullptr) {
    if (auto prepared = options.pool->take(plan, caller)) return *std::move(prepared);
  }
  return LaunchResources::take(caller, plan.limits, options.installation, box_of(plan));
}

void explain_not_found(Outcome& outcome, const ConfinementPlan& plan, const CallerFact& caller) {
  if (outcome.end != End::not_found) return;
  if (auto found = why_not_found(plan, caller.path); !found.why.empty()) {
    outcome.reason = std::move(found.why);
    outcome.advice = std::move(found.advice);
  }
}

// What must be known before this can be tried again; nothing: trying again would not help.
std::optional<Learnt> learn_from(const Error& error, const Facts& facts) {
  if (refused_for_mounts_below(error, facts.caller) && facts.mounts_below.empty())
    return Learnt{.mounts_below = true};
  return std::nullopt;
}

// Of its own for each call: a name that sorts by time.
std::string quarantine_for(const StartOptions& options) {
  const std::string& state = options.installation.state;
  if (!options.quarantine.empty() || state.empty()) return options.quarantine;
  return state + "/quarantine/" + std::to_string(::time(nullptr)) + "-" + std::to_string(::getpid());
}

}  // namespace

void Learnt::add(const Learnt& more) {
  mounts_below = mounts_below || more.mounts_below;
  other_backend = other_backend || more.other_backend;
  ++times;
}

Result<void> apply(const Learnt& learnt, Facts& facts) {
  if (learnt.mounts_below) TRY(observe_mounts_below(facts));
  return {};
}

Result<std::variant<Ran, Voided>> start_program(const Startable& what, const Facts& facts,
                                                StartOptions options) {
  using Ended = std::variant<Ran, Voided>;
  const bool could_be_warm = options.warm != nullptr && WarmBoxes::serves(what.plan());
  std::unique_ptr<WarmBox> box = could_be_warm ? options.warm->take(what) : nullptr;
  std::optional<LaunchResources> resources;
  HostProbe probe;
  if (!box) {
    resources.emplace(TRY(resources_for(what.plan(), facts.caller, options)));
    probe = probe_host();
    if (const auto missing = missing_layers(what.plan(), probe); !missing.empty())
      return describe_missing(missing);
  }
  // Before the mounts of a live call as well: what is finished later may take them away.
  if (!options.installation.state.empty()) finish_interrupted(options.installation.state, facts.guard.git);
  const LivePlaces live = TRY(LivePlaces::hold(facts, options.installation.state));
  auto ran = box ? run_warm(std::move(box), what, options)
                 : run_once(*std::move(resources), what, facts.caller, probe, options);
  if (could_be_warm) options.warm->want(what.plan(), facts.caller);
  if (ran.ok() && options.pool != nullptr && ran.value().resources)
    options.pool->expect(what.plan(), facts.caller, ran.value().resources->shape());
  // Whether the command was started is not ours to guess, so the places are looked at also after an error.
  LivePlaces::Taken taken = live.take_new(facts.guard, quarantine_for(options));
  if (!ran.ok()) {
    Error error = ran.take_error();
    if (auto learnt = learn_from(error, facts)) return Ended(Voided{std::move(error), *learnt});
    if (error.cause == Cause::system && is_about_a_mount(error)) {
      // Where a place is missing, that says more than the step that met it.
      if (auto places = check_mount_points(what.plan()); !places.ok()) error = places.take_error();
    }
    for (const auto& one : taken.quarantined) error.what += "; quarantined: " + one.path;
    if (!taken.gap.empty()) error.what += "; " + taken.gap;
    return error;
  }
  Outcome& outcome = ran.value().outcome;
  explain_not_found(outcome, what.plan(), facts.caller);
  outcome.quarantined = std::move(taken.quarantined);
  outcome.restored = std::move(taken.restored);
  if (!taken.gap.empty()) distrust(outcome, std::move(taken.gap));
  return Ended(std::move(ran).value());
}

Result<void> prove_plan(const ConfinementPlan& plan, const CallerFact& caller,
                        const Installation& installation, LaunchPool* pool) {
  LaunchResources resources = TRY(LaunchResources::take(caller, plan.limits, installation, box_of(plan)));
  const HostProbe probe = probe_host();
  if (const auto missing = missing_layers(plan, probe); !missing.empty()) return describe_missing(missing);
  // Rendered as a call with this plan would be, to know which proof it needs; what runs is the probe.
  const OwnProcess as_call(plan);
  const auto layers = TRY(layers_for(plan, caller, installation));
  if (layers) resources.use(*layers);
  LaunchSpec spec = TRY(resources.render(as_call, probe, installation));
  TRY(proof_for(plan, spec, caller, probe, installation, Proving::when_needed));
  if (pool == nullptr || spec.backend != Backend::native) return {};
  spec.pooled = true;
  TRY(proof_for(plan, spec, caller, probe, installation, Proving::when_needed));
  pool->expect(plan, caller);
  return {};
}

}  // namespace cloche
