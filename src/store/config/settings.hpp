// What the configuration says beside permission rules: one table of keys, and what the three files come to.
//
// Of the managed, the user's and the project's word the strictest wins, and each knows the line that it came
// from. A project's file may only tighten: what it would widen refuses the file, because a word that is
// silently without effect would be believed. Only where it cannot know what it would have to be below - a
// limit, a level that the user has set lower - it is overruled, and `cloche config` shows it.
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
#include "model/layers.hpp"
#include "model/limits.hpp"
#include "store/config/rule_files.hpp"

namespace cloche {

enum class Whose { managed, user, project };
std::string_view name_of(Whose whose);

// Who said a value, and where.
struct Origin {
  enum class Kind { standard, file, flag, environment };
  Kind kind = Kind::standard;
  std::string place = {};  // FILE:LINE, --flag, NAME

  bool operator==(const Origin&) const = default;
};
// "default", "/etc/cloche/config.json:3", "--autonomy", "CLOCHE_SANDBOX"
std::string text_of(const Origin& origin);

template <typename T>
struct Voice {
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
  std::optional<Voice<T>> managed = {};  // what nobody goes beyond: no flag, and no program at run time
  std::vector<Overruled> overruled = {};

  bool is_said() const { return origin.kind != Origin::Kind::standard; }
};

// Each file's own word, where flags and defaults have a say in what it comes to.
template <typename T>
struct Voices {
  std::optional<Voice<T>> managed = {};
  std::optional<Voice<T>> user = {};
  std::optional<Voice<T>> project = {};

  std::optional<Voice<T>>& of(Whose whose) {
    return whose == Whose::managed ? managed : (whose == Whose::user ? user : project);
  }
};

// The sandbox profile for calls of the tools whose names the pattern matches.
struct ProfileRule {
  std::string tool;
  std::string profile;
  Whose whose = Whose::project;
  Origin origin = {};
};

using Texts = std::vector<std::string>;

struct Settings {
  Setting<bool> enabled = {.value = true};  // false: the operator's knowing way to do without isolation
  Setting<bool> allow_sandbox_off = {};     // whether mcp, serve and hook honour CLOCHE_SANDBOX=off
  Setting<Rung> isolation = {.value = Rung::namespaces};
  Setting<Missing> missing = {.value = Missing::refuse};
  Setting<Autonomy> autonomy = {.value = Autonomy::supervised};
  Setting<CommandProfile> commands = {.value = CommandProfile::full};
  Setting<bool> dotfiles = {};                             // dotfiles: allow - file tools may write them
  Setting<bool> durable = {};                              // the record is on the disk before a call goes on
  Setting<std::optional<std::string>> profiles_dir = {};   // the operator's own sandbox profiles
  Setting<std::optional<std::string>> executors_dir = {};  // the operator's own tools
  Setting<Texts> tool_path = {};                           // directories for PATH, shown read-only
  Setting<Texts> secret_grants = {};                       // secrets that skills may name in their hints
  Setting<Texts> approved_executors = {};                  // whose code:exec nobody is asked about
  Voices<std::string> default_profile = {};
  std::vector<ProfileRule> rules = {};
  std::array<Voices<uint64_t>, std::size(limit_table)> limits = {};  // by LimitId
  bool has_permissions = false;
};

// One row a key. A new key is a field above and a row in settings.cpp.
struct SettingWord {
  const ConfigFile& file;
  const JsonMember& member;
  Whose whose;
};
struct SettingRow {
  std::string_view key;
  std::string_view values;    // how it is written
  std::string_view projects;  // what a project may say; empty: nothing
  std::string_view merge;     // what two files come to
  Result<void> (*read)(Settings& settings, const SettingWord& word);
};
std::span<const SettingRow> settings_table();
// The keys of the table.
std::span<const std::string_view> settings_keys();

Result<Settings> settings_of(const ConfigFiles& files);

// A setting with what a flag or a program asks for: the stricter of the two where a file has spoken, else the
// flag. Strict values are the smaller ones.
template <typename T>
Setting<T> with_flag(Setting<T> setting, const std::optional<T>& asked, std::string flag) {
  if (!asked) return setting;
  const bool flag_wins = !setting.is_said() || *asked < setting.value;
  if (!flag_wins) return setting;
  setting.value = *asked;
  setting.origin = {Origin::Kind::flag, std::move(flag)};
  return setting;
}

// What a limit comes to. A flag may go below or above the user's and the project's word, never above the
// managed one; a project only ever goes below what holds without it.
struct LimitQuestion {
  LimitId id = LimitId::wall;
  uint64_t standard = 0;
  std::optional<uint64_t> asked = {};  // by its flag
};
Setting<uint64_t> chosen_limit(const Settings& settings, const LimitQuestion& question);

// The names that files write for these, strictest first.
std::string_view name_of(Missing missing);

}  // namespace cloche
