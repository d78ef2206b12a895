// What the calls of a session, or one executor, may have: the operator's ceilings with what a skill or a
// manifest declares. Pure. Nothing declared reaches above the operator's; what came with a project only takes
// away.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/call.hpp"
#include "model/run_request.hpp"
#include "model/skill.hpp"
#include "policy/authority/capabilities.hpp"

namespace cloche {

// What autonomy makes of a use that was declared.
enum class Treatment { granted, read_only, asked, refused };
std::string_view name_of(Treatment treatment);

enum class Use { read, write_workspace, write_outside, network, execute_approved, execute };

struct UseRow {
  Use use;
  std::string_view what;
  Treatment readonly;
  Treatment supervised;
  Treatment full;
};
inline constexpr UseRow use_table[] = {
    {Use::read, "fs:read", Treatment::granted, Treatment::granted, Treatment::granted},
    {Use::write_workspace, "fs:write in the workspace", Treatment::read_only, Treatment::granted,
     Treatment::granted},
    {Use::write_outside, "fs:write outside of it", Treatment::read_only, Treatment::asked,
     Treatment::granted},
    {Use::network, "network", Treatment::refused, Treatment::asked, Treatment::granted},
    // The shipped tools under the default profile, and executors that the operator has approved by name.
    {Use::execute_approved, "code:exec, approved before", Treatment::refused, Treatment::granted,
     Treatment::granted},
    {Use::execute, "code:exec", Treatment::refused, Treatment::asked, Treatment::granted},
};
Treatment treatment_of(Use use, Autonomy level);

// What the operator's flags and configuration give.
struct OperatorDefaults {
  Ceilings ceilings = {};  // of a session without a skill, and the top of one that has it
  Profile profile =
      Profile::workspace_write_no_network;  // under readonly nothing that is declared is writable
  // What a trusted skill may raise `commands` to, and never to any; unset: no more than the ceilings have.
  std::optional<CommandProfile> most_commands = {};
  std::vector<std::string> executors = {};           // names of those that were loaded
  std::vector<std::string> approved_executors = {};  // about whose code:exec autonomy does not ask
};

// A path outside the workspace (of an executor: anywhere), as declared: the fine filter over its mount.
struct FineHint {
  std::string pattern = {};  // absolute
  bool writable = false;

  bool operator==(const FineHint&) const = default;
};

struct Authority {
  Ceilings ceilings = {};
  std::vector<Grant> grants = {};    // outside the workspace; a later one stands over an earlier
  std::vector<FineHint> hints = {};  // what of the grants is meant
  // Where in the workspace may be written: absolute patterns. Unset: as the sandbox profile says; empty:
  // nowhere.
  std::optional<std::vector<std::string>> write_hints = {};
  // An executor sees no workspace: what it declares of it is among its grants.
  bool workspace_shown = true;
  bool may_execute = false;               // code:exec: run_script, and an executor's programs of its own
  std::vector<std::string> asks = {};     // sentences; autonomy supervised asks about each
  std::vector<std::string> unasked = {};  // tools about which it does not (allowed-tools)
  std::vector<std::string> notes = {};    // what was dropped or tightened, and why: for explain and record
};

// Without a skill: the operator's own.
Result<Authority> authority_of(const OperatorDefaults& operators, const Skill* skill, const HostPaths& host);
// An executor has nothing that it does not declare, and its own folder read-only.
Result<Authority> authority_of(const OperatorDefaults& operators, const Executor& executor,
                               const HostPaths& host);

// The skill's limits, of each the smaller one; whose they are is noted. After the operator's own and the
// profile's, which could put others in their place.
void take_limits(RunRequest& request, const Skill& skill);

// Whether the skill answers autonomy's questions about this tool.
bool is_unasked(const Authority& authority, std::string_view tool);
// The sentences that a call of this tool is asked about.
std::vector<std::string> asks_about(const Authority& authority, std::string_view tool);

}  // namespace cloche
