// Where an agent works, and where its paths lead: looked up once, for the gates to judge.
#pragma once

#include <string>

#include "base/result.hpp"
#include "base/sys/environment.hpp"
#include "doors/hook/hook_input.hpp"
#include "gateway/session.hpp"
#include "store/sealed/agent_sessions.hpp"

namespace cloche {

struct HookPlace {
  std::string workspace = {};  // resolved
  std::string stands = {};     // where the agent stands: the workspace or beneath it
  std::string directory = {};  // where a command starts
  std::string task = {};       // calls of one session of the agent share a home and a record
  std::string profile = {};    // of the sandbox; empty: as it is configured
  std::string note =
      {};  // for the command's output: why it starts in another directory than the agent expects
  std::string end_file =
      {};  // in $TMPDIR: where a command says in which directory it ended; empty: it does not
  bool in_background = false;  // the agent does not wait for the command
};

// The key under which Cloche stores the session from call to call.
SessionKey session_key(const HookCall& call);

// The workspace is what the operator or the client fixed, never what the model can choose: `said_workspace`
// of the installed line, else the project that Claude Code names (CLAUDE_PROJECT_DIR; its hook's own
// directory follows the model's `cd`), else the hook's own directory, which with Codex is the session's.
Result<std::string> hook_workspace(const HookCall& call, const std::string& said_workspace,
                                   const Environment& environment);

// JSON `cwd` only says in which directory of the workspace the agent stands: one outside of it is refused.
Result<HookPlace> hook_place(const HookCall& call, const std::string& workspace);

// The place from which a shell command of this call starts: where the last one of its agent ended, unless the
// client has moved since. A directory that is gone, or is reached through a link now, is the workspace's top,
// and the note says so.
HookPlace shell_place(HookPlace place, const HookCall& call, const AgentSessions& sessions);

// Which directory a session holds as its workspace: its device and inode.
std::string identity_of(const Session& session);

// Whether the settings of the project set this variable for the agent, or cannot be read.
bool project_sets(const std::string& workspace, std::string_view variable);

// Whether the directory is there, beneath the workspace, and no link leads to it.
bool is_plain_directory(const std::string& workspace, const std::string& directory);

// Where the agent would end up with this path, every link followed; of what is not there, where it would be
// made.
Result<std::string> where_it_leads(const std::string& directory, const std::string& path);

// The program beside us. An agent gives it to a shell, so it is an Error when its path holds anything that a
// shell acts on.
Result<std::string> path_of_cloche();

// An Error where the configuration stages what commands write.
Result<void> check_hook_writes(const Settings& settings);

// What a hook's calls are judged with, and later run with: the same for both.
SessionOptions hook_session(const HookPlace& place);

}  // namespace cloche
