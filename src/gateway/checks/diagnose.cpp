#include "gateway/checks/diagnose.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/sys/sys.hpp"
#include "gateway/checks/isolation_levels.hpp"
#include "gateway/checks/own_run.hpp"
#include "gateway/checks/profile_check.hpp"
#include "gateway/checks/scratch_workspace.hpp"
#include "gateway/configuration/configuration.hpp"
#include "policy/plan/plan_run.hpp"
#include "store/config/profile_files.hpp"
#include "store/config/skill_files.hpp"
#include "store/host/system_facts.hpp"

namespace cloche {
namespace {

Result<void> judge_everywhere(const Environment& environment, const Installation& installation) {
  const Configuration configuration = TRY(load_configuration(environment, installation, ""));
  TRY(load_command_shapes(environment, ""));
  std::vector<std::string> notes;
  RunRequest request;
  TRY(configure(request, configuration.settings, notes));
  const auto& executors = configuration.settings.executors_dir.value;
  if (executors) TRY(load_executors(*executors, {}));
  return {};
}

}  // namespace

bool may_be_workspace(const std::string& path, const Environment& environment) {
  const auto held = sys::hold(path);
  struct stat seen {};
  return held.ok() && ::fstat(held.value().fd.get(), &seen) == 0 &&
         judge_workspace(fact_from(seen, held.value().path), environment.get("HOME")).ok();
}

Result<void> judge_loading(const SessionOptions& options, const Environment& environment) {
  const Installation installation = TRY(find_installation(environment, options.programs));
  SessionOptions said = options;
  said.run.reset();  // nothing is made, so there may be none yet
  if (may_be_workspace(said.operators.workspace.value_or("."), environment))
    TRY(judge_state(installation.state, said.operators));
  TRY(load_session(std::move(said), environment));
  return {};
}

std::string misconfiguration(const Environment& environment, const Installation& installation) {
  const auto judged = judge_everywhere(environment, installation);
  return judged.ok() ? "" : describe(judged.error());
}

namespace {

std::string find_bwrap(const Environment& environment) {
  ConfinementPlan outside;
  outside.argv = {"bwrap"};
  outside.environment = {{"PATH", environment.get("PATH")}};
  for (const auto& place : program_candidates(outside)) {
    if (::access(place.c_str(), X_OK) == 0) return place;
  }
  return {};
}

std::vector<LayerHealth> healthy(const Ran& ran) {
  std::vector<LayerHealth> layers;
  for (const auto& layer : ran.outcome.layers) {
    LayerHealth health{.id = layer.id, .enforced = true, .by = layer.by, .proof = {}, .fix = {}};
    const auto checks = ran.proof.by_layer.find(layer.id);
    // Scoping is on when Landlock is; in namespaces of its own there is no process outside to try it on.
    health.proof = checks != ran.proof.by_layer.end() ? checks->second : "the kernel's word alone";
    layers.push_back(std::move(health));
  }
  return layers;
}

std::vector<LayerHealth> unhealthy(const Error& error) {
  std::vector<LayerHealth> layers;
  for (LayerId id : required_by(IsolationLevel::namespaces)) {
    LayerHealth health{.id = id, .by = {}, .proof = {}, .fix = {}};
    health.tried = error.layer == id;
    health.fix = health.tried ? error.fix.text() : "not tried: the proof did not get that far";
    layers.push_back(std::move(health));
  }
  return layers;
}

std::optional<uint64_t> worst_overshoot(const ScratchWorkspace& scratch, const Environment& environment,
                                        const Installation& installation) {
  std::optional<uint64_t> worst;
  for (int attempt = 0; attempt < 3; ++attempt) {
    RunRequest request = in_scratch(scratch, {installation.probe, "--take-memory"});
    request.grants.push_back({.source = installation.probe});
    request.limits.memory_bytes = 256ULL << 20;
    request.limits.wall_ms = 20'000;
    auto ran = run_own(request, environment, installation);
    if (!ran.ok() || ran.value().outcome.limit != LimitId::memory) continue;
    worst = std::max(worst.value_or(0), ran.value().outcome.usage.memory_overshoot_bytes.value_or(0));
  }
  return worst;
}

// A process with the operator's id has the operator's answers. Only the operator knows whether an agent has
// another one.
void look_at_approvers(Diagnosis& diagnosis, const RuleFiles& rules) {
  for (const auto* file : {&rules.managed, &rules.user}) {
    if (!*file) continue;
    for (const auto& rule : (*file)->rules()) {
      if (rule.approvers != Approvers::operator_alone) continue;
      diagnosis.notes.push_back(
          "approver: operator (" + rule.id + " " + file_line((*file)->source(), rule.line) +
          ") is advisory where an agent runs outside the sandbox under your own id, " +
          std::to_string(::geteuid()) + ": it could run `cloche approve` itself; run it under another id");
      return;
    }
  }
}

void look_at_rules(Diagnosis& diagnosis, const Configuration& configuration) {
  std::vector<ToolSpec> own;
  if (const auto& directory = configuration.settings.executors_dir.value) {
    const auto executors = load_executors(*directory, {});
    if (!executors.ok()) return;  // said as a misconfiguration
    for (const auto& executor : executors.value())
      own.push_back({.name = executor.name, .input_schema = executor.input_schema});
  }
  for (auto& sentence : rules_that_never_decide(configuration.rules, own))
    diagnosis.notes.push_back(std::move(sentence));
}

// The one candidate of a wish was chosen untried. No isolation at all always works.
bool works(const Diagnosis& diagnosis, Backend backend) {
  return std::none_of(diagnosis.backends.begin(), diagnosis.backends.end(),
                      [&](const BackendHealth& one) { return one.backend == backend && !one.offer.works; });
}

// What a command gets that asks for nothing must be there; of the other profiles each has its own word.
void look_at_profiles(Diagnosis& diagnosis, const Configuration& configuration,
                      const Environment& environment, const Installation& installation) {
  const Settings& settings = configuration.settings;
  const auto refused = [&](const SandboxProfile& profile) {
    const auto planned = plan_under(profile, settings, environment, installation);
    return planned.ok() ? std::string() : describe(planned.error());
  };
  for (const auto& profile : configuration.profiles) {
    if (profile.extends.empty()) continue;  // what comes with Cloche is the default's own proof
    if (std::string why = refused(profile); !why.empty())
      diagnosis.profile_faults.push_back({profile.name, std::move(why)});
  }
  const auto chosen = chosen_profile(settings, configuration.profiles, {"run_shell"});
  if (!chosen.ok() || shipped_profile(chosen.value().profile.name) || !diagnosis.misconfiguration.empty())
    return;
  if (const std::string why = refused(chosen.value().profile); !why.empty())
    diagnosis.misconfiguration = text_of(chosen.value().origin) + ": the profile " +
                                 chosen.value().profile.name + " cannot be had here: " + why;
}

// Of a directory that calls could be made from: its project has a word too.
std::string workspace_here(const Environment& environment) {
  const auto held = sys::hold(".");
  return held.ok() && may_be_workspace(".", environment) ? held.value().path : "";
}

// What a command gets that asks for nothing, as it is configured here.
void look_at_choice(Diagnosis& diagnosis, const Environment& environment, const Installation& installation) {
  IsolationLevels levels(environment, installation);
  const auto configured = load_configuration(environment, installation, workspace_here(environment));
  const auto switches = switches_of(environment);
  const Landlock landlock = configured.ok() && switches.ok()
                                ? landlock_wanted(configured.value().settings, switches.value())
                                : Landlock::required;
  for (Backend backend : all_backends) {
    if (backend != Backend::none)
      diagnosis.backends.push_back(
          {backend, levels.offer(backend, landlock, IsolationLevels::Looking::fresh)});
  }
  if (!configured.ok()) return;  // said as a misconfiguration
  look_at_profiles(diagnosis, configured.value(), environment, installation);
  look_at_approvers(diagnosis, configured.value().rules);
  look_at_rules(diagnosis, configured.value());
  RunRequest request;
  std::vector<std::string> ignored;
  const auto wish = wish_for(configured.value().settings, environment, FrontEnd::command_line);
  if (!wish.ok()) {
    diagnosis.notes.push_back(describe(wish.error()));
    return;
  }
  if (const auto fits = configure_command(request, configured.value(), ignored); !fits.ok()) return;
  auto choice = choose_backend(request, wish.value(), levels);
  if (!choice.ok()) return;
  if (works(diagnosis, choice.value().backend)) diagnosis.in_force = choice.value().backend;
  for (auto& note : choice.value().notes) diagnosis.notes.push_back(std::move(note));
}

// What would be stored in the workspace is stored nowhere: calls made from here are refused for it.
Installation keeping_nothing_here(Installation installation, const Environment& environment) {
  if (!may_be_workspace(".", environment)) return installation;
  if (const auto placed = judge_state(installation.state, RunRequest{}); !placed.ok()) {
    installation.state.clear();
    installation.no_state = placed.error().what.text();
  }
  return installation;
}

// What holds everywhere first; then what calls made from here would meet, where any can be.
std::string refused_here(const Environment& environment, const Installation& installation) {
  std::string everywhere = misconfiguration(environment, installation);
  if (everywhere.empty() && installation.state.empty())
    return "there is no state directory for what calls write: " + installation.no_state;
  if (!everywhere.empty() || !may_be_workspace(".", environment)) return everywhere;
  const auto judged = judge_loading(default_session(), environment);
  return judged.ok() ? "" : describe(judged.error());
}

}  // namespace

Diagnosis diagnose(const Environment& environment, const Installation& found) {
  const Installation installation = keeping_nothing_here(found, environment);
  Diagnosis diagnosis;
  diagnosis.misconfiguration = refused_here(environment, found);
  look_at_choice(diagnosis, environment, installation);
  diagnosis.bwrap = find_bwrap(environment);
  const auto switches = switches_of(environment);  // a value that means nothing is in the notes
  diagnosis.disabled_via_env = switches.ok() && switches.value().off;
  const ScratchWorkspace scratch("doctor", environment, installation.state);
  if (scratch.path().empty()) {
    diagnosis.problem = describe(scratch.why_not());
    return diagnosis;
  }
  auto ran = run_own(in_scratch(scratch, {"/bin/true"}), environment, installation, Proving::always);
  if (!ran.ok()) {
    const Error& error = ran.error();
    diagnosis.problem = describe(error);
    diagnosis.layers = unhealthy(error);
    return diagnosis;
  }
  diagnosis.active = ran.value().outcome.exit_code == 0;
  diagnosis.problem = ran.value().outcome.reason.text();
  diagnosis.proof = ran.value().outcome.proof;
  diagnosis.layers = healthy(ran.value());
  const bool watched = ran.value().outcome.usage.memory_overshoot_bytes.has_value();
  if (watched) diagnosis.overshoot_bytes = worst_overshoot(scratch, environment, installation);
  return diagnosis;
}

}  // namespace cloche
