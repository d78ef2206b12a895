// What the configuration of a workspace comes to, and how it reaches calls and `cloche run`: the files are
// read once, the strictest word of each key is chosen, and what was overruled is told.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/sys/environment.hpp"
#include "gateway/configuration/installation.hpp"
#include "model/run_request.hpp"
#include "model/skill.hpp"
#include "model/tool.hpp"
#include "policy/authority/profiles.hpp"
#include "policy/rules/rules.hpp"
#include "store/config/settings.hpp"

namespace cloche {

struct Configuration {
  ConfigFiles files = {};
  Settings settings = {};
  RuleFiles rules = {};
  Profiles profiles = {};
};

// A file, a profile or a path of it that cannot be taken is an error: nothing passes then.
Result<Configuration> load_configuration(const Environment& environment, const Installation& installation,
                                         const std::string& workspace);

// Of the rules for profiles, those whose names none of our tools has, a sentence each. An executor may have
// it; a slip of the pen has not.
std::vector<std::string> rules_without_tool(const Settings& settings);

// Of the permission rules, those that never decide, a sentence each with file and line: they name a tool or
// an argument that nothing has, or one before them always decides. `own` are the tools that are not shipped.
std::vector<std::string> rules_that_never_decide(const RuleFiles& rules,
                                                 const std::vector<ToolSpec>& own = {});

// Whether the text of one file could be taken as that file, its rules' examples and its profiles included.
// What comes back is worth a look all the same.
Result<std::vector<std::string>> check_configuration(std::string_view text, const std::string& path,
                                                     ConfigSource source, const Environment& environment);

// Which profiles hold for a tool, as one. `asked` is what --profile or the program said.
struct ProfileQuestion {
  std::string_view tool;  // empty: for tools about which no rule says anything
  std::optional<std::string> asked = {};
  Profile unsaid = Profile::workspace_write_no_network;  // where no flag and no file of the operator's speaks
};
struct ChosenProfile {
  SandboxProfile profile;
  Origin origin = {};
  std::vector<Overruled> overruled = {};
};
Result<ChosenProfile> chosen_profile(const Settings& settings, const Profiles& profiles,
                                     const ProfileQuestion& question);
// What was asked for by a flag or, in C++, by its field.
std::optional<std::string> asked_profile(const RunRequest& request);

// What a program changes between calls. A call keeps what it began with.
struct RuntimeSettings {
  std::optional<Autonomy> autonomy = {};
  std::optional<std::string> default_profile = {};
  std::optional<bool> enabled = {};
};

// Never beyond what the managed file says. Pure.
Result<void> judge_runtime_settings(const RuntimeSettings& runtime_settings, const Settings& settings,
                                    const Profiles& profiles);

// Limits, level and tool_path of the configuration, into what flags said. Sentences about what the project
// asked for and did not get are added to `notes`.
Result<void> configure(RunRequest& request, const Settings& settings, std::vector<std::string>& notes);

// All of it, for a command of the operator's, which is judged as run_shell is; whatever this host can build.
Result<void> configure_command(RunRequest& request, const Configuration& configuration,
                               std::vector<std::string>& notes);

// Autonomy readonly over an operator's own command, as over a call: what it would write it only reads, and
// the network gate refuses what it would reach. The other levels ask, and the operator's flags are the
// answer.
void cap_by_autonomy(RunRequest& request, const Settings& settings, std::vector<std::string>& notes);

// What the operator's trees come to under autonomy readonly: they are shown, and a note says why nothing is
// written there.
void show_read_only(RunRequest& request, const std::string& why, std::vector<std::string>& notes);

// Refuses a state directory that lies in the workspace, before anything is made in it: the planner would
// refuse as well, and leave the directory behind.
Result<void> judge_state(const std::string& state, const RunRequest& request);
Result<void> judge_state(const std::string& state, const std::string& workspace);  // which is resolved

// The isolation level that was asked for last becomes the request's; one that is not built refuses, in the
// name of `who`.
Result<void> settle_rung(RunRequest& request, const std::string& who);

// What an executor requires, in place of a weaker level; a stronger one stays, and a note says so.
Result<void> raise_rung(RunRequest& request, const Executor& executor, std::vector<std::string>& notes);

}  // namespace cloche
