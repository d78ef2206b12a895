#include "gateway/explain.hpp"

#include "gateway/file_gates.hpp"
#include "policy/gates.hpp"
#include "policy/plan_call.hpp"
#include "policy/plan_run.hpp"
#include "policy/secret_names.hpp"
#include "store/command_files.hpp"
#include "store/operands.hpp"
#include "tools/run_shell.hpp"

namespace cloche {
namespace {

// A grant that is shown somewhere else is not what its path on the host says.
std::vector<std::string> read_roots(const RunRequest& request, const Facts& facts) {
  std::vector<std::string> roots;
  for (size_t i = 0; i < request.grants.size() && i < facts.grants.size(); ++i) {
    if (request.grants[i].target.empty() && facts.grants[i].exists()) roots.push_back(facts.grants[i].path);
  }
  return roots;
}

Result<Facts> observe_for(const RunRequest& request, const Environment& environment,
                          const Installation& installation) {
  auto caller = TRY(observe_caller(request, environment, installation.ids));
  Observation seen = TRY(observe(request, environment, std::move(caller), installation.state));
  TRY(judge_workspace(seen.facts.workspace, seen.facts.caller.home));
  return std::move(seen.facts);
}

}  // namespace

Result<Shapes> shapes_for(const Installation& installation, const Environment& environment,
                          const std::string& workspace) {
  const std::string& program = installation.jail;  // all of them stand in one directory
  const auto files = TRY(find_command_files(program, environment));
  return load_command_files(files, program, workspace);
}

Case make_case(const CallRequest& request, const Facts& facts, const Shapes& shapes, const RuleFiles& rules) {
  Case c;
  c.call = request.call;
  c.ceilings = request.ceilings;
  c.intent = understand(request.call);
  c.facts.workspace = facts.workspace.path;
  c.facts.read_roots = read_roots(request.operators, facts);
  c.facts.operands = observe_operands(facts.workspace.path, paths_to_observe(c.intent, c.ceilings, shapes));
  c.schema = schema_verdict(c.call, c.intent);
  c.rules = rules_verdict(rules, c.intent);
  return c;
}

Result<Explanation> explain_call(const CallRequest& request, const Environment& environment,
                                 const Installation& installation) {
  RunRequest looked_up = request.operators;
  for (const auto& name : request.ceilings.pass_env) {
    if (why_dropped(name).empty()) looked_up.environment.push_back({name});  // passed by the launch
  }
  const Facts facts = TRY(observe_for(looked_up, environment, installation));
  const Shapes shapes = TRY(shapes_for(installation, environment, facts.workspace.path));
  const RuleFiles rules = TRY(rules_for(environment, facts.workspace.path));
  const Case c = make_case(request, facts, shapes, rules);
  Explanation explanation{decide(c, shapes)};
  if (explanation.judgement.launch)
    explanation.plan = TRY(plan_launch(*explanation.judgement.launch, request.operators, facts));
  return explanation;
}

Result<Explanation> explain_run(const RunRequest& request, const Environment& environment,
                                const Installation& installation) {
  const Facts facts = TRY(observe_for(request, environment, installation));
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
  const RuleFiles rules = TRY(rules_for(environment, facts.workspace.path));
  c.rules = rules_verdict_of_run(rules, request.argv);
  Explanation explanation{decide(c, {})};
  if (explanation.judgement.launch) explanation.plan = TRY(plan_run(request, facts));
  return explanation;
}

}  // namespace cloche
