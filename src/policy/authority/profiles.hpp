// Sandbox profiles: where a command may write, whether it has network, and within which limits. Three come
// with Cloche; the operator's own are made from one of them and can only take away from it, or show more
// paths. Pure: texts in, values out.
//
// Where several apply, all of them hold: the strictest answer to each question wins.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json_text.hpp"
#include "base/result.hpp"
#include "model/layers.hpp"
#include "model/limits.hpp"
#include "model/run_request.hpp"

namespace cloche {

// What a profile must let a command do, or stop it from doing; `cloche profiles check` runs each.
struct ProfileExample {
  enum class Expect { allow, deny };
  std::vector<std::string> argv = {};
  Expect expect = Expect::deny;
  std::string says = {};  // must stand in what it prints; empty: anything may
  std::string why = {};
  int line = 0;
};

struct SandboxProfile {
  std::string name = {};
  std::string source = {};  // the file, for messages
  std::string description = {};
  std::string extends = {};  // empty: it comes with Cloche
  bool writes = false;       // the workspace, /tmp and $HOME
  bool network = false;      // what a skill or a flag declares
  std::vector<Grant> grants = {};
  std::vector<std::string> hosts = {};   // as --net names them, beside those; of a profile with a network
  std::vector<std::string> ranges = {};  // where they may lead besides
  std::vector<LimitSetting> limits = {};
  std::optional<IsolationLevel> isolation = {};
  std::vector<ProfileExample> examples = {};
};

using Profiles = std::vector<SandboxProfile>;
// One that comes with Cloche, without its examples.
SandboxProfile profile_of(const ShippedProfile& row);
// The same with the examples of its file, if it comes with Cloche; any other has them already.
Result<SandboxProfile> with_examples(const SandboxProfile& profile);

const SandboxProfile* find_profile(const Profiles& profiles, std::string_view name);
// "readonly, workspace-write and mine"
std::string names_of(const Profiles& profiles);

// The text of NAME.json. One of a shipped name describes what is built in, and must say the same. Any other
// must extend one of `known`. A path may begin with ~/, which is `home`.
struct ProfileText {
  std::string_view text;
  std::string source;
  std::string name;
};
Result<SandboxProfile> read_profile(const ProfileText& file, const Profiles& known, const std::string& home);

// What both allow.
SandboxProfile strictest(const SandboxProfile& one, const SandboxProfile& other);
// Whether `one` gives nothing that `other` does not give.
bool is_within(const SandboxProfile& one, const SandboxProfile& other);

// The shipped one that the planner is to start from.
Profile base_of(const SandboxProfile& profile);
// What a request has under it: flags showed their own paths already, and its limits only become smaller.
void apply_profile(RunRequest& request, const SandboxProfile& profile);

// Of a profile in the operator's folder: its name, which is that of its file.
Result<void> judge_own_name(const std::string& file, const std::string& name);

// A seatbelt profile means nothing to Linux; this is what comes nearest to its text.
std::string_view nearest_profile(std::string_view seatbelt);
// The refusal that says so.
Error seatbelt_refusal(const std::string& file, std::string_view text);

}  // namespace cloche
