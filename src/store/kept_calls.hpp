// Commands that a hook has judged and the agent is about to start by their id: `cloche run --call ID`. Files
// on the shelf STATE/calls. Only the id goes through the agent and its shell; the command stays here, and is
// given out once: a mark, ID.spent, is there before it is, and stays until the call has expired, so that a
// copy that somebody puts back is worth nothing.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "store/shelf.hpp"

namespace cloche {

struct KeptCall {
  std::string tool = {};
  std::string arguments = {};  // JSON
  std::string asked = {};      // the agent's name for the tool, and its arguments as JSON: rules may name it
  std::string input = {};
  std::string workspace = {};
  std::string directory = {};  // where it starts
  std::string task = {};       // calls of one agent's session share a home
  std::string profile = {};    // of the sandbox; empty: as it is configured
  std::string isolation = {};  // "required": it was allowed because it is isolated; empty: as configured
  std::string rung = {};       // on which it was said to run: it never runs on a lower one; empty: none was
  std::string approved = {};   // digest of the question that somebody said yes to; empty: nobody was asked
  std::string agent = {};      // whose session it is: see store/sealed/agent_sessions.hpp
  std::string session = {};
  std::string subagent = {};
  std::string stands = {};    // where the client stood
  std::string end_file = {};  // where it says in which directory it ended; empty: it moves none
  std::string note = {};      // for its output
  std::string identity = {};  // of the workspace: its device and inode
  std::string answered_by =
      {};  // "operator": a yes to what only the operator may answer counts; else it does not

  bool operator==(const KeptCall&) const = default;
};

struct KeptCallTerms {
  uint64_t good_for_ms = 60ULL * 60 * 1000;
  size_t most = 1000;
};

class KeptCalls {
 public:
  static Result<KeptCalls> open(const std::string& state, const KeptCallTerms& terms = {});

  // Its id: 26 letters that nobody can guess.
  Result<std::string> keep(const KeptCall& call, uint64_t now_ms) const;
  // It is gone afterwards: of several that ask for one id, one gets it.
  Result<KeptCall> take(const std::string& id, uint64_t now_ms) const;

 private:
  KeptCalls(Shelf shelf, const KeptCallTerms& terms) : shelf_(std::move(shelf)), terms_(terms) {}

  // Under the lock.
  void prune(uint64_t now_ms) const;
  Result<void> make_room(uint64_t now_ms) const;
  bool is_spent(const std::string& id) const;
  Result<void> spend(const std::string& id, uint64_t until_ms) const;

  Shelf shelf_;
  KeptCallTerms terms_;
};

}  // namespace cloche
