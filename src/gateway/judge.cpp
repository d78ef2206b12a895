#include "gateway/judge.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <iterator>

#include "base/json/json_writer.hpp"
#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "base/text/amounts.hpp"
#include "gateway/approval/ask_approval.hpp"
#include "gateway/configuration/rule_gate.hpp"
#include "gateway/launch/caller.hpp"
#include "gateway/launch/why_not_found.hpp"
#include "policy/authority/secret_names.hpp"
#include "policy/gates/gates.hpp"
#include "policy/hosts/declared_hosts.hpp"
#include "policy/plan/plan_call.hpp"
#include "policy/plan/plan_run.hpp"
#include "policy/plan/system_view.hpp"
#include "policy/plan/view_guards.hpp"
#include "policy/protected/protected_trees.hpp"
#include "policy/rules/hidden_globs.hpp"
#include "store/host/observe.hpp"
#include "store/host/operands.hpp"
#include "store/host/system_facts.hpp"
#include "store/protected/fixed_places.hpp"
#include "tools/commands/scripts.hpp"
#include "tools/files/artifacts.hpp"
#include "tools/web/http_get.hpp"

namespace cloche {
namespace {

// What the grants show, and where: of SRC:DST the command sees DST, and SRC is not there at all.
std::vector<ShownTree> shown_trees(const RunRequest& request, const Facts& facts) {
  std::vector<ShownTree> trees;
  for (size_t i = 0; i < request.grants.size() && i < facts.grants.size(); ++i) {
    const std::string& target = request.grants[i].target;
    const std::string& path = facts.grants[i].path;
    if (facts.grants[i].exists()) trees.push_back({path, target.empty() ? path : target});
  }
  return trees;
}

// A grant around the workspace would let a call put something else in its place.
bool is_place_of(const Session& session, const FileFact& workspace) {
  if (!session.held_workspace) return workspace.inode == 0;
  struct stat held {};
  return ::fstat(session.held_workspace->get(), &held) == 0 && held.st_dev == workspace.device &&
         held.st_ino == workspace.inode;
}

Result<Observation> observe_held(const Session& session, const RunRequest& request,
                                 const Authority& authority, const CallersView& view) {
  Facts host = *TRY(session.host->now(request, session.environment, session.installation, view.early));
  for (const auto& name : authority.ceilings.pass_env) {
    const auto value = why_dropped(name).empty() ? session.environment.find(name) : std::nullopt;
    if (value) host.caller.environment[name] = *value;  // passed by the launch
  }
  Observation seen = TRY(observe_named(request, std::move(host)));
  if (!is_place_of(session, seen.facts.workspace))
    return refusal("the workspace " + session.workspace + " is not the one that the session began with",
                   "start again");
  return seen;
}

// Where a hint leads may be the record or the project's configuration, by a link that a call has made. The
// planner refuses every such grant; here it is only left out, because a link that another call made is no
// reason to refuse this one.
void leave_out_own_files(Judged& judged, const Session& session, size_t first) {
  std::vector<std::string> own = session.options.operators.hidden;
  own.push_back(session.workspace + "/.cloche");
  auto& grants = judged.request.grants;
  const auto leads_there = [&](const Grant& grant) {
    const bool leads = is_beneath_any(own, grant.source) ||
                       (grant.writable && is_beneath_any(session.options.operators.kept, grant.source));
    if (leads) judged.notes.push_back(shown(grant.source) + " leads to Cloche's own files and is left out");
    return leads;
  };
  grants.erase(std::remove_if(grants.begin() + static_cast<long>(first), grants.end(), leads_there),
               grants.end());
}

// The skill says where in the workspace it writes: the rest of it is there to read.
void narrow_writes(Judged& judged, const HostPaths& names, const Authority& authority,
                   std::vector<OwnedFd>& held) {
  if (!authority.write_hints || !authority.workspace_shown) return;
  judged.request.workspace_use = WorkspaceUse::read_only;
  for (const auto& pattern : *authority.write_hints) {
    const std::string place = mount_part(pattern);
    auto settled = settle_grant({.source = place, .writable = true}, names, held);
    const bool there =
        settled.ok() && settled.value() && is_beneath(names.workspace, settled.value()->source);
    if (there) {
      judged.request.grants.push_back(std::move(*settled.value()));
    } else {
      const std::string why = settled.ok() ? " is not there" : ": " + settled.error().what.text();
      judged.notes.push_back(shown(place) + why + ", so commands cannot write to it");
    }
  }
}

Result<Verdict> judge_action(const FileAction& action, const Session& session, const Skill* skill,
                             const Authority& authority, const HideFacts& hide) {
  const Dotfiles dotfiles = dotfiles_for(session, skill);
  Verdict verdict = judge_file(action, dotfiles, session.protected_parts, session.workspace);
  const bool is_hidden = TRY(HiddenPaths::read(hide)).hides(session.workspace, action.path);
  if (verdict.decision == Decision::allow && is_hidden)
    return Verdict{GateId::path, Decision::deny, shown(action.path) + ": " + std::string(hidden_reason)};
  if (verdict.decision != Decision::allow || !changes_files(action.kind) || !authority.write_hints)
    return verdict;
  const std::string path = tidied(session.workspace, action.path);
  const auto& hints = *authority.write_hints;
  if (std::any_of(hints.begin(), hints.end(), [&](const std::string& hint) { return covers(hint, path); }))
    return verdict;
  Verdict refused{GateId::path, Decision::deny,
                  shown(action.path) + " lies in nothing that the skill declares as fs:write"};
  refused.instead = "write to a place that it declares";
  return refused;
}

// All that a session's calls may reach, in the spelling of plans.
Result<void> add_hosts(RunRequest& request, const Ceilings& ceilings) {
  if (!ceilings.network) return {};
  for (const auto& host : ceilings.hosts)
    TRY(host == any_host ? declare_any_host(request.hosts) : declare_host(request.hosts, host));
  request.declared = describe_declared(ceilings.declared_by, ceilings.hosts);
  return {};
}

// Which tool it is, on what terms, and with which authority: what the steps of a judgement share.
struct Standing {
  const Executor* executor = nullptr;  // of the tool, when it has one
  ToolTerms terms;
  HostPaths names;
  Settled settled;
  Observation seen = {};  // with what was judged held open

  const Authority& authority() const { return settled.authority; }
};

// The program that fetches, as it lies there now; held, so that it is this one that runs.
Result<void> add_fetcher(const Session& session, Standing& standing, Judged& judged) {
  auto held = sys::hold(session.installation.fetch);
  struct stat seen {};
  if (!held.ok() || ::fstat(held.value().fd.get(), &seen) != 0)
    return refusal("there is no " + session.installation.fetch,
                   "cloche-fetch belongs beside cloche: build or install both");
  judged.request.program = Grant{.source = held.value().path, .target = std::string(fetcher_inside)};
  judged.request.program->judged = fact_from(seen, held.value().path);
  standing.seen.held.push_back(std::move(held.value().fd));
  return {};
}

// What the program will run in. Less than was asked for, by the operator's own word, is noted with every
// call.
Result<void> judge_box(const Session& session, const CallersView& view, Judged& judged) {
  Wish wish = wish_of(session, view.runtime_settings);
  wish.untried = !view.learnt.other_backend;
  Choice choice = TRY(choose_backend(judged.request, std::move(wish), *session.levels));
  judged.other_backends = choice.untried;
  judged.notes.insert(judged.notes.end(), choice.notes.begin(), choice.notes.end());
  judged.box_notes = std::move(choice.notes);
  return {};
}

// An operator's command is judged as run_shell is; only a skill that was named with it declares anything.
Result<Standing> standing_of(const Session& session, const ToolCall& call, const CallersView& view) {
  Standing standing;
  const bool by_operator = call.by == Asks::operators;
  const RegisteredTool* tool = by_operator ? nullptr : session.registry.find(call.tool);
  const std::string& name = tool != nullptr ? tool->spec.name : call.tool;
  standing.terms = TRY(terms_for(session, by_operator ? "run_shell" : name, view.runtime_settings));
  if (by_operator && view.skill == nullptr) return standing;
  if (tool != nullptr) standing.executor = tool->executor.get();
  Authority declared;
  if (standing.executor != nullptr) {
    const Executor executor = TRY(as_of_now(session, view.skill, *standing.executor));
    declared = TRY(authority_for(session, view.skill, executor, standing.terms));
  } else {
    declared = TRY(authority_for(session, view.skill, standing.terms));
  }
  standing.names = names_under(session, view.skill);
  standing.settled = TRY(settle_grants(std::move(declared), standing.names));
  return standing;
}

// In the order in which a reader wants them: the session's, the skill's, this call's.
std::vector<std::string> first_notes(const Session& session, const CallersView& view,
                                     const Authority& authority) {
  std::vector<std::string> notes = session.notes;
  if (view.skill != nullptr)
    notes.insert(notes.end(), view.skill->warnings.begin(), view.skill->warnings.end());
  notes.insert(notes.end(), authority.notes.begin(), authority.notes.end());
  return notes;
}

void take_profile(RunRequest& request, const ToolTerms& terms) {
  SandboxProfile profile = terms.profile;
  // Then its writable paths are shown to be read, as those of the workspace are.
  if (terms.level == Autonomy::readonly)
    for (auto& grant : profile.grants) grant.writable = false;
  apply_profile(request, profile);
}

// The skill's hosts, beside those of --net. Where the profile has no network the authority's notes say so.
Result<void> add_skills_hosts(RunRequest& request, const Ceilings& ceilings) {
  const bool declares = !ceilings.declared_by.empty() && !ceilings.hosts.empty();
  if (!declares || !ceilings.network || request.network == Network::of_host) return {};
  const std::vector<std::string> given = request.hosts;
  for (const auto& host : ceilings.hosts)
    TRY(host == any_host ? declare_any_host(request.hosts) : declare_host(request.hosts, host));
  if (request.hosts == given) return {};  // all of it is the operator's own already
  request.declared = (given.empty() ? "" : describe_declared(net_flag, given) + "; ") +
                     describe_declared(ceilings.declared_by, ceilings.hosts);
  return {};
}

// Those of the key `net` and of the profile, where the command has a network of its own by name. What a flag
// says that has none is refused instead.
Result<void> add_configured_hosts(RunRequest& request, const Settings& settings,
                                  const SandboxProfile& profile) {
  const bool has_network = request.profile == Profile::workspace_write && request.network == Network::own;
  if (!has_network || request.view == View::host || backend_of(request) != Backend::native) return {};
  const struct {
    std::string by;
    const std::vector<std::string>& hosts;
  } sources[] = {{"net of " + text_of(settings.net.origin), settings.net.value},
                 {"profile " + profile.name, profile.hosts}};
  for (const auto& [by, hosts] : sources) {
    const std::vector<std::string> given = request.hosts;
    for (const auto& host : hosts) TRY(declare_host(request.hosts, host));
    if (request.hosts == given) continue;
    const std::string before =
        given.empty()
            ? ""
            : (request.declared.empty() ? describe_declared(net_flag, given) : request.declared) + "; ";
    request.declared = before + describe_declared(by, hosts);
  }
  return {};
}

// What an operator's command is given: by flags and configuration, with what a skill declares; then what
// profile and autonomy leave of it. The operator named the skill, so what it declares is granted; what it
// leaves out the command has anyway.
Result<void> make_command_request(const Session& session, const CallersView& view, const Standing& standing,
                                  Judged& judged) {
  RunRequest& request = judged.request;
  request = session.options.operators;
  request.own.insert(request.own.end(), view.own.begin(), view.own.end());
  if (view.skill != nullptr) {
    const Authority& authority = standing.authority();
    request.grants.insert(request.grants.end(), authority.grants.begin(), authority.grants.end());
    TRY(add_skills_hosts(request, authority.ceilings));
    for (const auto& name : authority.ceilings.pass_env) request.environment.push_back({name});
    request.written = standing.names.written;
  }
  apply_profile(request, standing.terms.profile);
  cap_by_autonomy(request, session.settings, judged.notes);
  TRY(settle_rung(request, "the profile " + standing.terms.profile.name));
  TRY(add_configured_hosts(request, session.settings, standing.terms.profile));
  if (view.skill != nullptr) take_limits(request, *view.skill);
  return {};
}

// What the call would be given: by the operator, then the profile, the skill and the executor.
Result<void> make_request(const Session& session, const CallersView& view, Standing& standing,
                          Judged& judged) {
  RunRequest& request = judged.request;
  request = session.options.operators;
  request.own.insert(request.own.end(), view.own.begin(), view.own.end());
  take_profile(request, standing.terms);
  // Also of a tool that has the rest of its view whatever the profile, as run_python and executors do.
  if (standing.terms.level == Autonomy::readonly) show_read_only(request, "autonomy readonly", judged.notes);
  if (view.skill != nullptr) take_limits(request, *view.skill);
  TRY(settle_rung(request, "the profile " + standing.terms.profile.name));
  if (const Executor* executor = standing.executor) {
    TRY(raise_rung(request, *executor, judged.notes));
    TRY(check_unchanged(*executor));
    request.code = Grant{.source = executor->folder, .judged = executor->folder_fact};
  }
  const Authority& authority = standing.authority();
  const size_t operators_grants = request.grants.size();
  request.grants.insert(request.grants.end(), authority.grants.begin(), authority.grants.end());
  TRY(add_hosts(request, authority.ceilings));
  narrow_writes(judged, standing.names, authority, standing.settled.held);
  leave_out_own_files(judged, session, operators_grants);
  request.written = standing.names.written;
  return {};
}

Result<void> observe_request(const Session& session, const CallersView& view, Standing& standing,
                             Judged& judged) {
  Observation& seen = standing.seen;
  seen = TRY(observe_held(session, judged.request, standing.authority(), view));
  std::move(standing.settled.held.begin(), standing.settled.held.end(), std::back_inserter(seen.held));
  const auto& common = seen.facts.git_common;
  if (common && view::is_own_file(seen.facts, *common))
    judged.notes.push_back("the repository " + shown(common->path) +
                           " that .git points to is one of Cloche's own files and is left out");
  return {};
}

// Rules see where it leads, and not how it was written.
void see_directory(Case& c) {
  const std::string& workspace = c.facts.workspace;
  c.facts.cwd = observe_operand(workspace, *c.intent.cwd);
  const std::string& resolved = c.facts.cwd->resolved;
  if (c.facts.cwd->problem.empty() && !is_beneath(workspace, resolved))
    c.facts.cwd->problem = "it leads out of the workspace";
  if (!c.facts.cwd->problem.empty()) return;
  c.intent.cwd = resolved == workspace ? "." : resolved.substr(workspace == "/" ? 1 : workspace.size() + 1);
}

// What holds where the call leaves it out: a rule that names it is about such a call as well.
void see_unsaid(Case& c, const RunRequest& request) {
  const std::string& workspace = c.facts.workspace;
  if (c.intent.tool == "run_shell") c.intent.in_force = commands_for(c.ceilings, c.intent);
  if (!request.directory || *request.directory == workspace) return;
  const bool within = is_beneath(workspace, *request.directory);
  c.intent.starts_in =
      within ? request.directory->substr(workspace == "/" ? 1 : workspace.size() + 1) : *request.directory;
}

constexpr const char* network_is_shared =
    "network isolation is off by the operator's own --net-host: the command has the host's whole network, "
    "its "
    "loopback services and private addresses too, and none of it is judged or counted";

std::string reach_of(const RunRequest& request) {
  if (request.network == Network::of_host)
    return "the operator gives it the host's whole network (--net-host)";
  return request.hosts.empty() ? "" : "it may reach what is declared (" + declared_for(request) + ")";
}

// An operator's flags are the answer to what autonomy would ask; they are none to readonly, which has no
// network.
void take_reach(Case& c, const RunRequest& request, const Setting<Autonomy>& level) {
  c.reach = reach_of(request);
  if (c.reach.empty() || level.value != Autonomy::readonly) return;
  c.ceilings.level = level.value;
  c.intent.hosts =
      request.network == Network::of_host ? std::vector<std::string>{"--net-host"} : request.hosts;
  c.reach = text_of(level.origin) + " says so";
}

void make_command_case(const Session& session, const ToolCall& call, const Standing& standing,
                       Judged& judged) {
  const RunRequest& request = judged.request;
  Case& c = judged.c;
  c.call = call;
  c.intent.form = Intent::Form::words;
  c.intent.argv = request.argv;
  c.intent.opaque = true;  // only the sandbox answers for it
  c.ceilings.commands = c.ceilings.unasked = CommandProfile::any;
  for (const auto& pass : request.environment) {
    if (!pass.value) c.ceilings.pass_env.push_back(pass.name);  // what has a value is nothing of the caller's
  }
  c.facts.workspace = standing.seen.facts.workspace.path;
  for (const auto& secret : request.secrets) c.secrets.push_back(secret.name);
  c.schema = {GateId::schema, Decision::allow, "not a tool call"};
  take_reach(c, request, session.settings.autonomy);
  c.rules = rules_verdict_of_run(session.rules, request.argv);
}

// Everything that the gates look at, as values.
Result<void> make_case(const Session& session, const ToolCall& call, const CallersView& view,
                       const Standing& standing, Judged& judged) {
  if (call.by == Asks::operators) {
    make_command_case(session, call, standing, judged);
    return {};
  }
  Case& c = judged.c;
  const Authority& authority = standing.authority();
  const Facts& facts = standing.seen.facts;
  const ReadArguments arguments = read_arguments(call);
  c.call = call;
  c.ceilings = authority.ceilings;
  c.ceilings.execute = authority.may_execute;
  c.facts.workspace = facts.workspace.path;
  c.intent = session.registry.understand(call, arguments, c.facts.workspace);
  if (c.intent.problem.empty() && c.intent.shell_text &&
      commands_for(c.ceilings, c.intent) == CommandProfile::any)
    run_as_script(c.intent);
  if (view.most_ms)
    c.intent.timeout_ms = std::min(c.intent.timeout_ms.value_or(*view.most_ms), *view.most_ms);
  const std::vector<ShownTree> trees = shown_trees(judged.request, facts);
  for (const auto& tree : trees) c.facts.read_roots.push_back(tree.target);
  see_unsaid(c, judged.request);
  if (c.intent.cwd) see_directory(c);
  c.facts.operands =
      observe_operands(c.facts.directory(), paths_to_observe(c.intent, c.ceilings, session.shapes), trees);
  c.schema = session.registry.schema_verdict(arguments, c.intent);
  c.rules = rules_verdict(session.rules, c, session.shapes);
  for (const auto& named : view.named)
    c.rules = stricter(std::move(c.rules), TRY(rules_verdict_by_name(session.rules, named, c.intent)));
  c.asks = asks_about(authority, c.intent.tool);
  c.unasked = is_unasked(authority, c.intent.tool);
  if (c.intent.opaque && c.intent.shell_text) {  // it needs what run_script needs
    if (c.asks.empty()) c.asks = asks_about(authority, "run_script");
    c.unasked = c.unasked && is_unasked(authority, "run_script");
  }
  if (const auto* action = c.intent.launch ? c.intent.launch->as<FileAction>() : nullptr)
    c.action = TRY(judge_action(*action, session, view.skill, authority, facts.hide));
  return {};
}

// What the operator's own profile names as a level. It is tried out once a boot, and once in seconds while it
// fails: not for each call.
Result<void> judge_level_of(const SandboxProfile& profile, const Session& session, const CallersView& view,
                            const Judged& judged) {
  if (!profile.isolation) return {};
  RunRequest request = judged.request;
  const Choice choice =
      TRY(choose_backend(request, wish_of(session, view.runtime_settings), *session.levels));
  if (choice.backend == Backend::none) return {};  // by the operator's own switch
  const Offer offer = session.levels->offer(choice.backend, request.landlock);
  if (offer.works || !offer.tried) return {};
  return refusal("the profile " + profile.name + " requires the isolation level " +
                     std::string(name_of(*profile.isolation)) + ", which does not work here: " + offer.why,
                 offer.fix);
}

// A profile that cannot be enforced here refuses every call that has it, also one that starts nothing or
// sees nothing of what the profile shows: otherwise it would seem to hold until the first command.
Result<void> judge_enforceable(const Standing& standing, const Session& session, const CallersView& view,
                               const Judged& judged) {
  const SandboxProfile& profile = standing.terms.profile;
  if (shipped_profile(profile.name)) return {};
  TRY(judge_level_of(profile, session, view, judged));
  const Launch any_command{.argv = {"true"}, .noexec = false, .fresh_home = false, .readonly = false};
  const auto planned = session.plans->plan(any_command, judged.request, standing.seen.facts);
  if (planned.ok()) return {};
  Error error = planned.error();
  error.what = "the profile " + profile.name + " cannot be had here: " + error.what;
  return error;
}

// What a command will run in, and what of the protected set lies in the trees that it can write to.
Result<void> settle_box(const Session& session, const CallersView& view, const Launch& launch,
                        Standing& standing, Judged& judged) {
  const std::optional<Backend> asked = judged.request.backend;
  TRY(judge_box(session, view, judged));
  auto able = judge_caller(judged.request, standing.seen.facts.caller);
  if (!able.ok() && able.error().cause == Cause::missing_layer && judged.other_backends) {
    CallersView others = view;
    others.learnt.other_backend = true;
    judged.request.backend = asked;
    TRY(judge_box(session, others, judged));
    able = judge_caller(judged.request, standing.seen.facts.caller);
  }
  TRY(std::move(able));
  const bool by_operator = judged.c.call.by == Asks::operators;
  const RunRequest request = by_operator ? judged.request : request_for(launch, judged.request);
  const Facts& seen = standing.seen.facts;
  const auto roots = guarded_roots(request, seen);
  const auto allowed = TRY(allowed_paths(request.allow_protected, seen.workspace.path, roots));
  TRY(judge_roots(roots, allowed));
  // With a layer it is judged by what it changed: nothing in the trees has to be known before.
  if (writes_of(request) == Writes::live) TRY(observe_fixed_places(request, standing.seen));
  TRY(apply(view.learnt, standing.seen.facts));
  // A call learns of the host's mounts in its trees when the kernel refuses to leave them out. A question and
  // an explanation have to name them before: otherwise the plan that runs is not the one that was shown.
  const bool is_shown_first = judged.judgement.decision == Decision::ask || judged.request.explained;
  const bool is_native =
      judged.request.level == IsolationLevel::namespaces && backend_of(judged.request) == Backend::native;
  Facts& facts = standing.seen.facts;
  if (is_shown_first && is_native && !facts.caller.privileged && facts.mounts_below.empty())
    TRY(observe_mounts_below(facts));
  return {};
}

Result<Planned> plan_of(const Session& session, const Launch& launch, const Standing& standing,
                        const Judged& judged) {
  if (judged.c.call.by == Asks::model)
    return session.plans->plan(launch, judged.request, standing.seen.facts);
  ConfinementPlan plan = TRY(plan_run(judged.request, standing.seen.facts));
  std::string digest = digest_of(plan);
  return Planned{std::move(plan), std::move(digest)};
}

// All that the call needs if it is permitted.
Result<Prepared> prepare(const Session& session, const CallersView& view, const Launch& launch,
                         Standing& standing, Judged& judged) {
  if (launch.argv.empty() || launch.as<Fetch>() != nullptr)
    TRY(judge_enforceable(standing, session, view, judged));
  if (launch.as<Fetch>() != nullptr) TRY(add_fetcher(session, standing, judged));
  if (!launch.argv.empty()) TRY(settle_box(session, view, launch, standing, judged));
  Planned planned = TRY(plan_of(session, launch, standing, judged));
  if (judged.c.call.by == Asks::operators) TRY(judge_directory(planned.plan));
  Prepared prepared{launch, std::move(planned.plan), std::move(planned.digest), std::move(standing.seen)};
  if (!launch.argv.empty()) prepared.directory = hold_directory(prepared.plan, prepared.seen.held);
  return prepared;
}

// What is not as the patterns say. Those of a configuration file are for many workspaces, so
// only an explanation says which of these match nothing here.
void note_hidden(Judged& judged, const HideFacts& hide, const std::vector<std::string>& configured) {
  for (const auto& path : hide.unsearched)
    judged.notes.push_back(shown(path) +
                           " is hidden as a whole: it is closed or too deep, and could not be searched for "
                           "hidden files; chmod u+rx opens a closed one");
  for (const auto& pattern : hide.idle) {
    const bool is_flags = std::ranges::find(configured, pattern) == configured.end();
    const bool is_said = judged.request.explained || (is_flags && judged.c.call.by == Asks::operators);
    if (!is_said) continue;
    judged.notes.push_back((is_flags ? "--hide " : "hide ") + shown(pattern) + ": nothing matches it" +
                           (is_flags ? "; quote a pattern, or the shell expands it" : ""));
  }
}

// Of an explanation.
void describe_hidden(Judged& judged, const HideFacts& hide) {
  constexpr size_t most_named = 5;
  std::string names;
  for (size_t i = 0; i < std::min(hide.found.size(), most_named); ++i)
    names += ", " + shown(hide.found[i].path);
  if (hide.found.size() > most_named) names += ", ...";
  if (!hide.found.empty())
    judged.notes.push_back("hidden: " + count_text(hide.found.size(), "path") + names +
                           "; what git has of them in its objects can still be read");
  if (std::ranges::any_of(hide.patterns, searches_everywhere))
    judged.notes.emplace_back("hide has **: each call searches all directories for what it matches");
}

}  // namespace

ToolCall operators_command(const std::vector<std::string>& argv) {
  JsonWriter out;
  return {"run", out.begin_object().member("argv", argv).end_object().text(), Asks::operators};
}

Result<Judged> judge(const Session& session, const ToolCall& call, const CallersView& view) {
  Standing standing = TRY(standing_of(session, call, view));
  Judged judged;
  judged.notes = first_notes(session, view, standing.authority());
  if (call.by == Asks::operators) {
    TRY(make_command_request(session, view, standing, judged));
  } else {
    TRY(make_request(session, view, standing, judged));
  }
  TRY(observe_request(session, view, standing, judged));
  TRY(make_case(session, call, view, standing, judged));
  judged.judgement = decide(judged.c, session.shapes);
  const HideFacts hide = standing.seen.facts.hide;
  if (!judged.judgement.launch) return judged;
  Prepared prepared = TRY(prepare(session, view, *judged.judgement.launch, standing, judged));
  judged.judgement = decide(judged.c, session.shapes, std::move(prepared));
  if (judged.request.network == Network::of_host) judged.notes.emplace_back(network_is_shared);
  note_hidden(judged, hide, session.settings.hide.value);
  if (judged.request.explained) describe_hidden(judged, hide);
  return judged;
}

void answer(Judged& judged, const Session& session, const std::optional<Verdict>& no) {
  judged.c.answer = no ? Decision::deny : Decision::allow;
  judged.judgement = decide(judged.c, session.shapes, std::move(*judged.judgement.waiting));
  if (no && judged.judgement.gates.back().gate == GateId::approval) judged.judgement.gates.back() = *no;
}

}  // namespace cloche
