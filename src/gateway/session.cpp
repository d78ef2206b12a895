#include "gateway/session.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "base/lists.hpp"
#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "base/text/sha256.hpp"
#include "base/text/visible_text.hpp"
#include "gateway/configuration/rule_gate.hpp"
#include "policy/authority/path_trust.hpp"
#include "policy/gates/gates.hpp"
#include "policy/plan/plan_run.hpp"
#include "policy/plan/system_view.hpp"
#include "store/config/profile_files.hpp"
#include "store/host/observe.hpp"
#include "store/host/system_facts.hpp"
#include "store/record/run_place.hpp"
#include "store/sealed/fingerprints.hpp"
#include "store/trust/bind_mount_alias.hpp"
#include "tools/session_conditions.hpp"

namespace cloche {
namespace {

// A call's output is stored whole, in memory and on the disk; an operator's command only passes it on.
constexpr uint64_t call_output_bytes = 16ULL << 20;

// An agent waits for a call, and its user pays for the time; an operator's command has an hour.
constexpr uint64_t call_wall_ms = 10ULL * 60 * 1000;

// Held, so that nothing else can pass for it. The one that a call would make is nowhere yet where the call is
// only explained.
Result<FileFact> hold_workspace(const RunRequest& operators, Session& session) {
  const std::string path = operators.workspace.value_or(".");
  auto held = sys::hold(path);
  if (!held.ok() && held.error().number == ENOENT && operators.explained && operators.workspace_of_run)
    return FileFact{.kind = FileFact::Kind::directory, .path = look_at_place(path).path};
  if (!held.ok()) return refusal("the workspace " + path + " cannot be opened", "make it first");
  struct stat seen {};
  if (::fstat(held.value().fd.get(), &seen) != 0) return system_error("look at " + held.value().path);
  session.held_workspace = std::make_shared<const OwnedFd>(std::move(held.value().fd));
  return fact_from(seen, std::move(held.value().path));
}

// Where a path leads; as it is written when there is nothing yet.
std::string led_to(const std::string& path) {
  const auto held = sys::hold(path);
  return held.ok() ? held.value().path : path;
}

void add_written(std::vector<std::string>& written, const std::vector<Capability>& capabilities,
                 const HostPaths& names) {
  for (const auto& capability : capabilities) {
    if (capability.family != Capability::Family::write) continue;
    const auto pattern = expand_hint(capability.hint, names);
    if (pattern.ok()) written.push_back(led_to(mount_part(pattern.value())));
  }
}

// The session's own: the workspace, and what the operator gave to write to, by a flag or in a profile.
std::vector<std::string> written_by_operator(const Session& session) {
  std::vector<std::string> written = {session.workspace};
  const auto add = [&](const std::vector<Grant>& grants) {
    for (const auto& grant : grants) {
      if (grant.writable) written.push_back(led_to(grant.source));
    }
  };
  add(session.options.operators.grants);
  for (const auto& profile : session.profiles) add(profile.grants);
  return written;
}

Result<std::vector<Executor>> executors_of(const Session& session) {
  const auto& flag = session.options.executors;
  const auto& directory = flag ? flag : session.settings.executors_dir.value;
  if (!directory) return std::vector<Executor>{};
  return load_executors(*directory, places_of(session));
}

std::vector<ToolSpec> specs_of(const std::vector<Executor>& executors) {
  std::vector<ToolSpec> specs;
  for (const auto& executor : executors)
    specs.push_back({.name = executor.name, .input_schema = executor.input_schema});
  return specs;
}

// A command of the operator's needs no executors; they are loaded only where a rule may be about one.
void note_idle_rules(Session& session) {
  std::vector<ToolSpec> own;
  for (const auto& tool : session.registry.tools())
    if (tool.executor || tool.function) own.push_back(tool.spec);
  session.idle_rules = rules_that_never_decide(session.rules, own);
  if (session.idle_rules.empty()) return;
  if (session.options.serves == Asks::operators) {
    const auto executors = executors_of(session);
    session.idle_rules = executors.ok() ? rules_that_never_decide(session.rules, specs_of(executors.value()))
                                        : std::vector<std::string>{};
  }
  session.notes.insert(session.notes.end(), session.idle_rules.begin(), session.idle_rules.end());
}

// Of what judges a call, nothing is a file tool's to write; a plan keeps it from commands.
Result<void> protect_parts(Session& session) {
  const auto protect = [&](const std::string& named, const std::string& reason) {
    const std::string part = led_to(named);
    if (part != session.workspace && is_beneath(session.workspace, part))
      session.protected_parts.push_back({part.substr(session.workspace.size() + 1), reason});
  };
  for (const auto& folder : session.installation.folders())
    protect(folder, "it belongs to the Cloche that judges this call");
  for (const std::string& kept : session.options.operators.kept) {
    if (lies_in(led_to(kept), session.workspace))
      return refusal("the workspace " + session.workspace + " lies in " + kept +
                         ", which the configuration takes the operator's word from",
                     "name another workspace");
    protect(kept, "the configuration takes the operator's word from it");
  }
  return {};
}

HostPaths names_of(const Session& session) {
  HostPaths names;
  if (const auto home = sys::hold(session.environment.get("HOME")); home.ok()) names.home = home.value().path;
  names.workspace = session.workspace;
  names.own = {session.installation.state, std::string(parent_of(managed_config))};
  if (const auto users = session.installation.config_folder(session.environment); users.ok())
    names.own.push_back(users.value());
  if (session.settings.profiles_dir.value) names.own.push_back(led_to(*session.settings.profiles_dir.value));
  // A call that could change the programs would change what is judged. Where every view has them anyway, only
  // root writes there.
  for (const auto& folder : session.installation.folders()) {
    const std::string programs = led_to(folder);
    const bool shown = std::any_of(std::begin(system_paths), std::end(system_paths),
                                   [&](const ShownPath& row) { return is_beneath(row.path, programs); });
    if (!shown) names.own.push_back(programs);
  }
  std::erase(names.own, "");
  names.secret_grants = session.settings.secret_grants.value;
  return names;
}

OperatorDefaults defaults_of(const Session& session, const ToolTerms& terms) {
  OperatorDefaults defaults{.ceilings = session.options.ceilings,
                            .profile = base_of(terms.profile),
                            .most_commands = std::nullopt,
                            .executors = session.registry.executor_names(),
                            .approved_executors = session.settings.approved_executors.value};
  defaults.ceilings.level = terms.level;
  defaults.ceilings.writes = defaults.ceilings.writes && terms.profile.writes;
  defaults.ceilings.network = terms.profile.network;
  for (const auto& host : terms.profile.hosts)
    if (!contains(defaults.ceilings.hosts, host)) defaults.ceilings.hosts.push_back(host);
  return defaults;
}

// What a flag or a program has asked for; a field that a program left as it was asks for nothing.
template <typename T>
std::optional<T> asked_for(const std::optional<T>& flag, const T& field, const T& standard) {
  if (flag) return flag;
  return field != standard ? std::optional<T>(field) : std::nullopt;
}

void take_ceilings(SessionOptions& said, const Settings& settings) {
  const Ceilings standard = default_session().ceilings;
  Ceilings& ceilings = said.ceilings;
  const auto level = asked_for(said.asked.autonomy, ceilings.level, standard.level);
  ceilings.level = with_flag(settings.autonomy, level, "--autonomy").value;
  const auto commands = asked_for(said.asked.commands, ceilings.commands, standard.commands);
  Setting<CommandProfile> configured = settings.commands;
  if (said.front_end == FrontEnd::agent && !configured.is_set()) configured.value = CommandProfile::any;
  ceilings.commands = with_flag(configured, commands, "--commands").value;
  // An agent works here: rules and the sandbox decide, and what a command looks like does not.
  ceilings.unasked =
      said.front_end == FrontEnd::agent ? ceilings.commands : std::min(ceilings.unasked, ceilings.commands);
}

// What calls may reach by the key `net`; of an operator's command see judge.cpp.
void add_configured_hosts(SessionOptions& said, const Settings& settings) {
  auto& ranges = said.operators.ranges;
  ranges.insert(ranges.end(), settings.net_ranges.begin(), settings.net_ranges.end());
  auto& hosts = said.ceilings.hosts;
  for (const auto& word : settings.net.value)
    if (!contains(hosts, word)) hosts.push_back(word);
}

bool is_in_approvals(const Executor& executor, const std::vector<std::string>& approved) {
  return std::any_of(approved.begin(), approved.end(), [&](const std::string& text) {
    return text == executor.name || text.starts_with(executor.name + "@");
  });
}

bool may_write(const ToolTerms& terms) {
  const auto& grants = terms.profile.grants;
  const bool somewhere = terms.profile.writes || std::any_of(grants.begin(), grants.end(),
                                                             [](const Grant& one) { return one.writable; });
  return somewhere && terms.level != Autonomy::readonly;
}

}  // namespace

SessionOptions default_session() {
  SessionOptions options;
  options.ceilings.commands = CommandProfile::full;
  options.ceilings.loadout = std::nullopt;  // no skill: every shipped tool
  options.ceilings.level = Autonomy::supervised;
  options.ceilings.writes = true;
  options.ceilings.execute = true;
  options.operators.limits.output_bytes = call_output_bytes;
  options.operators.limits.wall_ms = call_wall_ms;
  return options;
}

SessionPlaces places_of(const Session& session) {
  return {
      .workspace = session.workspace, .writable_roots = session.names.written, .home = session.names.home};
}

HostPaths names_under(const Session& session, const Skill* skill) {
  HostPaths names = session.names;
  if (skill != nullptr && skill->capabilities && skill->trust == Trust::operators)
    add_written(names.written, *skill->capabilities, names);
  return names;
}

std::string run_of_task(const std::string& task, const RunRequest& operators) {
  const auto workspace = sys::hold(operators.workspace.value_or("."));
  const std::string path = workspace.ok() ? workspace.value().path : "";
  return "t-" + task.substr(0, 48) + "-" + sha256(task + "\n" + path).substr(0, 8);
}

Result<Session> load_session(SessionOptions options, const Environment& environment) {
  Installation installation = TRY(find_installation(environment, options.programs));
  return load_session(std::move(options), environment, std::move(installation));
}

Result<Session> load_session(SessionOptions options, const Environment& environment,
                             Installation installation) {
  Session session{
      .environment = environment, .installation = std::move(installation), .options = std::move(options)};
  SessionOptions& said = session.options;
  const bool has_tools = said.serves == Asks::model;
  if (said.run && !said.operators.workspace) {
    said.operators.workspace = *said.run + "/artifacts";
    said.operators.workspace_of_run = true;
  }
  FileFact workspace = TRY(hold_workspace(said.operators, session));
  TRY(judge_workspace(workspace, environment.get("HOME")));
  session.workspace = std::move(workspace.path);
  if (said.operators.workspace_of_run)
    said.operators.hidden = RunPlace{std::string(parent_of(session.workspace)), RunLayout::given}.own_files();
  said.operators.workspace = session.workspace;
  if (has_tools) session.shapes = TRY(load_command_shapes(environment, session.workspace));
  Configuration configuration = TRY(load_configuration(environment, session.installation, session.workspace));
  session.settings = std::move(configuration.settings);
  session.rules = std::move(configuration.rules);
  session.profiles = std::move(configuration.profiles);
  take_ceilings(said, session.settings);
  TRY(configure(said.operators, session.settings, session.notes));
  add_configured_hosts(said, session.settings);
  session.wish = TRY(wish_for(session.settings, environment, said.front_end));
  session.wish.lowest = std::max(session.wish.lowest, said.lowest);
  session.levels = std::make_shared<IsolationLevels>(environment, session.installation);
  TRY(terms_for(session, ""));  // an unknown profile refuses every call
  if (has_tools) TRY(protect_parts(session));
  if (!has_tools)
    TRY(judge_state(session.installation.state, session.workspace));  // trials are remembered there
  TRY(add_fingerprints(session.installation.state, said.operators.secrets));
  session.names = names_of(session);
  session.names.written = written_by_operator(session);
  // Also one that leads to another place where calls write: what is hidden may lie there.
  for (const auto& file : said.read_files)
    TRY(judge_symlinks_crossed(shown(file.flag), file.found, true, session.names.written));
  if (!has_tools) {
    note_idle_rules(session);
    return session;
  }
  std::vector<Executor> executors = TRY(executors_of(session));
  for (const auto& executor : executors) {
    if (executor.trust == Trust::operators)
      add_written(session.names.written, executor.capabilities, session.names);
  }
  session.registry = TRY(Registry::make(std::move(executors), said.record, said.functions));
  said.ceilings.executors = session.registry.executor_names();
  note_idle_rules(session);
  return session;
}

Result<std::optional<Skill>> skill_for(const Session& session, const std::optional<std::string>& path) {
  if (!path) return std::optional<Skill>();
  return std::optional<Skill>(TRY(load_skill(*path, places_of(session))));
}

Result<ToolTerms> terms_for(const Session& session, std::string_view tool,
                            const RuntimeSettings& runtime_settings) {
  ProfileQuestion question{tool, asked_profile(session.options.operators)};
  if (runtime_settings.default_profile) question.asked = runtime_settings.default_profile;
  return ToolTerms{TRY(chosen_profile(session.settings, session.profiles, question)).profile,
                   runtime_settings.autonomy.value_or(session.options.ceilings.level)};
}

Result<Executor> as_of_now(const Session& session, const Skill* skill, const Executor& loaded) {
  Executor executor = loaded;
  if (is_beneath_any(names_under(session, skill).written, executor.folder)) executor.trust = Trust::project;
  if (is_in_approvals(executor, session.settings.approved_executors.value))
    executor.code_digest = TRY(digest_of_code(executor));
  return executor;
}

Result<Authority> authority_for(const Session& session, const Skill* skill, const ToolTerms& terms) {
  return authority_of(defaults_of(session, terms), skill, session.names);
}

Result<Authority> authority_for(const Session& session, const Skill* skill) {
  return authority_for(session, skill, TRY(terms_for(session, "")));
}

Result<Authority> authority_for(const Session& session, const Skill* skill, const Executor& executor,
                                const ToolTerms& terms) {
  const Authority skills = TRY(authority_for(session, skill, terms));
  OperatorDefaults defaults = defaults_of(session, terms);
  defaults.ceilings = skills.ceilings;  // the skill decides whether it may be called at all
  Authority authority = TRY(authority_of(defaults, executor, session.names));
  // Its code is shown by the gateway itself, where it may also be executed.
  std::erase_if(authority.grants, [&](const Grant& grant) { return grant.source == executor.folder; });
  authority.notes.insert(authority.notes.begin(), skills.notes.begin(), skills.notes.end());
  authority.unasked = skills.unasked;
  return authority;
}

bool is_in_loadout(const Authority& authority, const RegisteredTool& tool) {
  const auto& loadout = authority.ceilings.loadout;
  return !loadout || std::find(loadout->begin(), loadout->end(), tool.spec.name) != loadout->end();
}

Dotfiles dotfiles_for(const Session& session, const Skill* skill) {
  const Setting<bool>& said = session.settings.dotfiles;
  const bool unsaid = session.options.front_end == FrontEnd::agent && skill == nullptr;
  return (said.is_set() ? said.value : unsaid) ? Dotfiles::allow : Dotfiles::refuse;
}

Wish wish_of(const Session& session, const RuntimeSettings& runtime_settings) {
  Wish wish = session.wish;
  if (runtime_settings.enabled) wish.off = wish.off_allowed = !*runtime_settings.enabled;
  return wish;
}

bool is_isolated(const Session& session, const RuntimeSettings& runtime_settings) {
  return !may_be_off(wish_of(session, runtime_settings));
}

Result<std::vector<ToolSpec>> visible_tools(const Session& session, const Skill* skill,
                                            const RuntimeSettings& runtime_settings) {
  const Authority authority = TRY(authority_for(session, skill));
  std::vector<std::string> names;
  for (const auto& tool : session.registry.tools()) {
    if (is_in_loadout(authority, tool)) names.push_back(tool.spec.name);
  }
  std::vector<ToolSpec> specs;
  for (const auto& name : names) {
    const RegisteredTool& tool = *session.registry.find(name);
    const ToolTerms terms = TRY(terms_for(session, name, runtime_settings));
    const Authority own = TRY(authority_for(session, skill, terms));
    const Ceilings& ceilings = own.ceilings;
    specs.push_back(tool.spec);
    tell_conditions(specs.back(), tool.executor ? Starts::executor : starts_of(name),
                    {.isolated = is_isolated(session, runtime_settings),
                     .network = ceilings.network && !ceilings.hosts.empty(),
                     .hosts = ceilings.hosts,
                     .writes = may_write(terms),
                     .commands = most_commands(ceilings),
                     .unasked = commands_for(ceilings, {}),
                     .scripts = own.may_execute && ceilings.level != Autonomy::readonly,
                     .dotfiles = dotfiles_for(session, skill) == Dotfiles::allow,
                     .tools = names});
  }
  return specs;
}

}  // namespace cloche
