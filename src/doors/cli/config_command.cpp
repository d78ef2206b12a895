#include "doors/cli/config_command.hpp"

#include <algorithm>

#include "base/json/json_writer.hpp"
#include "base/lists.hpp"
#include "base/sys/sys.hpp"
#include "doors/cli/call_arguments.hpp"
#include "doors/cli/help_pages.hpp"
#include "doors/cli/print.hpp"
#include "doors/commands.hpp"
#include "gateway/checks/diagnose.hpp"
#include "gateway/checks/isolation_levels.hpp"
#include "gateway/configuration/rule_gate.hpp"

namespace cloche {
namespace {

std::string json_of(bool value) { return value ? "true" : "false"; }
std::string json_of(const std::optional<std::string>& path) { return path ? json_quote(*path) : "null"; }
std::string json_of(const Texts& list) { return JsonWriter().value(list).text(); }
template <typename T>
requires std::is_enum_v<T> std::string json_of(T value) { return json_quote(name_of(value)); }

template <typename T>
EffectiveKey shown_as(const char* key, const Setting<T>& setting, const std::string& json) {
  return {key, json, text_of(setting.origin), setting.overruled};
}
template <typename T>
EffectiveKey plain(const char* key, const Setting<T>& setting) {
  return shown_as(key, setting, json_of(setting.value));
}

// A value that overrules the files'.
template <typename T>
Setting<T> in_place_of(Setting<T> setting, const T& value, const Origin& origin) {
  if (setting.is_set() && setting.value != value)
    setting.overruled.push_back({json_of(setting.value), setting.origin});
  setting.value = value;
  setting.origin = origin;
  return setting;
}

// The environment may switch isolation off where no managed file forbids it, and require it whatever is set.
Setting<bool> enabled_under(const Switches& switches, const Setting<bool>& enabled) {
  if (switches.required)
    return in_place_of(enabled, true, {Origin::Kind::environment, "CLOCHE_REQUIRE_SANDBOX"});
  if (switches.off && !(enabled.managed && enabled.managed->value))
    return in_place_of(enabled, false, {Origin::Kind::environment, "CLOCHE_SANDBOX"});
  return enabled;
}

Setting<Missing> missing_under(const Switches& switches, const Setting<Missing>& missing) {
  return switches.required
             ? in_place_of(missing, Missing::refuse, {Origin::Kind::environment, "CLOCHE_REQUIRE_SANDBOX"})
             : missing;
}

// As calls have it: `missing: degrade` says it too, and a level that the managed file names may take it back.
Setting<Landlock> landlock_under(const Switches& switches, const Settings& settings) {
  const Landlock wanted = landlock_wanted(settings, switches);
  if (wanted == settings.landlock.value) return settings.landlock;
  if (wanted == Landlock::optional) return in_place_of(settings.landlock, wanted, settings.missing.origin);
  return in_place_of(settings.landlock, wanted,
                     switches.required ? Origin{Origin::Kind::environment, "CLOCHE_REQUIRE_SANDBOX"}
                     : settings.isolation.managed ? settings.isolation.origin
                                                  : settings.missing.origin);
}

// Of the files', the flag's and the profile's level the highest.
Setting<IsolationLevel> highest_level(Setting<IsolationLevel> setting, const RunRequest& operators,
                                      const ChosenProfile& profile) {
  const auto raise = [&](const std::optional<IsolationLevel>& level, const Origin& origin) {
    if (!level) return;
    if (!setting.is_set() || *level > setting.value) {
      setting = in_place_of(setting, *level, origin);
    } else if (*level < setting.value) {
      setting.overruled.push_back({json_of(*level), origin});
    }
  };
  raise(operators.isolation, {Origin::Kind::flag, operators.backend ? "--backend" : "--isolation"});
  raise(profile.profile.isolation, {Origin::Kind::file, "the profile " + profile.profile.name});
  return setting;
}

EffectiveKey backend_key(const RunRequest& operators) {
  const auto& backend = operators.backend;
  return {"backend", backend ? json_of(*backend) : "null", backend ? "--backend" : "default", {}};
}

// What refuses every call before it is judged.
Result<void> judge_settled(const RunRequest& operators, const Settings& settings,
                           const ChosenProfile& profile) {
  RunRequest settled = operators;
  std::vector<std::string> notes;
  TRY(configure(settled, settings, notes));
  apply_profile(settled, profile.profile);
  return settle_rung(settled, "the profile " + profile.profile.name);
}

std::string net_json(const Settings& settings) {
  std::vector<std::string> words = settings.net.value;
  words.insert(words.end(), settings.net_ranges.begin(), settings.net_ranges.end());
  return JsonWriter().value(words).text();
}

std::string rules_json(const Settings& settings) {
  JsonWriter out;
  out.begin_array();
  for (const auto& rule : settings.rules) {
    out.begin_object().member("tool", rule.tool).member("profile", rule.profile);
    out.member("origin", text_of(rule.origin)).end_object();
  }
  return out.end_array().text();
}

std::string places_of_rules(const Settings& settings) {
  std::string text;
  for (const auto& rule : settings.rules) text += (text.empty() ? "" : ", ") + text_of(rule.origin);
  return text.empty() ? "default" : text;
}

// How many rules the files have under a key: a list of them, or an object with the list.
EffectiveKey rules_key(const ConfigFiles& files, const std::string& name) {
  EffectiveKey key{name, "0", "", {}};
  size_t rules = 0;
  for (const auto* file : {&files.managed, &files.user, &files.project}) {
    const JsonValue* value = *file ? (*file)->root.find(name) : nullptr;
    if (value == nullptr) continue;
    const JsonValue* list = value->is_array() ? value : value->find("rules");
    rules += list != nullptr ? list->items.size() : 0;
    key.origin += (key.origin.empty() ? "" : ", ") + file_line((*file)->path, value->line);
  }
  key.value = std::to_string(rules);
  if (key.origin.empty()) key.origin = "default";
  return key;
}

void add_limits(std::vector<EffectiveKey>& keys, const RunRequest& operators, const Settings& settings) {
  for (const auto& row : limit_table) {
    const auto& said = operators.said_limits;
    LimitQuestion question{row.id, operators.limits.*row.field, {}};
    if (contains(said, row.id)) question.asked = question.standard;
    const Setting<uint64_t> chosen = chosen_limit(settings, question);
    keys.push_back({"limits." + std::string(row.name), json_quote(show_limit(row.id, chosen.value)),
                    text_of(chosen.origin), chosen.overruled});
  }
}

template <typename T>
Setting<T> with_asked(Setting<T> setting, const std::optional<T>& asked, const char* flag) {
  Setting<T> chosen = with_flag(setting, asked, flag);
  if (!asked || !setting.is_set() || *asked == setting.value) return chosen;
  const bool flag_lost = chosen.origin == setting.origin;
  chosen.overruled.push_back(flag_lost ? Overruled{json_of(*asked), {Origin::Kind::flag, flag}}
                                       : Overruled{json_of(setting.value), setting.origin});
  return chosen;
}

struct CheckArguments {
  ConfigSource source = ConfigSource::user;
  bool help = false;
};

Result<void> set_source(CheckArguments& arguments, const std::string& word) {
  for (ConfigSource source : {ConfigSource::managed, ConfigSource::user, ConfigSource::project}) {
    arguments.source = source;
    if (word == name_of(source)) return {};
  }
  return usage_error("--as " + word + " is none of managed, user and project");
}

constexpr Option<CheckArguments> check_options[] = {
    {"", "", "Of `check`:"},
    {"--as", "WHOSE", "Read FILE as the managed, the user (default) or the project file.", set_source},
    help_option<CheckArguments>};

}  // namespace

HelpPage config_help() {
  return {.usage = "cloche config [flags]\ncloche config check FILE [--as managed|user|project]",
          .about =
              "Prints every key of the configuration as calls in this workspace have it, with its "
              "origin (file:line, a flag, a variable, default), and below it each value that was "
              "overruled. The flags of `call` are taken into account. A configuration that "
              "cannot be used is refused with file:line (exit code 125). `check` reads one file "
              "as the managed, user or project file: exit code 0 when it is good, 1 otherwise.",
          .rows = rows_of<CheckArguments>(check_options) + call_options_of(CallCommand::config),
          .examples = {"cloche config", "cloche config --autonomy full --json",
                       "cloche config check .cloche/config.json --as project"}};
}

namespace {

struct CheckedFile {
  std::string path;
  std::vector<std::string> notes;
};

Result<CheckedFile> check_file(const CheckArguments& arguments, std::span<char* const> files,
                               const Environment& environment) {
  if (files.size() != 1)
    return usage_error("check needs one file", "cloche config check FILE [--as managed|user|project]");
  std::string file = files[0];
  const std::string text = TRY(sys::read_file(file, config_limits.bytes));
  auto notes = TRY(check_configuration(text, file, arguments.source, environment));
  return CheckedFile{std::move(file), std::move(notes)};
}

int check_command(std::span<char* const> words, const Environment& environment) {
  CheckArguments arguments;
  const auto files =
      read_options(arguments, words, check_options, OptionsEnd::dashes, "see cloche config --help");
  if (!files.ok()) return report(files.error());
  if (arguments.help) return print_all(text_of(config_help()), 0);
  const auto checked = check_file(arguments, files.value(), environment);
  if (checked.ok()) {
    print("ok      " + on_one_line(checked.value().path) + "\n");
    for (const auto& note : checked.value().notes) print("note    " + on_one_line(note) + "\n");
    return 0;
  }
  if (checked.error().cause == Cause::usage) return report(checked.error());
  print("FAILED  " + on_one_line(describe(checked.error())) + "\n");
  return 1;
}

Result<void> show_config(const CallArguments& arguments, const Environment& environment) {
  const Installation installation = TRY(find_installation(environment));
  const std::string workspace = TRY(sys::hold(arguments.options.operators.workspace.value_or("."))).path;
  const Configuration configuration = TRY(load_configuration(environment, installation, workspace));
  const auto keys = TRY(effective_keys(arguments.options, configuration, environment));
  TRY(judge_loading(arguments.options, environment));
  print(arguments.json ? config_json(keys, configuration.files) : config_text(keys));
  return {};
}

}  // namespace

Result<std::vector<EffectiveKey>> effective_keys(const SessionOptions& options,
                                                 const Configuration& configuration,
                                                 const Environment& environment) {
  const Settings& settings = configuration.settings;
  const ChosenProfile profile =
      TRY(chosen_profile(settings, configuration.profiles, {"", asked_profile(options.operators)}));
  const Switches switches = TRY(switches_of(environment));
  TRY(judge_settled(options.operators, settings, profile));
  const Setting<size_t> pool = pool_of(settings, {}, mcp_pool);
  std::vector<EffectiveKey> keys = {
      plain("enabled", enabled_under(switches, settings.enabled)),
      plain("allow_sandbox_off", settings.allow_sandbox_off),
      {"default_profile", json_quote(profile.profile.name), text_of(profile.origin), profile.overruled},
      {"rules", rules_json(settings), places_of_rules(settings), {}},
      plain("profiles_dir", settings.profiles_dir),
      plain("executors_dir", settings.executors_dir),
      rules_key(configuration.files, "permissions"),
      plain("autonomy", with_asked(settings.autonomy, options.asked.autonomy, "--autonomy")),
      plain("isolation", highest_level(settings.isolation, options.operators, profile)),
      backend_key(options.operators),
      plain("missing", missing_under(switches, settings.missing)),
      plain("landlock", landlock_under(switches, settings)),
      plain("commands", with_asked(settings.commands, options.asked.commands, "--commands")),
      plain("tool_path", settings.tool_path),
      shown_as("dotfiles", settings.dotfiles, json_quote(settings.dotfiles.value ? "allow" : "refuse")),
      shown_as("writes", settings.writes, json_quote(name_of(settings.writes.value))),
      shown_as("background", settings.background, json_quote(name_of(settings.background.value))),
      rules_key(configuration.files, "changes"),
      plain("live_paths", settings.live_paths),
      shown_as("net", settings.net, net_json(settings)),
      plain("hide", settings.hide),
      shown_as("undo", settings.undo, undo_json(settings.undo.value)),
      shown_as("calls", settings.calls, calls_json(settings.calls.value)),
      plain("durable", settings.durable),
      shown_as("record", settings.record, json_quote(settings.record.value ? "on" : "off")),
      shown_as("pool", pool, std::to_string(pool.value)),
      plain("warm", settings.warm),
      plain("secret_grants", settings.secret_grants),
      plain("approved_executors", settings.approved_executors)};
  add_limits(keys, options.operators, settings);
  return keys;
}

std::string config_text(const std::vector<EffectiveKey>& keys) {
  std::string text;
  for (const auto& key : keys) {
    text += padded(key.key, 20) + padded(on_one_line(key.value), 30) + on_one_line(key.origin) + "\n";
    for (const auto& lost : key.overruled)
      text += std::string(20, ' ') + "overruled: " + on_one_line(lost.value) + " of " +
              on_one_line(text_of(lost.origin)) + "\n";
  }
  return text;
}

std::string config_json(const std::vector<EffectiveKey>& keys, const ConfigFiles& files) {
  JsonWriter out(JsonWriter::Layout::indented);
  out.begin_object().key("files").begin_object();
  const auto file = [&](const char* whose, const std::optional<ConfigFile>& read) {
    out.key(whose);
    read ? out.value(read->path) : out.null();
  };
  file("managed", files.managed);
  file("user", files.user);
  file("project", files.project);
  out.end_object().key("keys").begin_object();
  for (const auto& key : keys) {
    out.key(key.key).begin_object().key("value").raw(key.value).member("origin", key.origin);
    out.key("overruled").begin_array();
    for (const auto& lost : key.overruled)
      out.begin_object().key("value").raw(lost.value).member("origin", text_of(lost.origin)).end_object();
    out.end_array().end_object();
  }
  return out.end_object().end_object().text() + "\n";
}

int config_command(std::span<char* const> words, const Environment& environment) {
  const std::string_view first = words.empty() ? "" : words.front();
  if (first == "check") return check_command(words.subspan(1), environment);
  const auto parsed = parse_call(words, CallCommand::config);
  if (!parsed.ok()) return report(parsed.error());
  if (parsed.value().help) return print_all(text_of(config_help()), 0);
  const auto shown = show_config(parsed.value(), environment);
  return shown.ok() ? 0 : report(shown.error());
}

}  // namespace cloche
