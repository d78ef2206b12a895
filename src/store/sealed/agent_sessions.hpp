// What Cloche stores of an agent's session from one hook call to the next: the workspace, which the first
// call fixes, and the directory in which the next shell command starts. Sealed files in STATE/agent-sessions,
// which no command sees.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "store/sealed/sealed_files.hpp"

namespace cloche {

// The client sends all three; none comes from a model.
struct SessionKey {
  std::string agent = {};     // claude or codex
  std::string id = {};        // any text
  std::string subagent = {};  // empty: the session's own
};

// The directory a shell ended in, and the client's directory then. Where the client has moved since, its own
// directory is the newer one.
struct ShellDirectory {
  std::string client = {};
  std::string shell = {};  // absolute

  bool operator==(const ShellDirectory&) const = default;
};

struct FirstCall {
  std::string workspace = {};
  uint64_t at_ms = 0;  // since 1970
};

class AgentSessions {
 public:
  static Result<AgentSessions> open(const std::string& state);

  // The first call of a session fixes its workspace. An Error when a later one comes with another.
  Result<void> fix_workspace(const SessionKey& session, const std::string& workspace, uint64_t now_ms) const;
  // The newest session of this agent.
  std::optional<FirstCall> newest(const std::string& agent) const;

  std::optional<ShellDirectory> directory(const SessionKey& session) const;
  Result<void> move(const SessionKey& session, const ShellDirectory& directory) const;

 private:
  friend class ForegroundCall;
  explicit AgentSessions(SealedFiles files, std::string path)
      : files_(std::move(files)), path_(std::move(path)) {}

  void make_room() const;  // under the lock

  SealedFiles files_;
  std::string path_;
};

// A shell command of a session while it runs. Of commands that overlap none moves the session's directory,
// because which of them ends last is chance.
class ForegroundCall {
 public:
  static Result<ForegroundCall> begin(const AgentSessions& sessions, const SessionKey& session);

  // Whether no other command of the session ran at any time since begin().
  bool has_run_alone() const;

 private:
  ForegroundCall(OwnedFd file, uint64_t number, bool began_alone)
      : file_(std::move(file)), number_(number), began_alone_(began_alone) {}

  OwnedFd file_;  // locked, shared with the others of the session
  uint64_t number_;
  bool began_alone_;
};

}  // namespace cloche
