#include "gateway/run.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/path.hpp"
#include "base/sys.hpp"
#include "confine/outside_id.hpp"
#include "confine/probe.hpp"
#include "confine/proof.hpp"
#include "policy/plan_run.hpp"

namespace cloche {
namespace {

std::string state_directory(const Environment& environment) {
  const std::string given = environment.get("XDG_STATE_HOME");
  if (is_plain_absolute(given) && given != "/") return given + "/cloche";
  const std::string home = environment.get("HOME");
  return is_plain_absolute(home) && home != "/" ? home + "/.local/state/cloche" : std::string();
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

Error describe_missing(const std::vector<MissingLayer>& missing) {
  Error error{Fault::missing_layer, {}, 0, {}};
  for (const auto& layer : missing) {
    if (!error.what.empty()) error.what += "; ";
    error.what += "missing layer " + std::string(name_of(layer.id)) + ": " + layer.why;
    if (!error.fix.empty()) error.fix += "; ";
    error.fix += layer.fix;
  }
  return error;
}

struct Resources {
  CallResources described;
  std::optional<Cgroup> cgroup;
  OutsideId id;
};

Result<Resources> acquire(const CallerFact& caller, const Limits& limits, const Installation& installation) {
  Resources resources;
  resources.described.privileged = caller.privileged;
  resources.described.outside_uid = caller.uid;
  resources.described.outside_gid = caller.gid;
  if (caller.privileged) {
    resources.id = TRY(claim_outside_id(installation.ids.first, installation.ids.count));
    resources.described.outside_uid = resources.id.id;
    resources.described.outside_gid = resources.id.id;
  }
  std::string why;
  resources.cgroup = Cgroup::create(limits, why);
  resources.described.memory_by = resources.cgroup ? resources.cgroup->by() : "watched";
  if (resources.cgroup) resources.described.group_directories = resources.cgroup->directories();
  return resources;
}

// A clone without the host's mounts below it is EINVAL to an ordinary user: the kernel hides nothing it was told to show.
bool refused_for_mounts_below(const Error& error, const Prepared& prepared) {
  return error.number == EINVAL && !prepared.seen.facts.caller.privileged && prepared.seen.facts.mounts_below.empty() &&
         error.what.find(wire::name_of(wire::Step::clone_source)) != std::string::npos;
}

Result<Outcome> start(const ConfinementPlan& plan, const LaunchSpec& spec, const Resources& resources,
                      const Installation& installation, const Streams& streams) {
  Supervision supervision{.plan = plan, .spec = spec, .jail = installation.jail};
  supervision.cgroup = resources.cgroup ? &*resources.cgroup : nullptr;
  if (resources.id.lock) supervision.kept.push_back(resources.id.lock.get());
  auto outcome = supervise(supervision, streams);
  if (!outcome.ok() && resources.cgroup) resources.cgroup->remove();  // when there was no keeper to do it
  return outcome;
}

// Through the same resources, the same renderer and the same supervisor as the command that follows.
Result<Proof> prove(const Prepared& prepared, const HostProbe& probe, const Installation& installation) {
  const ConfinementPlan plan = TRY(proof_plan(prepared.plan, installation.probe));
  const Resources resources = TRY(acquire(prepared.seen.facts.caller, plan.limits, installation));
  const Outcome outcome = TRY(start(plan, render(plan, probe, resources.described), resources, installation, Streams{}));
  if (outcome.end != End::exited || outcome.exit_code != 0) {
    return Error{Fault::internal, "the self-proof did not finish: " + outcome.reason, 0, "see cloche doctor"};
  }
  return judge_proof(outcome.output, own_namespaces(), plan.limits, outcome.usage.memory_peak_bytes.value_or(0));
}

Result<Outcome> launch(const Prepared& prepared, const Installation& installation, const Streams& streams, Proving proving) {
  const HostProbe probe = probe_host();
  if (const auto missing = missing_layers(prepared.plan, probe); !missing.empty()) return describe_missing(missing);
  const Resources resources = TRY(acquire(prepared.seen.facts.caller, prepared.plan.limits, installation));
  const LaunchSpec spec = render(prepared.plan, probe, resources.described);
  const std::string key = TRY(proof_key(prepared.plan, spec, installation.jail, installation.probe));
  auto proof = proving == Proving::when_needed ? load_proof(installation.state, key) : system_error("skip", ENOENT);
  if (!proof.ok()) {
    proof = prove(prepared, probe, installation);
    if (!proof.ok()) {
      if (resources.cgroup) resources.cgroup->remove();
      return proof.take_error();
    }
    store_proof(installation.state, key, proof.value());
  }
  Outcome outcome = TRY(start(prepared.plan, spec, resources, installation, streams));
  outcome.proof = proof.value().digest;
  return outcome;
}

// For a program that is not in the view: whether the host has it, and the flag that would show it.
void explain_not_found(Outcome& outcome, const Prepared& prepared) {
  const std::string& name = prepared.plan.argv.front();
  std::vector<std::string> places = {name};
  if (name.find('/') == std::string::npos) {
    ConfinementPlan callers;
    callers.argv = {name};
    callers.environment = {{"PATH", prepared.seen.facts.caller.path}};
    places = program_candidates(callers);
  }
  for (const auto& place : places) {
    if (place.empty() || place[0] != '/' || ::access(place.c_str(), F_OK) != 0) continue;
    const bool shown = std::any_of(prepared.plan.view.begin(), prepared.plan.view.end(), [&](const ViewEntry& entry) {
      return entry.kind == EntryKind::tree && is_beneath(entry.target, place) && entry.access != Access::none;
    });
    outcome.reason = shown ? name + ": found inside as " + place + ", but its interpreter is not"
                           : name + ": exists on the host as " + place + " and is not in the sandbox's view; show it with --ro " +
                                 std::string(parent_of(place));
    return;
  }
}

}  // namespace

Result<Installation> find_installation(const Environment& environment) {
  Installation installation;
  auto self = sys::open("/proc/self/exe", O_PATH);
  if (!self.ok()) return self.take_error();
  const std::string folder(parent_of(TRY(sys::path_of(self.value().get()))));
  installation.jail = folder + "/cloche-jail";
  installation.probe = folder + "/cloche-probe";
  installation.state = state_directory(environment);
  installation.ids = TRY(id_range(environment));
  return installation;
}

Result<Prepared> prepare(const RunRequest& request, const Environment& environment, const Installation& installation) {
  Observation seen = TRY(observe(request, environment, installation.ids));
  ConfinementPlan plan = TRY(plan_run(request, seen.facts));
  return Prepared{request, std::move(seen), std::move(plan)};
}

Result<Outcome> execute(Prepared& prepared, const Installation& installation, const Streams& streams, Proving proving) {
  auto outcome = launch(prepared, installation, streams, proving);
  if (!outcome.ok() && refused_for_mounts_below(outcome.error(), prepared)) {
    TRY(observe_mounts_below(prepared.seen.facts));
    prepared.plan = TRY(plan_run(prepared.request, prepared.seen.facts));
    outcome = launch(prepared, installation, streams, proving);
  }
  if (outcome.ok() && outcome.value().end == End::not_found) explain_not_found(outcome.value(), prepared);
  return outcome;
}

}  // namespace cloche
