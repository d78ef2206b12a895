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

Result<Declared> with_declarations(const BoxRequest& asked, const Environment& environment) {
  Declared declared{.request = asked.request};
  SessionOptions options = default_session();
  options.operators = asked.request;
  if (!asked.profile_named) options.operators.profile_name = name_of(Profile::workspace_write);
  const Session session = TRY(load_session(std::move(options), environment));
  const auto skill = TRY(skill_for(session, asked.skill));
  Authority authority;
  if (asked.executor) {
    const ToolTerms terms = TRY(terms_for(session, ""));
    const Executor executor = TRY(named_executor(session, *asked.executor, declared));
    authority = TRY(authority_for(session, skill ? &*skill : nullptr, executor, terms));
    declared.request = TRY(request_of(executor, std::move(declared.request)));
    declared.executor = executor;
  } else {
    authority = TRY(authority_for(session, &*skill));
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
  if (explanation.plan && !declared.hosts.empty()) {  // a box of somebody else's has all of a network or none
    explanation.plan->network = Network::of_host;
    explanation.plan->hosts = std::move(declared.hosts);
  }
  return explanation;
}

}  // namespace cloche
