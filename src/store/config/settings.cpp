#include "store/config/settings.hpp"

#include <algorithm>
#include <charconv>

#include "base/json/json_writer.hpp"
#include "base/lists.hpp"
#include "base/sys/path.hpp"
#include "base/text/visible_text.hpp"
#include "model/limits.hpp"
#include "model/names.hpp"
#include "model/skill.hpp"
#include "policy/hosts/declared_hosts.hpp"
#include "policy/hosts/host_settings.hpp"
#include "policy/rules/globs.hpp"
#include "policy/rules/rules.hpp"

namespace cloche {
namespace {

template <typename T>
struct Named {
  std::string_view name;
  T value;
};

// Each from the strictest to the loosest.
constexpr Named<Autonomy> autonomies[] = {
    {"readonly", Autonomy::readonly}, {"supervised", Autonomy::supervised}, {"full", Autonomy::full}};
constexpr Named<CommandProfile> command_profiles[] = {
    {"passive", CommandProfile::passive}, {"full", CommandProfile::full}, {"any", CommandProfile::any}};
constexpr Named<IsolationLevel> levels[] = {
    {"microvm", IsolationLevel::microvm},       {"gvisor", IsolationLevel::gvisor},
    {"container", IsolationLevel::container},   {"namespace", IsolationLevel::namespaces},
    {"subprocess", IsolationLevel::subprocess}, {"permissive", IsolationLevel::permissive}};
constexpr Named<Missing> missings[] = {{"refuse", Missing::refuse}, {"degrade", Missing::degrade}};
constexpr Named<Landlock> landlock_words[] = {{"required", Landlock::required},
                                              {"optional", Landlock::optional}};
constexpr Named<Writes> writes_words[] = {
    {"stage", Writes::stage}, {"commit", Writes::commit}, {"live", Writes::live}};
constexpr Named<Writes> background_words[] = {{"commit", Writes::commit}, {"live", Writes::live}};
constexpr Named<bool> dotfiles_words[] = {{"refuse", false}, {"allow", true}};
constexpr Named<bool> record_words[] = {{"on", true}, {"off", false}};

// A mistake in a file is an Error with its line, and the reader of the file makes it. Whether the file may be
// believed at all is judged in policy/authority/path_trust.hpp.
Error wrong(const SettingEntry& entry, const std::string& what) {
  return json_error(entry.file.path, entry.member.line, entry.member.name + " " + what);
}

Origin origin_of(const SettingEntry& entry) {
  return {Origin::Kind::file, file_line(entry.file.path, entry.member.line)};
}

// "\"a\", \"b\" or \"c\"" of the first `count`.
template <typename T, size_t N>
std::string listed(const Named<T> (&names)[N], size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += (i == 0 ? "" : (i + 1 == count ? " or " : ", ")) + json_quote(names[i].name);
  return text;
}

template <typename T, size_t N>
size_t rank_of(const Named<T> (&names)[N], const T& value) {
  size_t rank = 0;
  while (rank < N && names[rank].value != value) ++rank;
  return rank;
}

// How strict a value is: zero is the strictest.
struct Ranked {
  size_t said;
  size_t now;
};

// The strictest value wins; of two equal ones the first, and the managed file is read first.
template <typename T>
void merge_strictest(Setting<T>& setting, ConfigValue<T> given, ConfigSource source, Ranked rank,
                     const std::string& json, const std::string& json_now) {
  if (source == ConfigSource::managed) setting.managed = given;
  const bool operators_first = source != ConfigSource::project && !setting.is_set();
  if (operators_first || rank.said < rank.now || (rank.said == rank.now && !setting.is_set())) {
    if (setting.is_set()) setting.overruled.push_back({json_now, setting.origin});
    setting.value = std::move(given.value);
    setting.origin = std::move(given.origin);
  } else if (rank.said > rank.now) {
    setting.overruled.push_back({json, std::move(given.origin)});
  }
}

// One of several names, strictest first.
template <auto field, const auto& names>
Result<void> read_choice(Settings& settings, const SettingEntry& entry) {
  constexpr size_t count = std::size(names);
  size_t said = 0;
  while (said < count && !(entry.member.value.is_string() && entry.member.value.text == names[said].name))
    ++said;
  if (said == count) return wrong(entry, "is not " + listed(names, count));
  const size_t standard = rank_of(names, (Settings().*field).value);
  if (entry.source == ConfigSource::project && said > standard)
    return wrong(entry, "can only be tightened by a project: " + listed(names, standard + 1));
  auto& setting = settings.*field;
  const size_t now = rank_of(names, setting.value);
  merge_strictest(setting, {names[said].value, origin_of(entry)}, entry.source, {said, now},
                  json_quote(names[said].name), json_quote(names[now].name));
  return {};
}

// true or false, of which one is the strict one.
template <auto field, bool strict>
Result<void> read_boolean(Settings& settings, const SettingEntry& entry) {
  if (!entry.member.value.is_boolean()) return wrong(entry, "is not true or false");
  const bool said = entry.member.value.truth;
  auto& setting = settings.*field;
  if (entry.source == ConfigSource::project && said != strict)
    return wrong(entry, std::string("can only be tightened by a project: ") + (strict ? "true" : "false"));
  const auto rank = [](bool value) { return value == strict ? size_t{0} : size_t{1}; };
  const auto json = [](bool value) { return std::string(value ? "true" : "false"); };
  merge_strictest(setting, {said, origin_of(entry)}, entry.source, {rank(said), rank(setting.value)},
                  json(said), json(setting.value));
  return {};
}

// Of values that are not more or less strict the managed file's holds against the user's.
template <typename T>
void take_first(Setting<T>& setting, const SettingEntry& entry, T given, const std::string& json) {
  if (entry.source == ConfigSource::managed) setting.managed = {given, origin_of(entry)};
  if (setting.is_set()) {
    setting.overruled.push_back({json, origin_of(entry)});
  } else {
    setting.value = std::move(given);
    setting.origin = origin_of(entry);
  }
}

// A directory.
template <auto field>
Result<void> read_path(Settings& settings, const SettingEntry& entry) {
  const JsonValue& value = entry.member.value;
  if (!value.is_string() || !is_plain_absolute(value.text)) return wrong(entry, "is not an absolute path");
  take_first(settings.*field, entry, {value.text}, json_quote(value.text));
  return {};
}

// What is wrong with an item of a list; empty: nothing.
using FaultOfItem = std::string_view(std::string_view item);

std::string_view fault_of_directory(std::string_view item) {
  return is_plain_absolute(item) ? "" : "has what is no absolute path";
}

std::string_view fault_of_live_path(std::string_view item) {
  const std::string_view path = live_directory(item);
  return !path.empty() && is_plain_absolute("/" + std::string(path))
             ? ""
             : "has what is no path below a workspace";
}

std::string_view fault_of_hidden(std::string_view item) {
  return HiddenGlobs::read({std::string(item)}).ok() ? ""
                                                     : "has what is no pattern of paths below a workspace";
}

// A grant opens exactly what it names.
std::string_view fault_of_secret(std::string_view item) {
  const bool home = item.starts_with("~/") && is_plain_absolute(item.substr(1));
  if (!home && !is_plain_absolute(item)) return "has what is no absolute path and does not begin with ~/";
  return item.find_first_of("*?[") == std::string_view::npos ? "" : "has a glob: name each path";
}

// As Cloche and sha256sum write it.
bool is_sha256_hex(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string_view fault_of_approval(std::string_view item) {
  constexpr std::string_view digest = "@sha256:";
  const size_t at = item.find('@');
  const bool pinned = at != std::string_view::npos && item.substr(at).starts_with(digest) &&
                      is_sha256_hex(item.substr(at + digest.size()));
  const bool named = is_executor_name(item.substr(0, at));
  return named && (at == std::string_view::npos || pinned) ? "" : "has what is no NAME or NAME@sha256:HEX";
}

// Lists of the managed and the user's file count together.
template <auto field, FaultOfItem fault_of>
Result<void> read_list(Settings& settings, const SettingEntry& entry) {
  if (!entry.member.value.is_array()) return wrong(entry, "is not a list");
  auto& setting = settings.*field;
  for (const auto& item : entry.member.value.items) {
    if (!item.is_string() || item.text.empty()) return wrong(entry, "is not a list of texts");
    if (const std::string_view fault = fault_of(item.text); !fault.empty())
      return json_error(entry.file.path, item.line, entry.member.name + " " + std::string(fault));
    setting.value.push_back(item.text);
  }
  setting.origin.place += (setting.is_set() ? ", " : "") + origin_of(entry).place;
  setting.origin.kind = Origin::Kind::file;
  return {};
}

Result<std::string> profile_name(const SettingEntry& entry, const JsonValue& value) {
  if (!value.is_string() || !is_profile_name(value.text))
    return json_error(entry.file.path, value.line, entry.member.name + ": not the name of a profile");
  return value.text;
}

// The same; a project's value that could never have an effect is refused, because it would be believed.
Result<std::string> tightening_profile(const SettingEntry& entry, const JsonValue& value) {
  std::string name = TRY(profile_name(entry, value));
  if (entry.source == ConfigSource::project && name == name_of(Profile::workspace_write))
    return json_error(
        entry.file.path, value.line,
        entry.member.name + " can only be tightened by a project, and workspace-write is the widest");
  return name;
}

// Whether there is a profile of this name is checked when the profiles are loaded.
Result<void> read_default_profile(Settings& settings, const SettingEntry& entry) {
  std::string name = TRY(tightening_profile(entry, entry.member.value));
  settings.default_profile.of(entry.source) = {std::move(name), origin_of(entry)};
  return {};
}

Result<void> read_rules(Settings& settings, const SettingEntry& entry) {
  if (!entry.member.value.is_array()) return wrong(entry, "is not a list");
  for (const auto& item : entry.member.value.items) {
    const auto fail = [&](const std::string& what) {
      return json_error(entry.file.path, item.line, "rules: " + what);
    };
    if (!item.is_object()) return fail("a rule is an object with tool and profile");
    for (const auto& member : item.members)
      if (member.name != "tool" && member.name != "profile")
        return fail("unknown key " + json_quote(shown(member.name, 80)));
    const JsonValue* tool = item.find("tool");
    const JsonValue* profile = item.find("profile");
    if (tool == nullptr || profile == nullptr) return fail("a rule is an object with tool and profile");
    if (!tool->is_string() || !is_tool_pattern(tool->text))
      return fail("tool is not a name, or a glob with * and ?");
    std::string named = TRY(tightening_profile(entry, *profile));
    settings.rules.push_back({std::string(canonical_tool(tool->text)),
                              std::move(named),
                              entry.source,
                              {Origin::Kind::file, file_line(entry.file.path, item.line)}});
  }
  return {};
}

Result<void> read_changes(Settings& settings, const SettingEntry& entry) {
  const Decision loosest = entry.source == ConfigSource::project ? Decision::ask : Decision::allow;
  for (auto& rule : TRY(read_change_rules(entry.member.value, entry.file.path, loosest)))
    settings.changes.push_back(std::move(rule));
  return {};
}

// The managed and the user's hosts count together; a project says which of them stay.
Result<void> read_net(Settings& settings, const SettingEntry& entry) {
  const HostSettings said = TRY(read_host_settings(entry.member.value, entry.member.name, entry.file.path));
  auto& setting = settings.net;
  if (entry.source == ConfigSource::project) {
    if (!said.ranges.empty())
      return wrong(entry, "of a project has no addresses: they are the operator's to name");
    setting.value = narrowed_hosts(setting.value, said.words);
  } else {
    settings.net_ranges.insert(settings.net_ranges.end(), said.ranges.begin(), said.ranges.end());
    for (const auto& word : said.words)
      if (!contains(setting.value, word)) setting.value.push_back(word);
  }
  setting.origin.place += (setting.is_set() ? ", " : "") + origin_of(entry).place;
  setting.origin.kind = Origin::Kind::file;
  return {};
}

Result<uint64_t> undo_bound(const SettingEntry& entry, const JsonMember& member, bool is_size) {
  const std::string name = entry.member.name + "." + member.name;
  const auto read = is_size ? parse_size(name, member.value.text) : parse_count(name, member.value.text);
  if (read.ok() && (member.value.is_string() || member.value.is_number())) return read.value();
  return json_error(entry.file.path, member.line, name + (is_size ? " is no size" : " is no number"));
}

Result<void> read_undo(Settings& settings, const SettingEntry& entry) {
  if (!entry.member.value.is_object()) return wrong(entry, "is not an object");
  UndoBounds bounds;
  for (const auto& member : entry.member.value.members) {
    if (member.name == "count") {
      bounds.count = TRY(undo_bound(entry, member, false));
    } else if (member.name == "bytes") {
      bounds.bytes = TRY(undo_bound(entry, member, true));
    } else if (member.name == "ignored_bytes") {
      bounds.ignored_bytes = TRY(undo_bound(entry, member, true));
    } else {
      return wrong(entry, "has an unknown member " + json_quote(shown(member.name, 80)));
    }
  }
  take_first(settings.undo, entry, bounds, undo_json(bounds));
  return {};
}

Result<void> read_pool(Settings& settings, const SettingEntry& entry) {
  const JsonValue& value = entry.member.value;
  size_t said = 0;
  const char* end = value.text.data() + value.text.size();
  const auto [at, problem] = std::from_chars(value.text.data(), end, said);
  if (!value.is_number() || problem != std::errc{} || at != end || said > most_pool)
    return wrong(entry, "is not a number from 0 to " + std::to_string(most_pool));
  settings.pool.of(entry.source) = {said, origin_of(entry)};
  return {};
}

// Nothing: "auto".
Result<std::optional<size_t>> call_bound(const SettingEntry& entry, const JsonMember& member, size_t most) {
  using Bound = std::optional<size_t>;
  const std::string name = entry.member.name + "." + member.name;
  if (member.value.is_string() && member.value.text == "auto") return Bound();
  const auto read = parse_count(name, member.value.text);
  const bool is_written = member.value.is_string() || member.value.is_number();
  if (is_written && read.ok() && read.value() <= most) return Bound(static_cast<size_t>(read.value()));
  return json_error(entry.file.path, member.line,
                    name + " is neither \"auto\" nor a number from 1 to " + std::to_string(most));
}

Result<void> read_calls(Settings& settings, const SettingEntry& entry) {
  if (!entry.member.value.is_object()) return wrong(entry, "is not an object");
  CallBounds bounds;
  for (const auto& member : entry.member.value.members) {
    if (member.name == "at_once") {
      bounds.at_once = TRY(call_bound(entry, member, most_calls_at_once));
    } else if (member.name == "waiting") {
      bounds.waiting = TRY(call_bound(entry, member, most_calls_waiting));
    } else {
      return wrong(entry, "has an unknown member " + json_quote(shown(member.name, 80)));
    }
  }
  take_first(settings.calls, entry, bounds, calls_json(bounds));
  return {};
}

Result<void> read_limits(Settings& settings, const SettingEntry& entry) {
  for (const auto& limit : TRY(read_limit_settings(entry.member.value, entry.file.path))) {
    const Origin origin{Origin::Kind::file, file_line(entry.file.path, limit.line)};
    settings.limits[static_cast<size_t>(limit.id)].of(entry.source) = {limit.value, origin};
  }
  return {};
}

// By policy/rules.
Result<void> read_elsewhere(Settings&, const SettingEntry&) { return {}; }

constexpr std::string_view strictest_wins = "the strictest wins";
constexpr std::string_view managed_first = "the managed file's stands";
constexpr std::string_view together = "lists count together";

constexpr SettingRow table[] = {
    {"enabled", "true or false", "true", strictest_wins, read_boolean<&Settings::enabled, true>},
    {"allow_sandbox_off", "true or false", "", strictest_wins,
     read_boolean<&Settings::allow_sandbox_off, false>},
    {"default_profile", "the name of a sandbox profile", "a name; what both allow holds", "all of them hold",
     read_default_profile},
    {"rules", "a list of {\"tool\": PATTERN, \"profile\": NAME}", "rules; what both allow holds",
     "all of them hold", read_rules},
    {"profiles_dir", "an absolute path", "", managed_first, read_path<&Settings::profiles_dir>},
    {"executors_dir", "an absolute path", "", managed_first, read_path<&Settings::executors_dir>},
    {"permissions", "permission rules", "rules; the strictest answer wins", "the strictest answer wins",
     read_elsewhere},
    {"autonomy", "readonly, supervised or full", "readonly or supervised", strictest_wins,
     read_choice<&Settings::autonomy, autonomies>},
    {"isolation", "a level: subprocess, namespace, container, gvisor, microvm", "namespace or a higher level",
     strictest_wins, read_choice<&Settings::isolation, levels>},
    {"missing", "refuse or degrade", "refuse", strictest_wins, read_choice<&Settings::missing, missings>},
    {"landlock", "required or optional", "required", strictest_wins,
     read_choice<&Settings::landlock, landlock_words>},
    {"limits", "an object of limits", "less than what holds without it", "the smallest of each", read_limits},
    {"commands", "passive, full or any", "passive or full", strictest_wins,
     read_choice<&Settings::commands, command_profiles>},
    {"tool_path", "a list of directories", "", together, read_list<&Settings::tool_path, fault_of_directory>},
    {"dotfiles", "refuse or allow", "refuse", strictest_wins,
     read_choice<&Settings::dotfiles, dotfiles_words>},
    {"writes", "stage, commit or live", "stage or commit", strictest_wins,
     read_choice<&Settings::writes, writes_words>},
    {"background", "commit or live", "", strictest_wins,
     read_choice<&Settings::background, background_words>},
    {"changes", "a list of rules on changes", "rules with ask or deny", "the strictest answer wins",
     read_changes},
    {"live_paths", "a list of directories below the workspace", "", together,
     read_list<&Settings::live_paths, fault_of_live_path>},
    {"net", "a list of hosts", "those of the operator's that stay", together, read_net},
    {"hide", "a list of patterns of paths", "patterns; all of them count", together,
     read_list<&Settings::hide, fault_of_hidden>},
    {"undo", "{\"count\": N, \"bytes\": SIZE, \"ignored_bytes\": SIZE}", "", managed_first, read_undo},
    {"calls", "{\"at_once\": N, \"waiting\": N}", "", managed_first, read_calls},
    {"durable", "true or false", "true", strictest_wins, read_boolean<&Settings::durable, true>},
    {"record", "on or off", "on", strictest_wins, read_choice<&Settings::record, record_words>},
    {"pool", "a number from 0 to 16", "less than what holds without it", "the smallest", read_pool},
    {"warm", "a list of python3 and python3:MODULE,...", "", together,
     read_list<&Settings::warm, fault_of_warm>},
    {"secret_grants", "a list of paths", "", together, read_list<&Settings::secret_grants, fault_of_secret>},
    {"approved_executors", "a list of names", "", together,
     read_list<&Settings::approved_executors, fault_of_approval>},
};

Result<void> read_file(Settings& settings, const std::optional<ConfigFile>& file, ConfigSource source) {
  if (!file) return {};
  for (const auto& member : file->root.members) {
    const SettingEntry entry{*file, member, source};
    for (const auto& row : table) {
      if (row.key != member.name) continue;
      if (source == ConfigSource::project && row.projects.empty())
        return wrong(entry, "cannot be set by a project");
      TRY(row.read(settings, entry));
    }
  }
  return {};
}

// As Python writes it: a.b_c.
bool is_module(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  for (bool first = true; const char c : name) {
    if (c == '.' ? first : !is_letter(c) && (first || c < '0' || c > '9')) return false;
    first = c == '.';
  }
  return !name.empty() && name.back() != '.';
}

std::string json_of(const ConfigValue<uint64_t>& given, LimitId id) {
  return json_quote(show_limit(id, given.value));
}

}  // namespace

std::string_view live_directory(std::string_view item) {
  for (const std::string_view end : {"/**", "/"})
    if (item.ends_with(end)) item.remove_suffix(end.size());
  return item;
}

Texts modules_of_warm(std::string_view item) {
  Texts modules;
  const size_t colon = item.find(':');
  if (colon == item.npos) return modules;
  for (item.remove_prefix(colon + 1);; item.remove_prefix(modules.back().size() + 1)) {
    modules.emplace_back(item.substr(0, item.find(',')));
    if (modules.back().size() == item.size()) return modules;
  }
}

std::string_view fault_of_warm(std::string_view item) {
  if (item.substr(0, item.find(':')) != "python3") return "has another program than python3";
  const Texts modules = modules_of_warm(item);
  return std::ranges::all_of(modules, is_module) ? "" : "has something else than modules after python3:";
}

std::string undo_json(const UndoBounds& bounds) {
  return "{\"count\":" + std::to_string(bounds.count) + ",\"bytes\":" + json_quote(show_size(bounds.bytes)) +
         ",\"ignored_bytes\":" + json_quote(show_size(bounds.ignored_bytes)) + "}";
}

std::string calls_json(const CallBounds& bounds) {
  const auto written = [](const std::optional<size_t>& bound) {
    return bound ? std::to_string(*bound) : json_quote("auto");
  };
  return "{\"at_once\":" + written(bounds.at_once) + ",\"waiting\":" + written(bounds.waiting) + "}";
}

std::string_view name_of(ConfigSource source) {
  static constexpr std::string_view names[] = {"managed", "user", "project"};
  return name_in<ConfigSource::project>(names, source);
}

std::string_view name_of(Missing missing) { return missing == Missing::degrade ? "degrade" : "refuse"; }

std::string_view name_of(Landlock landlock) {
  return landlock == Landlock::optional ? "optional" : "required";
}

std::string text_of(const Origin& origin) {
  return origin.kind == Origin::Kind::standard ? "default" : origin.place;
}

std::span<const SettingRow> settings_table() { return table; }

std::span<const std::string_view> settings_keys() {
  static constexpr auto keys = [] {
    std::array<std::string_view, std::size(table)> names = {};
    for (size_t i = 0; i < names.size(); ++i) names[i] = table[i].key;
    return names;
  }();
  return keys;
}

Result<Settings> settings_of(const ConfigFiles& files) {
  Settings settings;
  // Of equal values the first is the one that is named, and of paths the first holds.
  TRY(read_file(settings, files.managed, ConfigSource::managed));
  TRY(read_file(settings, files.user, ConfigSource::user));
  TRY(read_file(settings, files.project, ConfigSource::project));
  return settings;
}

Setting<size_t> pool_of(const Settings& settings, const std::optional<size_t>& asked, size_t usual) {
  const auto& [managed, user, project] = settings.pool;
  Setting<size_t> pool{.value = asked.value_or(usual)};
  if (asked) pool.origin = {Origin::Kind::flag, "--pool"};
  const auto take = [&](const ConfigValue<size_t>& said) {
    if (pool.is_set()) pool.overruled.push_back({std::to_string(pool.value), pool.origin});
    pool.value = said.value;
    pool.origin = said.origin;
  };
  if (user && !asked) take(*user);
  if (managed && (!pool.is_set() || managed->value < pool.value)) take(*managed);
  if (project && project->value < pool.value) take(*project);
  return pool;
}

Writes background_writes(const Settings& settings, Writes writes) {
  const auto& managed = settings.writes.managed;
  const bool is_open = !managed || managed->value == Writes::live;
  return writes == Writes::commit && is_open ? settings.background.value : writes;
}

Setting<uint64_t> chosen_limit(const Settings& settings, const LimitQuestion& question) {
  const ValuesBySource<uint64_t>& by_source = settings.limits[static_cast<size_t>(question.id)];
  Setting<uint64_t> chosen{.value = question.standard};
  const auto overrule = [&](const ConfigValue<uint64_t>& given) {
    chosen.overruled.push_back({json_of(given, question.id), given.origin});
  };
  // The smaller one; an operator's first value also where it is above the default.
  const auto meet = [&](const std::optional<ConfigValue<uint64_t>>& given, ConfigSource source) {
    if (!given) return;
    const bool first = !chosen.is_set() && (source != ConfigSource::project || given->value <= chosen.value);
    if (first || given->value < chosen.value) {
      if (chosen.is_set()) overrule({chosen.value, chosen.origin});
      chosen.value = given->value;
      chosen.origin = given->origin;
    } else if (given->value > chosen.value) {
      overrule(*given);
    }
  };
  if (question.asked) {
    chosen.value = *question.asked;
    chosen.origin = {Origin::Kind::flag, std::string(info_of(question.id).flag)};
    for (const auto* given : {&by_source.user, &by_source.project})
      if (*given) overrule(**given);
  } else {
    meet(by_source.user, ConfigSource::user);
    meet(by_source.project, ConfigSource::project);
  }
  meet(by_source.managed, ConfigSource::managed);
  chosen.managed = by_source.managed;
  return chosen;
}

}  // namespace cloche
