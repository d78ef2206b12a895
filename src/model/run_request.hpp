// What an operator asks of `cloche run`, as parsed: words, not yet judged.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/backend.hpp"
#include "model/facts.hpp"
#include "model/layers.hpp"
#include "model/limits.hpp"
#include "model/plan.hpp"

namespace cloche {

// The sandbox profiles that come with Cloche, strictest first. Custom ones are made from these
// (policy/authority/profiles.hpp).
enum class Profile { readonly, workspace_write_no_network, workspace_write };
struct ShippedProfile {
  Profile profile;
  std::string_view name;
  bool writes;
  bool network;  // as declared by a skill or by flags; not any
  std::string_view description;
};
extern const ShippedProfile shipped_profiles[3];  // made from share/profiles/*.json at build time
std::string_view name_of(Profile profile);
std::optional<Profile> shipped_profile(std::string_view name);
// Letters, digits, - _ and . : what a file of that name can be looked for by.
bool is_profile_name(std::string_view name);

enum class View { curated, host };

// What a command sees of the workspace: as its profile says, only to read, or nothing.
enum class WorkspaceUse { shown, read_only, hidden };

// A text of the model's that is to be run, and where the command sees it.
struct Script {
  std::string code = {};
  std::string target = {};

  bool operator==(const Script&) const = default;
};

struct Grant {
  std::string source;       // as given
  std::string target = {};  // empty: where it is on the host
  bool writable = false;
  // What was found there when it was judged, and is held since: this is shown, and nothing is looked up
  // again.
  std::optional<FileFact> judged = {};

  bool operator==(const Grant&) const = default;
};

struct Pass {
  std::string name;
  std::optional<std::string> value = {};  // without one: the caller's

  bool operator==(const Pass&) const = default;
};

struct RunRequest {
  std::vector<std::string> argv;
  Profile profile = Profile::workspace_write_no_network;
  std::string profile_name = {};  // as it was asked for; empty: it was not, and the configuration says
  View view = View::curated;
  IsolationLevel level = IsolationLevel::namespaces;
  std::optional<Backend> backend = {};        // without one: the isolation level's own
  Landlock landlock = Landlock::required;     // of the backend native
  std::optional<std::string> workspace = {};  // without one: the working directory
  bool workspace_of_run = false;              // the artifacts/ of --run DIR, which a call makes if need be
  bool explained = false;  // nothing will be done: what a call would make first counts as made
  std::optional<std::string> directory = {};  // -C
  std::vector<Grant> grants = {};
  std::vector<Pass> environment = {};
  std::vector<Secret> secrets = {};      // over everything else; of an operator's own command alone
  std::vector<std::string> hosts = {};   // what it may reach, as ConfinementPlan has it; empty: nothing
  std::vector<std::string> ranges = {};  // where names may lead that is not public; as ConfinementPlan has it
  std::vector<PublishedPort> published = {};  // of an operator's own command alone
  std::string declared = {};                  // who said so, for sentences; empty: --net did
  Network network = Network::own;             // --net-host
  bool tool_call = false;                     // of a model's, to which no flag of `cloche run` alone can help
  std::vector<uint16_t> own_ports = {};       // where a door of this Cloche listens: no call ever reaches one
  std::string toolchains = "auto";            // auto, none, or names with commas
  Limits limits = {};
  std::vector<LimitSource> lowered_by = {};  // whose they are where not the operator's
  std::vector<LimitId> said_limits = {};     // which of them were asked for
  std::optional<IsolationLevel> isolation =
      {};                                    // what was asked for; settled into `level` where all have spoken
  std::vector<std::string> tool_path = {};   // directories of the operator's for PATH; shown by `own`
  std::optional<Writes> asked_writes = {};   // --writes
  Writes writes = Writes::live;              // with what the configuration says
  bool in_background = false;                // an agent runs it and does not wait: `background` speaks
  std::vector<std::string> live_paths = {};  // below the workspace: written without a layer
  unsigned umask = 022;                      // of the command
  bool terminal = false;
  bool debugging = false;  // --grant debug
  WorkspaceUse workspace_use = WorkspaceUse::shown;
  std::vector<Grant> own = {};            // what Cloche itself puts in: a task's home and /tmp
  std::optional<Grant> code = {};         // an executor's folder, as it was when it was loaded
  std::optional<Grant> program = {};      // one of Cloche's own that is the command, and where it is shown
  std::vector<std::string> written = {};  // where calls can write, besides what this one is granted; resolved
  bool fresh_home = false;                // even within a task: of these nothing that can be written
  std::optional<Script> script = {};
  std::string end_file =
      {};  // in $TMPDIR: a bash script that ends well leaves there where it stood; empty: none
  std::vector<std::string> allow_protected = {};  // of the protected set, what the command may change
  std::vector<std::string> hidden = {};  // paths of the host that no command sees, however they are granted
  std::vector<std::string> hide = {};    // --hide and the key: what of the shown trees no call reads
  std::vector<std::string> kept = {};    // directories of the operator's word that no command writes
  bool noexec = false;  // what can be written, and what lies in the operator's trees, never executes

  bool operator==(const RunRequest&) const = default;
};

}  // namespace cloche
