#include "policy/plan/plan_call.hpp"

#include <algorithm>

#include "policy/plan/layered_trees.hpp"
#include "policy/plan/plan_run.hpp"
#include "policy/plan/view_entries.hpp"

namespace cloche {

namespace {

void narrow(Limits& limits, const Limits& other) {
  for (const auto& row : limit_table) limits.*row.field = std::min(limits.*row.field, other.*row.field);
}

// Of what the gateway does itself: no process, so nothing of the sandbox; the workspace is all it may touch.
Result<ConfinementPlan> plan_action(const Launch& launch, Writes writes, const Facts& facts) {
  TRY(judge_mount_aliases(facts.mount_aliases));
  ConfinementPlan plan;
  plan.level = IsolationLevel::permissive;
  plan.required.clear();
  plan.directory = plan.workspace = facts.workspace.path;
  if (const auto* action = launch.as<FileAction>()) {
    plan.action = to_json(*action);
    if (changes_files(action->kind)) {  // no process of the call is there to see its writes early
      plan.writes = writes == Writes::live ? Writes::commit : writes;
      FileFact workspace = facts.workspace;
      workspace.kind = FileFact::Kind::directory;  // also where the call is the first, and makes it
      plan.view.push_back(view::owned_tree(workspace, workspace.path, Access::write, "the workspace"));
      TRY(layer_writes(plan));
    }
  } else if (const auto* recall = launch.as<Recall>()) {
    plan.action = to_json(*recall);
  } else if (const auto* function = launch.as<FunctionCall>()) {
    plan.action = to_json(*function);
  } else {
    return Error{Cause::internal, "the call names nothing to do"};
  }
  return plan;
}

// What reads the answers of a stranger sees its network and nothing else, whatever the session grants.
void leave_alone(RunRequest& request, const Fetch& fetch) {
  request.hosts = {fetch.host};
  request.grants.clear();
  request.own.clear();
  request.tool_path.clear();
  request.environment.clear();
  request.workspace_use = WorkspaceUse::hidden;
}

// The script as it is, in a bash that leaves its last directory behind when it ends well. A trap that the
// script sets itself takes the place of ours, and then the directory stays what it was.
std::vector<std::string> keeping_directory(const std::vector<std::string>& argv, const std::string& script,
                                           const std::string& end_file) {
  std::vector<std::string> kept(argv.begin(), argv.end() - 1);
  kept.push_back("-c");
  kept.push_back(R"(trap "[ \$? = 0 ] && builtin pwd -P >|$(printf %q "$TMPDIR/)" + end_file +
                 R"(") 2>/dev/null" EXIT; . "$0")");
  kept.push_back(script);  // $0, as it would be without this
  return kept;
}

bool is_bash_script(const Launch& launch) {
  return launch.script && launch.argv.size() > 1 && launch.argv.front() == "bash" &&
         launch.argv.back() == launch.script->target;
}

}  // namespace

RunRequest request_for(const Launch& launch, RunRequest operators) {
  RunRequest request = std::move(operators);
  request.argv = launch.argv;
  request.terminal = false;  // a call has no terminal
  request.tool_call = true;
  request.secrets.clear();         // for an operator's own command
  request.network = Network::own;  // the host's is for an operator's own command
  request.noexec = launch.noexec;
  request.fresh_home = launch.fresh_home;
  request.script = launch.script;
  if (!request.end_file.empty() && is_bash_script(launch))
    request.argv = keeping_directory(launch.argv, launch.script->target, request.end_file);
  request.workspace_use = std::max(request.workspace_use, launch.workspace);
  request.grants.insert(request.grants.end(), launch.grants.begin(), launch.grants.end());
  if (launch.readonly) request.profile = Profile::readonly;
  const Limits before = request.limits;
  if (launch.narrower) narrow(request.limits, *launch.narrower);
  note_lowered(request.lowered_by, before, request.limits, "the tool itself");
  request.limits.wall_ms =
      std::min(request.limits.wall_ms, launch.timeout_ms.value_or(request.limits.wall_ms));
  if (launch.system_programs) request.toolchains = "none";
  if (!launch.directory.empty()) request.directory = launch.directory;
  for (const auto& name : launch.pass_env) request.environment.push_back({name});
  // Last, so that what the shape says stands over what was passed.
  for (const auto& [name, value] : launch.environment) request.environment.push_back({name, value});
  if (!launch.network) request.hosts.clear();
  if (const auto* fetch = launch.as<Fetch>()) leave_alone(request, *fetch);
  return request;
}

Result<ConfinementPlan> plan_launch(const Launch& launch, const RunRequest& operators, const Facts& facts) {
  if (launch.argv.empty()) return plan_action(launch, operators.writes, facts);
  return plan_run(request_for(launch, operators), facts);
}

}  // namespace cloche
