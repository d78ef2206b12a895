#include "gateway/explain.hpp"

#include "gateway/file_gates.hpp"
#include "gateway/judge.hpp"
#include "policy/plan_run.hpp"

namespace cloche {
namespace {

Result<Facts> observe_for(const RunRequest& request, const Environment& environment,
                          const Installation& installation, HostMounts mounts) {
  auto caller = TRY(caller_of(request, environment, installation));
  Observation seen = TRY(observe(request, environment, std::move(caller), installation.places(environment)));
  TRY(judge_workspace(seen.facts.workspace, seen.facts.caller.home));
  if (mounts == HostMounts::covered) TRY(observe_mounts_below(seen.facts));
  TRY(observe_protected(request, seen));
  return std::move(seen.facts);
}

std::string reach_of(const RunRequest& request) {
  if (request.network == Network::of_host)
    return "the operator gives it the host's whole network (--net-host)";
  return request.hosts.empty() ? "" : "it may reach what is declared (" + declared_for(request) + ")";
}

// Its flags are the answer to what autonomy would ask; they are none to readonly, which has no network.
void take_reach(Case& c, const RunRequest& request, const Setting<Autonomy>& level) {
  c.reach = reach_of(request);
  if (c.reach.empty() || level.value != Autonomy::readonly) return;
  c.ceilings.level = level.value;
  c.intent.hosts =
      request.network == Network::of_host ? std::vector<std::string>{"--net-host"} : request.hosts;
  c.reach = text_of(level.origin) + " says so";
}

}  // namespace

Result<Explanation> explain_call(const SessionOptions& options, const ToolCall& call,
                                 const std::optional<std::string>& skill_file,
                                 const Environment& environment) {
  const Session session = TRY(load_session(options, environment));
  const auto skill = TRY(skill_for(session, skill_file));
  Judged judged = TRY(judge(session, call, {.skill = skill ? &*skill : nullptr}));
  return Explanation{std::move(judged.judgement), std::move(judged.plan), std::move(judged.notes)};
}

Result<Explanation> explain_run(const RunRequest& request, const Environment& environment,
                                const Installation& installation, HostMounts mounts) {
  const Facts facts = TRY(observe_for(request, environment, installation, mounts));
  Case c;
  c.origin = Case::Origin::operators_command;
  c.intent.form = Intent::Form::words;
  c.intent.argv = request.argv;
  c.ceilings.commands = c.ceilings.unasked = CommandProfile::any;
  for (const auto& pass : request.environment) {
    if (!pass.value) c.ceilings.pass_env.push_back(pass.name);  // what has a value is nothing of the caller's
  }
  c.facts.workspace = facts.workspace.path;
  c.schema = {GateId::schema, Decision::allow, "not a tool call"};
  const ConfigFiles files = TRY(config_for(environment, facts.workspace.path));
  take_reach(c, request, TRY(settings_of(files)).autonomy);
  c.rules = rules_verdict_of_run(TRY(rules_of(files, canonical_command)), request.argv);
  Explanation explanation{decide(c, {})};
  if (explanation.judgement.launch) explanation.plan = TRY(plan_run(request, facts));
  return explanation;
}

}  // namespace cloche
