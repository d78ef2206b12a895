// What the configuration says beside permission rules. A project's file may only tighten; what it would widen
// refuses the file, because a word that is silently without effect would be believed.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "store/rule_files.hpp"

namespace cloche {

struct Settings {
  bool dotfiles = false;                             // dotfiles: allow - file tools may write them
  bool durable = false;                              // the record is on the disk before a call goes on
  std::optional<std::string> executors_dir = {};     // the operator's own tools
  std::vector<std::string> secret_grants = {};       // secrets that skills may name in their hints
  std::vector<std::string> approved_executors = {};  // whose code:exec nobody is asked about
};

// The keys that settings_of() honours.
std::span<const std::string_view> settings_keys();

// The managed file before the user's; lists of both count together.
Result<Settings> settings_of(const ConfigFiles& files);

}  // namespace cloche
