#include "gateway/configuration/configuration.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "base/json/json_writer.hpp"
#include "base/sys/directory.hpp"
#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "base/text/visible_text.hpp"
#include "gateway/checks/isolation_levels.hpp"
#include "gateway/configuration/rule_gate.hpp"
#include "gateway/session.hpp"
#include "policy/gates/gates.hpp"
#include "policy/plan/plan_run.hpp"
#include "policy/rules/rule_lint.hpp"
#include "policy/rules/rules.hpp"
#include "store/config/profile_files.hpp"
#include "store/host/system_facts.hpp"
#include "store/trust/bind_mount_alias.hpp"
#include "store/trust/trusted_file.hpp"

namespace cloche {
namespace {

std::string home_of(const Environment& environment) {
  const auto home = sys::hold(environment.get("HOME"));
  return home.ok() ? home.value().path : "";
}

// A flag may name a file by its path; of any other there is only the name.
Error refuse_seatbelt(const std::string& where, const std::string& name, const Origin& origin) {
  constexpr size_t most_bytes = 1 << 20;
  const auto text =
      origin.kind == Origin::Kind::flag ? sys::read_file(name, most_bytes) : Result<std::string>(Error{});
  Error error = seatbelt_refusal(shown(name, 200), text.ok() ? text.value() : "");
  error.what = where + error.what;
  if (!text.ok()) error.fix += ", the strictest, because there is no text of it that says what it allows";
  return error;
}

Result<const SandboxProfile*> known_profile(const Profiles& profiles, const std::string& name,
                                            const Origin& origin) {
  const SandboxProfile* profile = find_profile(profiles, name);
  if (profile != nullptr) return profile;
  const std::string where = origin.kind == Origin::Kind::standard ? "" : origin.place + ": ";
  if (name.ends_with(".sb")) return refuse_seatbelt(where, name, origin);
  Error error = refusal(where + "no such profile: " + shown(name, 80), "known are " + names_of(profiles));
  if (origin.kind == Origin::Kind::flag) error.cause = Cause::usage;
  return error;
}

// A directory that the managed file names is the administrator's word.
Result<Profiles> profiles_for(const Settings& settings, const Environment& environment,
                              const std::string& workspace) {
  ProfilePlaces places{settings.profiles_dir.value, workspace};
  if (places.folder) places.home = home_of(environment);
  if (settings.profiles_dir.managed) places.writers = {.owner = 0, .group = false};
  return load_profiles(places);
}

Result<void> check_names(const Settings& settings, const Profiles& profiles) {
  const auto& said = settings.default_profile;
  for (const auto* voice : {&said.managed, &said.user, &said.project})
    if (*voice) TRY(known_profile(profiles, (*voice)->value, (*voice)->origin));
  for (const auto& rule : settings.rules) TRY(known_profile(profiles, rule.profile, rule.origin));
  return {};
}

// A program that a call could have written is none of the operator's.
Result<void> check_tool_path(const Settings& settings, const std::string& workspace) {
  const std::string where = text_of(settings.tool_path.origin) + ": tool_path: ";
  for (const auto& path : settings.tool_path.value) {
    const auto held = sys::hold(path);
    struct stat seen {};
    if (!held.ok() || ::stat(path.c_str(), &seen) != 0 || !S_ISDIR(seen.st_mode))
      return refusal(where + path + " is not a directory");
    // Another program of the same name would run in place of the operator's.
    if (::access(path.c_str(), R_OK | X_OK) != 0)
      return refusal(where + path + " cannot be read", "open it to you, or take it out");
    TRY(judge_crossing(where + path, observe_crossing(path, workspace)));
  }
  return {};
}

// Executors in the workspace are a project's word, and read as such. Those that a link there leads to would
// be whatever a command has chosen.
Result<void> check_executors_dir(const Settings& settings, const std::string& workspace) {
  const auto& folder = settings.executors_dir.value;
  const auto held = folder ? sys::hold(*folder) : Result<sys::Held>(Error{});
  if (!held.ok() || workspace.empty()) return {};
  const std::string what = text_of(settings.executors_dir.origin) + ": executors_dir: " + *folder;
  if (!lies_in(workspace, held.value().path))
    return judge_crossing(what, observe_crossing(*folder, workspace));
  if (look_at_place(*folder).path == *folder) return {};
  return refusal(what + " is a link into the workspace " + workspace,
                 "name the directory itself, or move it out of there");
}

// One word about profiles on its way into what holds.
struct ProfileVoice {
  std::string name;
  Origin origin;
};

void add(std::vector<ProfileVoice>& voices, const std::optional<ConfigValue<std::string>>& voice) {
  if (voice) voices.push_back({voice->value, voice->origin});
}

void add_rules(std::vector<ProfileVoice>& voices, const Settings& settings, ConfigSource source,
               std::string_view tool) {
  for (const auto& rule : settings.rules) {
    if (!tool.empty() && rule.source == source && tool_matches(rule.tool, tool))
      voices.push_back({rule.profile, rule.origin});
  }
}

// Within a file a rule for the tool stands in place of the default; the files' words all hold.
std::vector<ProfileVoice> voices_for(const Settings& settings, const ProfileQuestion& question) {
  std::vector<ProfileVoice> voices;
  const auto& defaults = settings.default_profile;
  add_rules(voices, settings, ConfigSource::managed, question.tool);
  if (voices.empty()) add(voices, defaults.managed);
  const size_t managed = voices.size();
  if (question.asked) voices.push_back({*question.asked, {Origin::Kind::flag, "--profile"}});
  add_rules(voices, settings, ConfigSource::user, question.tool);
  if (voices.size() == managed) add(voices, defaults.user);
  if (voices.empty()) voices.push_back({std::string(name_of(question.unsaid)), Origin{}});
  add_rules(voices, settings, ConfigSource::project, question.tool);
  add(voices, defaults.project);
  return voices;
}

bool gives_the_same(const SandboxProfile& one, const SandboxProfile& other) {
  return is_within(one, other) && is_within(other, one);
}

// No flag goes above what the managed file holds a limit at, so no message names one.
void note_managed(RunRequest& request, const LimitInfo& row, const Setting<uint64_t>& chosen) {
  if (!chosen.managed || chosen.managed->value != chosen.value) return;
  Limits wished = request.limits;
  wished.*row.field = std::numeric_limits<uint64_t>::max();
  note_lowered(request.lowered_by, wished, request.limits, text_of(chosen.managed->origin));
}

// Also those in this workspace: from another one they are the operator's word.
void keep_directories(RunRequest& request, const Settings& settings) {
  std::vector<std::string> directories = settings.tool_path.value;
  for (const auto& directory : {settings.profiles_dir.value, settings.executors_dir.value}) {
    if (directory) directories.push_back(*directory);
  }
  for (const auto& directory : directories) {
    std::string place = look_at_place(directory).path;
    if (place != directory) request.kept.push_back(directory);  // the way to it is kept as well
    request.kept.push_back(std::move(place));
  }
  if (const auto& profiles = settings.profiles_dir.value) {
    for (auto& link : links_in(*profiles)) request.kept.push_back(std::move(link));
  }
}

}  // namespace

Result<Configuration> load_configuration(const Environment& environment, const Installation& installation,
                                         const std::string& workspace) {
  Configuration configuration;
  const std::string folder = TRY(installation.config_folder(environment));
  configuration.files =
      TRY(read_config_files({.user = folder + "/config.json", .workspace = workspace}, settings_keys()));
  configuration.settings = TRY(settings_of(configuration.files));
  const Settings& settings = configuration.settings;
  configuration.rules = TRY(rules_of(configuration.files, canonical_command));
  configuration.profiles = TRY(profiles_for(settings, environment, workspace));
  TRY(check_names(settings, configuration.profiles));
  TRY(check_tool_path(settings, workspace));
  TRY(check_executors_dir(settings, workspace));
  return configuration;
}

std::vector<std::string> rules_without_tool(const Settings& settings) {
  std::vector<std::string> sentences;
  const auto& tools = shipped_tools();
  for (const auto& rule : settings.rules) {
    const bool known = std::any_of(tools.begin(), tools.end(),
                                   [&](const std::string& tool) { return tool_matches(rule.tool, tool); });
    if (!known)
      sentences.push_back(text_of(rule.origin) + ": rules: no tool of Cloche's is called " + rule.tool +
                          ": it holds only for an executor of that name");
  }
  return sentences;
}

std::vector<std::string> rules_that_never_decide(const RuleFiles& rules, const std::vector<ToolSpec>& own) {
  std::vector<JsonValue> schemas;
  std::vector<ToolArguments> known;
  for (const auto& tool : own) {
    auto schema = read_json(tool.input_schema, "");
    schemas.push_back(schema.ok() ? std::move(schema).value() : JsonValue{});
  }
  for (size_t i = 0; i < own.size(); ++i) known.push_back(arguments_of(own[i].name, schemas[i]));
  std::vector<std::string> sentences;
  for (const auto* file : {&rules.managed, &rules.user, &rules.project}) {
    if (!*file) continue;
    for (const auto& [rule, what, weight] : lint(**file, known))
      if (weight == RuleFinding::Weight::fault) sentences.push_back(rule + ": " + what);
  }
  return sentences;
}

Result<std::vector<std::string>> check_configuration(std::string_view text, const std::string& path,
                                                     ConfigSource source, const Environment& environment) {
  ConfigFiles files;
  std::optional<ConfigFile>& file = source == ConfigSource::managed
                                        ? files.managed
                                        : (source == ConfigSource::user ? files.user : files.project);
  file = TRY(parse_config(text, path, settings_keys()));
  Settings settings = TRY(settings_of(files));
  TRY(rules_of(files, canonical_command));
  if (source != ConfigSource::managed && !settings.profiles_dir.is_set()) {
    // Its profiles may stand where the other files say.
    const ConfigFiles others = TRY(config_for(environment, ""));
    settings.profiles_dir = TRY(settings_of(others)).profiles_dir;
  }
  const Profiles profiles = TRY(profiles_for(settings, environment, ""));
  TRY(check_names(settings, profiles));
  TRY(check_tool_path(settings, ""));
  return rules_without_tool(settings);
}

std::optional<std::string> asked_profile(const RunRequest& request) {
  if (!request.profile_name.empty()) return request.profile_name;
  // A program may have set the field instead.
  if (request.profile == RunRequest{}.profile) return std::nullopt;
  return std::string(name_of(request.profile));
}

Result<ChosenProfile> chosen_profile(const Settings& settings, const Profiles& profiles,
                                     const ProfileQuestion& question) {
  const auto voices = voices_for(settings, question);
  ChosenProfile chosen{*TRY(known_profile(profiles, voices.front().name, voices.front().origin)),
                       voices.front().origin};
  for (size_t i = 1; i < voices.size(); ++i) {
    const SandboxProfile& next = *TRY(known_profile(profiles, voices[i].name, voices[i].origin));
    const SandboxProfile both = strictest(chosen.profile, next);
    const auto overrule = [&](const std::string& name, const Origin& origin) {
      chosen.overruled.push_back({json_quote(name), origin});
    };
    if (gives_the_same(both, next) && !gives_the_same(both, chosen.profile)) {
      if (chosen.origin.kind != Origin::Kind::standard) overrule(chosen.profile.name, chosen.origin);
      chosen.profile = next;
      chosen.origin = voices[i].origin;
    } else if (gives_the_same(both, chosen.profile)) {
      if (!gives_the_same(next, chosen.profile)) overrule(next.name, voices[i].origin);
    } else {
      chosen.profile = both;
      chosen.origin.kind = Origin::Kind::file;
      chosen.origin.place = text_of(chosen.origin) + ", " + text_of(voices[i].origin);
    }
  }
  // A flag stands in place of the user's default, which does not count then.
  const auto& users = settings.default_profile.user;
  if (question.asked && users && users->value != *question.asked)
    chosen.overruled.push_back({json_quote(users->value), users->origin});
  return chosen;
}

Result<void> judge_runtime_settings(const RuntimeSettings& runtime_settings, const Settings& settings,
                                    const Profiles& profiles) {
  const auto& level = settings.autonomy.managed;
  if (runtime_settings.autonomy && level && *runtime_settings.autonomy > level->value)
    return refusal("autonomy " + std::string(name_of(*runtime_settings.autonomy)) + " is more than " +
                   text_of(level->origin) + " gives: " + std::string(name_of(level->value)));
  const auto& enabled = settings.enabled.managed;
  if (runtime_settings.enabled == false && enabled && enabled->value)
    return refusal("isolation cannot be switched off: " + text_of(enabled->origin) + " says enabled");
  if (!runtime_settings.default_profile) return {};
  const SandboxProfile* wanted = TRY(known_profile(profiles, *runtime_settings.default_profile, Origin{}));
  const auto& most = settings.default_profile.managed;
  if (most && !is_within(*wanted, *TRY(known_profile(profiles, most->value, most->origin))))
    return refusal("the profile " + wanted->name + " gives more than " + most->value + " of " +
                   text_of(most->origin));
  return {};
}

Result<void> configure(RunRequest& request, const Settings& settings, std::vector<std::string>& notes) {
  for (const auto& row : limit_table) {
    uint64_t& field = request.limits.*row.field;
    const auto& said = request.said_limits;
    LimitQuestion question{row.id, field, {}};
    if (std::find(said.begin(), said.end(), row.id) != said.end()) question.asked = field;
    const Setting<uint64_t> chosen = chosen_limit(settings, question);
    const auto& project = settings.limits[static_cast<size_t>(row.id)].project;
    if (project && project->value > chosen.value)
      notes.push_back(text_of(project->origin) + ": limits: " + std::string(row.name) + " stays at " +
                      show_limit(row.id, chosen.value) + ": a project can only lower it");
    field = chosen.value;
    note_managed(request, row, chosen);
  }
  if (const auto& level = settings.isolation; level.is_set())
    request.isolation = std::max(request.isolation.value_or(level.value), level.value);
  request.writes = with_flag(settings.writes, request.asked_writes, "--writes").value;
  if (request.in_background) request.writes = background_writes(settings, request.writes);
  for (const auto& path : settings.live_paths.value) request.live_paths.emplace_back(live_directory(path));
  for (const auto& path : settings.tool_path.value) {
    // By the name that it has in the view: a link to it is not there.
    request.tool_path.push_back(look_at_place(path).path);
    request.own.push_back({.source = path});
  }
  keep_directories(request, settings);
  return settle_rung(request, text_of(settings.isolation.origin));
}

void cap_by_autonomy(RunRequest& request, const Settings& settings, std::vector<std::string>& notes) {
  if (settings.autonomy.value != Autonomy::readonly) return;
  request.profile = Profile::readonly;
  show_read_only(request, "autonomy readonly of " + text_of(settings.autonomy.origin), notes);
}

Result<void> configure_command(RunRequest& request, const Configuration& configuration,
                               std::vector<std::string>& notes) {
  TRY(configure(request, configuration.settings, notes));
  const ChosenProfile chosen = TRY(
      chosen_profile(configuration.settings, configuration.profiles, {"run_shell", asked_profile(request)}));
  apply_profile(request, chosen.profile);
  cap_by_autonomy(request, configuration.settings, notes);
  return settle_rung(request, "the profile " + chosen.profile.name);
}

void show_read_only(RunRequest& request, const std::string& why, std::vector<std::string>& notes) {
  for (auto& grant : request.grants) {
    if (!grant.writable) continue;
    // Another command may still write there.
    if (const auto held = sys::hold(grant.source); held.ok()) request.written.push_back(held.value().path);
    grant.writable = false;
    notes.push_back(shown(grant.source, 120) + " is read-only: " + why);
  }
}

Result<void> judge_state(const std::string& state, const RunRequest& request) {
  const auto workspace = sys::hold(request.workspace.value_or("."));
  return workspace.ok() ? judge_state(state, workspace.value().path) : Result<void>();
}

Result<void> judge_state(const std::string& state, const std::string& workspace) {
  if (state.empty()) return {};
  const auto crossing = crossing_of(state, workspace);
  if (crossing.ok() && (crossing.value() == Crossing::there || crossing.value() == Crossing::absent))
    return {};
  if (lies_in(workspace, look_at_place(state).path))
    return refusal("Cloche's own directory " + state + " lies in the workspace " + workspace,
                   "name another workspace, or move it with XDG_STATE_HOME");
  return judge_crossing("Cloche's own directory " + state, observe_crossing(state, workspace));
}

Result<void> settle_rung(RunRequest& request, const std::string& who) {
  if (!request.isolation) return {};
  const std::string name(name_of(*request.isolation));
  if (*request.isolation == IsolationLevel::permissive)
    return refusal(who + ": the isolation level permissive is for functions of the embedding program",
                   "use subprocess or higher");
  if (backends_of(*request.isolation).empty())
    return refusal(who + " requires the isolation level " + name + ", which is not part of this build");
  if (request.backend && level_of(*request.backend) != *request.isolation)
    return refusal(who + " requires the isolation level " + name + ", and the backend " +
                   std::string(name_of(*request.backend)) + " is not on it");
  request.level = *request.isolation;
  return {};
}

Result<void> raise_rung(RunRequest& request, const Executor& executor, std::vector<std::string>& notes) {
  if (!executor.isolation || *executor.isolation == request.level) return {};
  if (*executor.isolation < request.level) {
    notes.push_back("isolation " + std::string(name_of(*executor.isolation)) + " of the executor " +
                    executor.name + " is raised to " + std::string(name_of(request.level)));
    return {};
  }
  request.isolation = executor.isolation;
  return settle_rung(request, "the executor " + executor.name);
}

}  // namespace cloche
