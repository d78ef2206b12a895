// The home and the /tmp that the calls of one server share: STATE/sessions/ID/N/home and .../tmp, private to
// it. A server holds a lock on its directory for as long as it lives. A directory that no process holds was
// left by a server that was killed, and goes when the next one starts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "store/workspace/task_home.hpp"

namespace cloche {

inline constexpr const char* sessions_name = "sessions";

// Not for several threads at once.
class SessionHome {
 public:
  // Removes what dead servers have left, and makes one of its own.
  static Result<std::unique_ptr<SessionHome>> make(const std::string& state);
  SessionHome(const SessionHome&) = delete;
  SessionHome& operator=(const SessionHome&) = delete;
  ~SessionHome();

  // Made where it is missing, and open to its owner again where a command has closed it.
  Result<TaskHome> now() const;
  // What comes next is empty. What was there stays until the session ends, or remove_earlier().
  void start_over() { ++generation_; }
  void remove_earlier() const;

 private:
  SessionHome(std::string directory, OwnedFd alive)
      : directory_(std::move(directory)), alive_(std::move(alive)) {}

  std::string directory_;
  OwnedFd alive_;  // the lock
  uint64_t generation_ = 1;
};

}  // namespace cloche
