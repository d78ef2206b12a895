#include "gateway/run.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/directory.hpp"
#include "base/path.hpp"
#include "base/sys.hpp"
#include "confine/cut_short.hpp"
#include "confine/mount_points.hpp"
#include "confine/probe.hpp"
#include "egress/gate.hpp"
#include "gateway/not_found.hpp"
#include "gateway/protected_look.hpp"
#include "gateway/seat.hpp"
#include "policy/plan_run.hpp"
#include "store/config_paths.hpp"
#include "store/leftovers.hpp"
#include "store/share_place.hpp"

namespace cloche {
namespace {

// Where the caller's settings say, unless somebody else could change what lies there: root with another
// user's HOME (sudo may keep it) would then make files where that user wants them.
Result<void> find_state(const Environment& environment, Installation& installation) {
  const std::string given = TRY(directory_in(environment, "XDG_STATE_HOME"));
  const std::string home = environment.get("HOME");
  std::string state;
  if (!given.empty()) {
    state = given + "/cloche";
  } else if (is_plain_absolute(home) && home != "/" && ::access(home.c_str(), F_OK) == 0) {
    state = home + "/.local/state/cloche";  // a home that is not there is not made
  }
  if (state.empty()) {
    installation.no_state = "neither XDG_STATE_HOME nor HOME names a directory";
    return {};
  }
  // What cannot be there is nobody else's: a mistake of the caller's, and no reason to keep it elsewhere.
  struct stat seen {};
  if (::lstat(state.c_str(), &seen) != 0 && errno == ENOTDIR) {
    installation.no_state = state + " cannot be made, because something on the way to it is no directory";
    return {};
  }
  const std::string foreign = foreign_part(state);
  if (foreign.empty()) {
    installation.state = state;
  } else if (::geteuid() == 0 && is_ours_alone("/run/cloche")) {
    installation.state = "/run/cloche/state";  // root in the home of another
  } else {
    installation.no_state = state + " cannot be trusted, because somebody else could change " + foreign;
  }
  return {};
}

// CLOCHE_UID_RANGE=FIRST:COUNT, for hosts on which the standard range is taken.
Result<IdRange> id_range(const Environment& environment) {
  IdRange ids;
  const std::string text = environment.get("CLOCHE_UID_RANGE");
  if (text.empty()) return ids;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, ids.first);
  const bool colon = first.ec == std::errc{} && first.ptr < end && *first.ptr == ':';
  const auto count = std::from_chars(colon ? first.ptr + 1 : end, end, ids.count);
  if (!colon || count.ec != std::errc{} || count.ptr != end || ids.first < 65'536 || ids.count == 0 ||
      uint64_t{ids.first} + ids.count > 0x7fffffffU) {
    return refusal("CLOCHE_UID_RANGE=" + text + " is not FIRST:COUNT with ids from 65536 to 2147483646");
  }
  return ids;
}

SeatBox box_of(const ConfinementPlan& plan) { return {plan.backend, plan.network}; }

// What the host shows of why it was refused is better advice than what it might have been.
Result<Outcome> explained(Result<Outcome> ended) {
  if (ended.ok()) return ended;
  return with_cause_seen(ended.take_error());
}

// Through the same steps as the command that follows.
Result<Proof> prove_once(Backend backend, const ConfinementPlan& plan, const CallerFact& caller,
                         const HostProbe& probe, const Installation& installation, unsigned hold_ms) {
  const ConfinementPlan tried = TRY(proof_plan(plan, installation.probe, hold_ms, backend));
  Seat seat = TRY(Seat::take(caller, tried.limits, installation, {backend, tried.network}));
  const LaunchSpec spec = TRY(seat.render(tried, probe, installation));
  const Outcome outcome =
      TRY(explained(supervise(seat.jail(), spec.as_run.value_or(tried), spec, seat.cgroup(), Streams{})));
  if (was_cut_short(outcome)) return cut_short_error("the self-proof did not finish: " + outcome.reason);
  if (outcome.end != End::exited || outcome.exit_code != 0) {
    return Error{Cause::internal, "the self-proof did not finish: " + outcome.reason, 0,
                 "run it again; if that stays, install Cloche anew: its programs belong together"};
  }
  ProofTerms terms{.backend = backend, .sys_is_shown = shows_sys(plan)};
  for (const auto& layer : spec.layers) terms.layers.push_back(layer.id);
  return judge_proof(outcome.output, own_namespaces(), tried.limits,
                     outcome.usage.memory_peak_bytes.value_or(0), terms);
}

// On a busy machine a watched total may be taken too late to see what the probe held for a moment: then it
// holds longer.
Result<Proof> prove(Backend backend, const ConfinementPlan& plan, const CallerFact& caller,
                    const HostProbe& probe, const Installation& installation) {
  for (unsigned hold_ms : {25U, 200U}) {
    auto proof = prove_once(backend, plan, caller, probe, installation, hold_ms);
    if (proof.ok() || proof.error().layer != LayerId::memory_limit) return proof;
  }
  return prove_once(backend, plan, caller, probe, installation, 1000);
}

Result<Proof> proof_for(const ConfinementPlan& plan, const LaunchSpec& spec, const CallerFact& caller,
                        const HostProbe& probe, const Installation& installation, Proving proving) {
  if (spec.backend == Backend::none) return Proof{};  // nothing is promised
  const std::string key = TRY(proof_key(plan, spec, installation.jail, installation.probe));
  if (proving == Proving::when_needed) {
    if (auto kept = load_proof(installation.state, key); kept.ok()) return kept;
  }
  Proof proof = TRY(prove(spec.backend, plan, caller, probe, installation));
  store_proof(installation.state, key, proof);
  clear_leftovers(installation.state);  // now and then, and here it costs nothing that is felt
  return proof;
}

Result<Ran> run_seated(Seat& seat, const ConfinementPlan& plan, const CallerFact& caller,
                       const HostProbe& probe, const Installation& installation, const Streams& streams,
                       Proving proving) {
  const LaunchSpec spec = TRY(seat.render(plan, probe, installation));
  Proof proof = TRY(proof_for(plan, spec, caller, probe, installation, proving));
  std::optional<EgressGate> gate;
  if (!plan.hosts.empty()) gate.emplace(seat.egress_start(plan, installation), plan);
  Outcome outcome = TRY(explained(supervise(seat.jail(), spec.as_run.value_or(plan), spec, seat.cgroup(),
                                            streams, gate ? &*gate : nullptr)));
  outcome.proof = proof.digest;
  return Ran{plan, std::move(outcome), std::move(proof)};
}

// A clone without the host's mounts below it is EINVAL to an ordinary user: the kernel uncovers nothing for
// him.
bool refused_for_mounts_below(const Error& error, const CallerFact& caller) {
  return error.number == EINVAL && !caller.privileged && error.step == FailedStep::clone_source;
}

// The view could not be built, so nothing was started.
bool is_about_a_mount(const Error& error) {
  return error.layer == LayerId::mount_view || error.step == FailedStep::clone_source ||
         error.step == FailedStep::place_mount;
}

struct Host {
  const HostProbe& probe;
  const Installation& installation;
};

struct Manner {
  Proving proving;
  const Replan& replan;
};

// Runs it, once more with the host's mounts covered where they come along with the operator's trees.
Result<Ran> run_covered(std::optional<Seat> seat, const ConfinementPlan& plan, Observation& seen,
                        const Host& host, const Streams& streams, const Manner& manner) {
  const CallerFact& caller = seen.facts.caller;
  auto ran = run_seated(*seat, plan, caller, host.probe, host.installation, streams, manner.proving);
  if (!ran.ok() && refused_for_mounts_below(ran.error(), caller)) {
    TRY(observe_mounts_below(seen.facts));
    const ConfinementPlan covered = TRY(manner.replan(seen.facts));
    seat.emplace(TRY(Seat::take(caller, plan.limits, host.installation, box_of(plan))));
    ran = run_seated(*seat, covered, caller, host.probe, host.installation, streams, manner.proving);
  }
  if (!ran.ok() && ran.error().cause == Cause::system && is_about_a_mount(ran.error())) {
    // Where a place is missing, that says more than the step that met it.
    if (auto places = check_mount_points(plan); !places.ok()) ran = places.take_error();
  }
  if (ran.ok() && ran.value().outcome.end == End::not_found) {
    if (auto found = why_not_found(ran.value().plan, caller.path); !found.why.empty()) {
      ran.value().outcome.reason = std::move(found.why);
      ran.value().outcome.advice = std::move(found.advice);
    }
  }
  return ran;
}

// Runs it, again where a member of the protected set that was to be a mount is not there any more: another
// call in the tree had made it, or put it back, and has taken it away since. Nothing was started then.
Result<Ran> run_among_others(std::optional<Seat> seat, ConfinementPlan plan, Observation& seen,
                             const Host& host, const Streams& streams, const Manner& manner,
                             const ProtectedLook& look) {
  constexpr int most_tries = 8;
  constexpr int tries_with_all = 2;
  for (int tries = 1;; ++tries) {
    auto ran = run_covered(std::move(seat), plan, seen, host, streams, manner);
    if (ran.ok() || tries == most_tries || !is_about_a_mount(ran.error()) ||
        !has_lost_a_member(seen.facts.guard))
      return ran;
    TRY(observe_protected_again(seen));
    // Where it goes on like that, without those that others may take away: they are looked at afterwards.
    if (tries > tries_with_all) look.let_go_of_doubtful(seen.facts.guard);
    plan = TRY(manner.replan(seen.facts));
    seat.emplace(TRY(Seat::take(seen.facts.caller, plan.limits, host.installation, box_of(plan))));
  }
}

// Before there is a plan: what it will require.
ConfinementPlan required_for(const RunRequest& request) {
  ConfinementPlan plan;
  plan.rung = request.rung;
  plan.required = required_of(request);
  plan.network = request.network;
  if (backend_of(request) == Backend::none) plan.required.clear();
  return plan;
}

// What was made up for is not as it was observed, and the plan is then made again.
Result<ProtectedLook> begin_look(
    Observation& seen, const std::string& state, const Replan& replan, ConfinementPlan& plan,
    ProtectedLook::Afterwards afterwards = ProtectedLook::Afterwards::somebody_comes) {
  ProtectedLook look = TRY(ProtectedLook::begin(seen, state, afterwards));
  if (!look.has_made_up()) return look;
  TRY(observe_protected_again(seen));
  look.learn(seen.facts.guard);
  plan = TRY(replan(seen.facts));
  return look;
}

// The result is nobody's before the tree was looked at. A command that was not started has left nothing; but
// whether it was is not ours to guess, so it is looked all the same.
Result<Ran> after_look(Result<Ran> ran, ProtectedLook& look, const GuardFacts& guard) {
  ProtectedLook::Found found = look.finish(guard);
  if (ran.ok()) {
    ran.value().outcome.quarantined = std::move(found.quarantined);
    ran.value().outcome.restored = std::move(found.restored);
    if (!found.gap.empty()) distrust(ran.value().outcome, std::move(found.gap));
    return ran;
  }
  Error error = ran.take_error();
  for (const auto& taken : found.quarantined) error.what += "; quarantined: " + taken.path;
  for (const auto& path : found.restored) error.what += "; put back: " + path;
  if (!found.gap.empty()) error.what += "; and the look for protected files was not complete: " + found.gap;
  return error;
}

}  // namespace

std::vector<std::string> Installation::parts() const {
  return {std::string(parent_of(jail)), share_beside(jail)};
}

OwnPlaces Installation::places(const Environment& environment) const {
  OwnPlaces own{.state = state, .parts = parts()};
  const std::string folder(parent_of(jail));
  for (const auto& program : {jail, probe, egress, fetch, folder + "/cloche", folder + "/cloche-full"}) {
    own.parts.push_back(program);
    own.trusted.push_back(program);
  }
  own.trusted.push_back(share_beside(jail));
  std::vector<std::string> directories = {std::string(parent_of(managed_config))};
  // What cannot be a place is refused by who reads it.
  if (const auto users = user_config_folder(environment); users.ok()) directories.push_back(users.value());
  for (const auto& directory : directories) {
    own.trusted.push_back(directory);
    // In that order: the others count where they are links that lead out of it.
    const std::string commands = directory + "/commands";
    for (const auto& place : {directory, directory + "/config.json", commands})
      own.configuration.push_back(place);
    for (auto& link : links_in(commands)) own.configuration.push_back(std::move(link));
  }
  return own;
}

Result<Installation> find_installation(const Environment& environment, const std::string& programs) {
  Installation installation;
  const std::string folder(programs.empty() ? parent_of(TRY(sys::read_link("/proc/self/exe"))) : programs);
  installation.jail = folder + "/cloche-jail";
  installation.probe = folder + "/cloche-probe";
  installation.egress = folder + "/cloche-egress";
  installation.fetch = folder + "/cloche-fetch";
  TRY(find_state(environment, installation));
  installation.ids = TRY(id_range(environment));
  return installation;
}

std::vector<Denial> left_out_of(const RunRequest& request) {
  std::vector<Denial> denials;
  for (const auto& name : secrets_left_out(request)) {
    denials.push_back({GateId::env, name + " is left out: it looks like a secret; -e " + name +
                                        "=VALUE gives it knowingly"});
  }
  return denials;
}

Result<void> judge_caller(const RunRequest& request, const CallerFact& caller) {
  const auto judged = judge_own_id(caller, request.rung);
  if (judged.ok()) return {};
  const auto missing = missing_layers(required_for(request), probe_host());
  if (!missing.empty()) return describe_missing(missing);
  Error error = judged.error();
  // An ordinary user would meet the same.
  const std::string also = fix_for_user_namespaces(user_namespace_switches());
  if (!also.empty()) error.fix = "give root these capabilities, or, for an ordinary user: " + also;
  return error;
}

Result<CallerFact> caller_of(const RunRequest& request, const Environment& environment,
                             const Installation& installation) {
  CallerFact caller = observe_caller(request, environment, installation.ids);
  TRY(judge_caller(request, caller));
  return caller;
}

Result<ConfinementPlan> plan_only(const RunRequest& request, const Environment& environment,
                                  const Installation& installation) {
  auto caller = TRY(caller_of(request, environment, installation));
  Observation seen = TRY(observe(request, environment, std::move(caller), installation.places(environment)));
  TRY(judge_workspace(seen.facts.workspace, seen.facts.caller.home));
  TRY(observe_protected(request, seen));
  return plan_run(request, seen.facts);
}

Result<Ran> run(const RunRequest& request, const Environment& environment, const Installation& installation,
                const Streams& streams, Proving proving) {
  CallerFact caller = TRY(caller_of(request, environment, installation));
  // Now, because the kernel needs as long for the namespaces as we need for everything below. A jail without
  // a plan can do nothing, and ends when we return without giving it one.
  std::optional<Seat> seat =
      TRY(Seat::take(caller, request.limits, installation, {backend_of(request), request.network}));
  const HostProbe probe = probe_host();
  if (const auto missing = missing_layers(required_for(request), probe); !missing.empty())
    return describe_missing(missing);
  Observation seen = TRY(observe(request, environment, std::move(caller), installation.places(environment)));
  TRY(judge_workspace(seen.facts.workspace, seen.facts.caller.home));
  TRY(observe_protected(request, seen));
  const Replan replan = [&](const Facts& facts) { return plan_run(request, facts); };
  // Before anything is made: it may refuse the state directory.
  ConfinementPlan plan = TRY(replan(seen.facts));
  using Afterwards = ProtectedLook::Afterwards;
  const auto afterwards = request.workspace_goes ? Afterwards::nobody_comes : Afterwards::somebody_comes;
  ProtectedLook look = TRY(begin_look(seen, installation.state, replan, plan, afterwards));
  auto ran = run_among_others(std::move(seat), std::move(plan), seen, Host{probe, installation}, streams,
                              {proving, replan}, look);
  ran = after_look(std::move(ran), look, seen.facts.guard);
  if (ran.ok()) {
    for (auto& denial : left_out_of(request)) ran.value().outcome.denials.push_back(std::move(denial));
  }
  return ran;
}

Result<void> prove_planned(const ConfinementPlan& plan, const CallerFact& caller,
                           const Installation& installation) {
  Seat seat = TRY(Seat::take(caller, plan.limits, installation, box_of(plan)));
  const HostProbe probe = probe_host();
  if (const auto missing = missing_layers(plan, probe); !missing.empty()) return describe_missing(missing);
  const LaunchSpec spec = TRY(seat.render(plan, probe, installation));
  TRY(proof_for(plan, spec, caller, probe, installation, Proving::when_needed));
  return {};
}

Result<Ran> run_planned(const ConfinementPlan& plan, Observation& seen, const Installation& installation,
                        const Streams& streams, const Replan& replan) {
  std::optional<Seat> seat = TRY(Seat::take(seen.facts.caller, plan.limits, installation, box_of(plan)));
  const HostProbe probe = probe_host();
  if (const auto missing = missing_layers(plan, probe); !missing.empty()) return describe_missing(missing);
  ConfinementPlan current = plan;
  ProtectedLook look = TRY(begin_look(seen, installation.state, replan, current));
  auto ran = run_among_others(std::move(seat), std::move(current), seen, Host{probe, installation}, streams,
                              {Proving::when_needed, replan}, look);
  return after_look(std::move(ran), look,
                    seen.facts.guard);  // a statement of its own: the seat is gone by now
}

}  // namespace cloche
