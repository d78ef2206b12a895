#include "gateway/checks/box_plan.hpp"

#include <algorithm>

#include "base/json/json_text.hpp"
#include "gateway/gateway.hpp"
#include "policy/authority/authority.hpp"
#include "policy/plan/plan_call.hpp"
#include "policy/plan/without_network.hpp"
#include "store/config/skill_files.hpp"
#include "tools/commands/executor.hpp"

namespace cloche {
namespace {

struct Declared {
  RunRequest request;
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
  operators.code = Grant{.source = executor.folder, .judged = executor.folder_fact};
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

// What the executor's manifest declares, as if the operator had said it by flags.
Result<Declared> with_executor(const BoxRequest& asked, const Environment& environment) {
  Declared declared{.request = asked.request};
  SessionOptions options = default_session();
  options.operators = asked.request;
  const Session session = TRY(load_session(std::move(options), environment));
  const auto skill = TRY(skill_for(session, asked.skill));
  const Skill* under = skill ? &*skill : nullptr;
  const Executor executor = TRY(named_executor(session, *asked.executor, declared));
  const ToolTerms terms = TRY(terms_of(session, executor));
  Authority authority = TRY(authority_for(session, under, executor, terms));
  declared.request = TRY(request_of(executor, std::move(declared.request)));
  const HostPaths names = names_under(session, under);
  authority = TRY(settle_grants(std::move(authority), names)).authority;
  declared.request.written = names.written;
  auto& grants = declared.request.grants;
  grants.insert(grants.end(), authority.grants.begin(), authority.grants.end());
  for (const auto& name : authority.ceilings.pass_env) declared.request.environment.push_back({name});
  if (authority.ceilings.network) declared.hosts = authority.ceilings.hosts;
  declared.notes.insert(declared.notes.end(), authority.notes.begin(), authority.notes.end());
  TRY(raise_rung(declared.request, executor, declared.notes));
  if (skill) take_limits(declared.request, *skill);
  return declared;
}

// The box of another program has all of a network or none, and that of runsc has none out.
void open_network(ConfinementPlan& plan, std::vector<std::string> hosts, std::vector<std::string>& notes) {
  if (hosts.empty()) return;
  if (plan.backend == Backend::runsc) {
    notes.push_back("a box of runsc has no network out: what is declared cannot be reached");
    return;
  }
  plan.network = Network::of_host;
  plan.hosts = std::move(hosts);
  // It was planned as one without a network.
  std::erase_if(plan.environment, [](const Variable& variable) {
    return std::ranges::any_of(environment_without_network(), [&](const EnvironmentRow& row) {
      return row.name == variable.name && row.value == variable.value;
    });
  });
}

}  // namespace

Result<BoxPlan> plan_box(const BoxRequest& asked, const Environment& environment) {
  Declared declared{.request = asked.request};
  if (asked.executor) declared = TRY(with_executor(asked, environment));
  SessionOptions options = default_session();
  options.serves = Asks::operators;
  options.operators = std::move(declared.request);
  options.record = Registry::Record::none;
  ExplainedFor whose{.learnt = {.mounts_below = true}};
  if (!asked.executor) whose.skill_file = asked.skill;
  BoxPlan box;
  box.judged = TRY(explain(std::move(options), operators_command(asked.request.argv), whose, environment));
  box.notes = std::move(declared.notes);
  box.notes.insert(box.notes.end(), box.judged.notes.begin(), box.judged.notes.end());
  if (box.judged.plan() == nullptr) return box;
  box.plan = *box.judged.plan();
  const auto& reached = box.judged.request.hosts;
  if (!asked.executor && reached != asked.request.hosts) declared.hosts = reached;  // what a skill declares
  open_network(*box.plan, std::move(declared.hosts), box.notes);
  return box;
}

}  // namespace cloche
