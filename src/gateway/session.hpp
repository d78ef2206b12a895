// Everything that the calls of a session are judged with, loaded once and then only read: so threads share
// it, and a file that changes meanwhile changes nothing until the next session.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/sys/environment.hpp"
#include "gateway/checks/isolation_levels.hpp"
#include "gateway/configuration/configuration.hpp"
#include "gateway/configuration/installation.hpp"
#include "gateway/launch/session_caches.hpp"
#include "model/call.hpp"
#include "model/named_file.hpp"
#include "model/skill.hpp"
#include "policy/authority/authority.hpp"
#include "policy/protected/protected.hpp"
#include "policy/rules/rules.hpp"
#include "policy/shapes/shapes.hpp"
#include "store/config/settings.hpp"
#include "store/config/skill_files.hpp"
#include "tools/files/artifacts.hpp"
#include "tools/registry.hpp"

namespace cloche {

// What a flag or a program insists on, so that it is not taken for the default that it may equal.
struct AskedWords {
  std::optional<Autonomy> autonomy = {};
  std::optional<CommandProfile> commands = {};
};

// What the operator says, by flags, configuration or in C++. Where a file of the configuration has spoken as
// well, the stricter word holds.
struct SessionOptions {
  Asks serves = Asks::model;  // calls of a model; or one command of the operator's, which needs no tools
  RunRequest operators = {};  // workspace, profile, grants and limits; no command
  Ceilings ceilings = {};     // the most that any call may have
  AskedWords asked = {};
  std::vector<NamedFile> read_files = {};     // of flags: refused where a call decides what they are
  std::optional<std::string> run = {};        // --run DIR: the record and, where none is named, the workspace
  std::optional<std::string> executors = {};  // a directory of the user's own tools
  std::string run_name = {};  // without it: a run of this name in Cloche's state; empty: a new one
  ProgramPlace programs = {};
  size_t shown_bytes = size_t{32} << 10;  // of a result, to a model; the rest is recalled
  Registry::Record record = Registry::Record::kept;
  // Without it: append to the record of the workspace and day, as the key `record` says.
  bool day_record = false;
  FrontEnd front_end = FrontEnd::command_line;
  IsolationLevel lowest = IsolationLevel::subprocess;  // to which `missing: degrade` may step down
  std::vector<std::string> warm = {};                  // programs that wait for their call: --warm
  std::vector<Function> functions = {};                // of the embedding program, for models to call
  // How many sandboxes are prepared before a call comes, unless a file of the configuration says less.
  std::optional<size_t> pool = {};  // by a flag or a program; nothing: what the front end has for a default
  size_t usual_pool = 0;            // of the front end
};

inline constexpr size_t mcp_pool = 2;  // what `cloche mcp` prepares unless it is told otherwise

// What a front end's flags start from: every shipped tool, full at most, passive unless asked, supervised.
SessionOptions default_session();

struct Session {
  Environment environment;
  Installation installation = {};
  SessionOptions options = {};  // the workspace resolved
  std::string workspace = {};
  std::shared_ptr<const OwnedFd> held_workspace = {};  // none: an explained call would make it
  Settings settings = {};
  RuleFiles rules = {};
  Profiles profiles = {};
  std::vector<std::string> notes = {};       // what of the configuration has no effect, for every call
  std::vector<std::string> idle_rules = {};  // of these the rules that never decide
  Shapes shapes = {};
  std::vector<ProtectedPart> protected_parts = {};
  HostPaths names = {};
  Registry registry = {};
  std::shared_ptr<IsolationLevels> levels = {};
  Wish wish =
      {};  // which isolation level the operator wants, without the isolation level that a call asks for
  std::shared_ptr<HostFactsCache> host = std::make_shared<HostFactsCache>();
  std::shared_ptr<PlanCache> plans = std::make_shared<PlanCache>();
};

// Calls of one task in one workspace have one run, so that each finds what the others left; this is its name.
std::string run_of_task(const std::string& task, const RunRequest& operators);

// Makes nothing: Gateway::open() opens the record.
Result<Session> load_session(SessionOptions options, const Environment& environment);
Result<Session> load_session(SessionOptions options, const Environment& environment,
                             Installation installation);

SessionPlaces places_of(const Session& session);
// With what calls under this skill can write to as well.
HostPaths names_under(const Session& session, const Skill* skill);
// Nothing without a path.
Result<std::optional<Skill>> skill_for(const Session& session, const std::optional<std::string>& path);

// An executor with what its load could not know: where calls under this skill can write, and, when an
// approval has something to say about it, what its code is by now.
Result<Executor> as_of_now(const Session& session, const Skill* skill, const Executor& loaded);

// What of the operator's word depends on the tool that is called.
struct ToolTerms {
  SandboxProfile profile = {};
  Autonomy level = Autonomy::readonly;
};
Result<ToolTerms> terms_for(const Session& session, std::string_view tool,
                            const RuntimeSettings& runtime_settings = {});

// What the calls under this skill may have, and what an executor may under it.
Result<Authority> authority_for(const Session& session, const Skill* skill, const ToolTerms& terms);
Result<Authority> authority_for(const Session& session, const Skill* skill, const Executor& executor,
                                const ToolTerms& terms);
// The same where no tool is called yet: as for one about which no rule says anything.
Result<Authority> authority_for(const Session& session, const Skill* skill);

bool is_in_loadout(const Authority& authority, const RegisteredTool& tool);
// Whether the file tools may write names that begin with a dot: as the key `dotfiles` says. Without the key
// an agent's front end allows them, and `call` and every skill refuse them. The protected set is refused
// anyway.
Dotfiles dotfiles_for(const Session& session, const Skill* skill);
// How an operator wants calls to be isolated, with what was set since.
Wish wish_of(const Session& session, const RuntimeSettings& runtime_settings);
// False: the operator has switched it off, and nothing holds what calls start.
bool is_isolated(const Session& session, const RuntimeSettings& runtime_settings);
// The tools of the loadout, and no other; each says of itself what is true in this session.
Result<std::vector<ToolSpec>> visible_tools(const Session& session, const Skill* skill,
                                            const RuntimeSettings& runtime_settings = {});

}  // namespace cloche
