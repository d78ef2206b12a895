// What the configuration sets beside permission rules: one table of keys, and what the three files together
// mean.
//
// Of the values in the managed, the user's and the project's file the strictest wins, and each knows the line
// that it came from. A project's file may only tighten. A value that would widen refuses the whole file:
// a value without effect would be believed. Only where a project cannot know what it would have to be below
// (a limit, an isolation level that the user has set lower) its value is overruled, and `cloche config` shows
// that.
#pragma once

#include <array>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/backend.hpp"
#include "model/call.hpp"
#include "model/call_bounds.hpp"
#include "model/layers.hpp"
#include "model/limits.hpp"
#include "model/undo_bounds.hpp"
#include "policy/changes/change_rules.hpp"
#include "store/config/rule_files.hpp"

namespace cloche {

enum class ConfigSource { managed, user, project };
std::string_view name_of(ConfigSource source);

// The directory that an item of live_paths means: "data" of "data/**" and of "data/".
std::string_view live_directory(std::string_view item);

// Where a value was set.
struct Origin {
  enum class Kind { standard, file, flag, environment };
  Kind kind = Kind::standard;
  std::string place = {};  // FILE:LINE, --flag, NAME

  bool operator==(const Origin&) const = default;
};
// "default", "/etc/cloche/config.json:3", "--autonomy", "CLOCHE_SANDBOX"
std::string text_of(const Origin& origin);

template <typename T>
struct ConfigValue {
  T value = {};
  Origin origin = {};
};

// A value that did not win, as `cloche config` shows it.
struct Overruled {
  std::string value;  // JSON
  Origin origin;
};

template <typename T>
struct Setting {
  T value = {};
  Origin origin = {};
  std::optional<ConfigValue<T>> managed = {};  // no flag and no program at run time goes beyond it
  std::vector<Overruled> overruled = {};

  bool is_set() const { return origin.kind != Origin::Kind::standard; }
};

// Each file's own value, for keys whose result depends on flags and defaults too.
template <typename T>
struct ValuesBySource {
  std::optional<ConfigValue<T>> managed = {};
  std::optional<ConfigValue<T>> user = {};
  std::optional<ConfigValue<T>> project = {};

  std::optional<ConfigValue<T>>& of(ConfigSource source) {
    return source == ConfigSource::managed ? managed : (source == ConfigSource::user ? user : project);
  }
};

// The sandbox profile for calls of the tools whose names the pattern matches.
struct ProfileRule {
  std::string tool;
  std::string profile;
  ConfigSource source = ConfigSource::project;
  Origin origin = {};
};

using Texts = std::vector<std::string>;

struct Settings {
  Setting<bool> enabled = {.value = true};  // false: the operator does without isolation, knowingly
  Setting<bool> allow_sandbox_off = {};     // whether mcp, serve and hook honour CLOCHE_SANDBOX=off
  Setting<IsolationLevel> isolation = {.value = IsolationLevel::namespaces};
  Setting<Missing> missing = {.value = Missing::refuse};
  Setting<Landlock> landlock = {.value = Landlock::required};
  Setting<Autonomy> autonomy = {.value = Autonomy::supervised};
  Setting<CommandProfile> commands = {.value = CommandProfile::full};
  Setting<bool> dotfiles = {};  // dotfiles: allow - file tools may write them
  Setting<Writes> writes = {.value = Writes::commit};
  Setting<Writes> background = {.value = Writes::commit};  // of commands that an agent does not wait for
  Setting<Texts> live_paths = {};                          // below a workspace: written without a layer
  Setting<Texts> hide = {};                                // of the shown trees, what no call reads
  Setting<UndoBounds> undo = {};
  Setting<CallBounds> calls = {};          // that run and wait in one gateway
  Setting<bool> durable = {};              // the record is on the disk before a call goes on
  Setting<bool> record = {.value = true};  // of a `cloche run` that names no run; every other call has one
  Setting<std::optional<std::string>> profiles_dir = {};   // the operator's own sandbox profiles
  Setting<std::optional<std::string>> executors_dir = {};  // the operator's own tools
  Setting<Texts> tool_path = {};                           // directories for PATH, shown read-only
  Setting<Texts> net =
      {};                 // hosts as --net names them, of every command and call whose profile has a network
  Texts net_ranges = {};  // where they may lead besides, in the plan's spelling
  ValuesBySource<size_t> pool = {};        // sandboxes that are prepared ahead of calls
  Setting<Texts> warm = {};                // programs that wait for their call, in a server
  Setting<Texts> secret_grants = {};       // secrets that skills may name in their hints
  Setting<Texts> approved_executors = {};  // whose code:exec needs no approval
  ValuesBySource<std::string> default_profile = {};
  std::vector<ProfileRule> rules = {};
  std::vector<ChangeRule> changes = {};  // what of a call's writes is asked about, or withheld
  std::array<ValuesBySource<uint64_t>, std::size(limit_table)> limits = {};  // by LimitId
};

// One key as a file sets it.
struct SettingEntry {
  const ConfigFile& file;
  const JsonMember& member;
  ConfigSource source;
};
// One row for each key. A new key is a field above and a row in settings.cpp.
struct SettingRow {
  std::string_view key;
  std::string_view values;    // how it is written
  std::string_view projects;  // what a project may set; empty: nothing
  std::string_view merge;     // what two files together mean
  Result<void> (*read)(Settings& settings, const SettingEntry& entry);
};
std::span<const SettingRow> settings_table();
// The keys of the table.
std::span<const std::string_view> settings_keys();

Result<Settings> settings_of(const ConfigFiles& files);

// How many sandboxes are prepared ahead of calls: what a flag or a program asks for, else what the operator's
// files say, else what the front end has. The managed file is a bound for it, and so is the project's.
inline constexpr size_t most_pool = 16;
Setting<size_t> pool_of(const Settings& settings, const std::optional<size_t>& asked, size_t usual);
// What is wrong with an item of the key `warm`, or of --warm; empty: nothing.
std::string_view fault_of_warm(std::string_view item);
// The modules of "python3:numpy,pandas".
Texts modules_of_warm(std::string_view item);

// As the key `undo` is written.
std::string undo_json(const UndoBounds& bounds);
// As the key `calls` is; "auto" is what nothing says.
std::string calls_json(const CallBounds& bounds);

// A setting with what a flag or a program asks for: the stricter of the two where a file sets it, else the
// flag. The smaller value is the stricter one.
template <typename T>
Setting<T> with_flag(Setting<T> setting, const std::optional<T>& asked, std::string flag) {
  if (!asked) return setting;
  const bool flag_wins = !setting.is_set() || *asked < setting.value;
  if (!flag_wins) return setting;
  setting.value = *asked;
  setting.origin = {Origin::Kind::flag, std::move(flag)};
  return setting;
}

// How a command writes that an agent does not wait for, where others write as `writes` says. The key
// `background` turns commit into live, never stage, and never beyond what the managed file says of `writes`.
Writes background_writes(const Settings& settings, Writes writes);

// The limit that holds. A flag may go below or above the user's and the project's value, never above the
// managed one; a project can only go below what holds without it.
struct LimitQuestion {
  LimitId id = LimitId::wall;
  uint64_t standard = 0;
  std::optional<uint64_t> asked = {};  // by its flag
};
Setting<uint64_t> chosen_limit(const Settings& settings, const LimitQuestion& question);

// The names that files write for these, strictest first.
std::string_view name_of(Missing missing);
std::string_view name_of(Landlock landlock);

}  // namespace cloche
