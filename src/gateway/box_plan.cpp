#include "gateway/box_plan.hpp"

#include "base/json_text.hpp"
#include "policy/authority.hpp"
#include "policy/plan_call.hpp"
#include "store/skill_files.hpp"
#include "tools/executor_call.hpp"

namespace cloche {
namespace {

struct Declared {
  RunRequest request;
  std::optional<Skill> skill = {};
  std::optional<Executor> executor = {};
  std::vector<std::string> hosts = {};
  std::vector<std::string> notes = {};
};

// The operator has named the file and nothing runs: so it counts as his own word, wherever it lies. A call of
// it would not be given as much, and that he should know.
Result<Executor> named_executor(const Session& session, const std::string& path, Declared& declared) {
  Executor executor = TRY(load_executor(path, places_of(session)));
  if (executor.trust == Trust::project) {
    declared.notes.push_back(path + " lies where a project or a call could have written it: called as a " +
                             "tool it gets nothing outside the workspace");
  }
  executor.trust = Trust::operators;
  return executor;
}

// As a call of it would be started, with the operator's own command.
Result<RunRequest> request_of(const Executor& executor, RunRequest operators) {
  const JsonValue nothing = TRY(read_json("{}", "no arguments"));
  Intent intent;
  understand_executor(executor, nothing, "", intent);
  operators.code = Grant{.source = executor.folder, .judged = executor.place};
  if (!operators.directory) operators.directory = executor.folder;
  const std::vector<std::string> argv = operators.argv;
  RunRequest request = request_for(*intent.launch, std::move(operators));
  request.argv = argv;
  request.tool_call = false;
  return request;
}

// The manifest that the operator names is his word for its network where he has said nothing of profiles.
// What is said, for the tool that it is or for a command of his own, holds.
Result<ToolTerms> terms_of(const Session& session, const Executor& executor) {
  ToolTerms terms = TRY(terms_for(session, executor.name));
  const auto asked = asked_profile(session.options.operators);
  const auto chosen = [&](std::string_view tool) {
    return chosen_profile(session.settings, session.profiles, {tool, asked, Profile::workspace_write});
  };
  terms.profile = strictest(TRY(chosen(executor.name)).profile, TRY(chosen("run_shell")).profile);
  return terms;
}

Result<Declared> with_declarations(const BoxRequest& asked, const Environment& environment) {
  Declared declared{.request = asked.request};
  SessionOptions options = default_session();
  options.operators = asked.request;
  const Session session = TRY(load_session(std::move(options), environment));
  const auto skill = TRY(skill_for(session, asked.skill));
  Authority authority;
  if (asked.executor) {
    const Executor executor = TRY(named_executor(session, *asked.executor, declared));
    const auto terms = TRY(terms_of(session, executor));
    authority = TRY(authority_for(session, skill ? &*skill : nullptr, executor, terms));
    declared.request = TRY(request_of(executor, std::move(declared.request)));
    declared.executor = executor;
  } else {
    authority = TRY(authority_of_command(session, &*skill));
  }
  const HostNames names = names_under(session, skill ? &*skill : nullptr);
  authority = TRY(settle_grants(std::move(authority), names)).authority;
  declared.request.written = names.written;
  declared.skill = skill;
  auto& grants = declared.request.grants;
  grants.insert(grants.end(), authority.grants.begin(), authority.grants.end());
  for (const auto& name : authority.ceilings.pass_env) declared.request.environment.push_back({name});
  if (authority.ceilings.network) declared.hosts = authority.ceilings.hosts;
  declared.notes.insert(declared.notes.end(), authority.notes.begin(), authority.notes.end());
  return declared;
}

// A box of somebody else's has all of a network or none, and that of runsc has none out.
void open_network(ConfinementPlan& plan, std::vector<std::string> hosts, std::vector<std::string>& notes) {
  if (hosts.empty()) return;
  if (plan.backend == Backend::runsc) {
    notes.push_back("a box of runsc has no network out: what is declared cannot be reached");
    return;
  }
  plan.network = Network::of_host;
  plan.hosts = std::move(hosts);
}

}  // namespace

Result<Explanation> explain_box(const BoxRequest& asked, const Environment& environment,
                                const Installation& installation) {
  Declared declared{.request = asked.request};
  if (asked.skill || asked.executor) declared = TRY(with_declarations(asked, environment));
  const auto notes = TRY(configure_command(declared.request, environment, installation));
  if (declared.executor) TRY(raise_rung(declared.request, *declared.executor, declared.notes));
  declared.notes.insert(declared.notes.end(), notes.begin(), notes.end());
  if (declared.skill) take_limits(declared.request, *declared.skill);
  Explanation explanation =
      TRY(explain_run(declared.request, environment, installation, HostMounts::covered));
  explanation.notes.insert(explanation.notes.end(), declared.notes.begin(), declared.notes.end());
  if (explanation.plan) open_network(*explanation.plan, std::move(declared.hosts), explanation.notes);
  return explanation;
}

}  // namespace cloche
