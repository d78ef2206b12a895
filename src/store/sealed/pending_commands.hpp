// Commands that a hook has judged and the agent is about to start by their id: `cloche run --call ID`. Sealed
// files in STATE/calls. Only the id goes through the agent and its shell; the command stays here and is given
// out once. The mark ID.spent is written before the command is given out and stays until the command has
// expired, so a copy that is put back cannot be started. policy/gates/filed_requests.hpp judges what is found
// here.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "policy/gates/filed_requests.hpp"
#include "store/sealed/sealed_files.hpp"

namespace cloche {

struct PendingCommand {
  std::string tool = {};
  std::string arguments = {};  // JSON
  std::string asked = {};  // the agent's name for the tool, and its arguments as JSON: rules may name them
  std::string input = {};
  std::string workspace = {};
  std::string directory = {};  // where it starts
  std::string task = {};       // calls of one agent's session share a home
  std::string profile = {};    // of the sandbox; empty: as it is configured
  std::string isolation = {};  // "required": it was allowed because it is isolated; empty: as configured
  std::string level = {};      // the lowest isolation level that it may run on; empty: as configured
  std::string approved = {};   // digest of the question that was answered with yes; empty: none was asked
  std::string agent = {};      // this and the next two: the SessionKey of store/sealed/agent_sessions.hpp
  std::string session = {};
  std::string subagent = {};
  std::string stands = {};       // the client's directory
  std::string end_file = {};     // where its shell writes the directory it ended in; empty: it does not
  std::string background = {};   // "yes": the agent does not wait for it
  std::string note = {};         // for its output
  std::string identity = {};     // of the workspace: its device and inode
  std::string answered_by = {};  // "operator": `approved` counts also where only the operator may answer

  bool operator==(const PendingCommand&) const = default;
};

class PendingCommands {
 public:
  static Result<PendingCommands> open(const std::string& state, const PendingTerms& terms = {});

  // The id it waits under: 26 random letters.
  Result<std::string> add(const PendingCommand& call, uint64_t now_ms) const;
  // Of several callers that ask for one id, one gets the command.
  Result<PendingCommand> take(const std::string& id, uint64_t now_ms) const;

 private:
  PendingCommands(SealedFiles files, const PendingTerms& terms) : files_(std::move(files)), terms_(terms) {}

  // Under the lock.
  void prune(uint64_t now_ms) const;
  Result<void> make_room(uint64_t now_ms) const;
  bool is_spent(const std::string& id) const;
  Result<void> spend(const std::string& id, uint64_t until_ms) const;

  SealedFiles files_;
  PendingTerms terms_;
};

}  // namespace cloche
