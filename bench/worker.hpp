// A process that measures when it is asked to: as another user, or with something that a contender's cost may
// depend on. So its contenders take turns with all others.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>

#include "base/sys/fd.hpp"
#include "contenders.hpp"

namespace cloche::bench {

class Worker {
 public:
  using Prepare = std::function<Result<std::vector<Contender>>()>;

  // `prepare` is called in the new process, which serves what it returns for as long as this lives. What
  // `prepare` holds must be held by what it returns.
  static Result<std::unique_ptr<Worker>> start(const Prepare& prepare);
  // The same as the user nobody.
  static Result<std::unique_ptr<Worker>> start_as_nobody(const Prepare& prepare);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Its contenders, with `prefix` before their names; each call of one is made there.
  std::vector<Contender> contenders(const std::string& prefix) const;

 private:
  enum class User { same, nobody };
  Worker() = default;
  static Result<std::unique_ptr<Worker>> start(const Prepare& prepare, User user);

  OwnedFd socket_;
  pid_t pid_ = -1;
  std::vector<Contender> served_ = {};
};

}  // namespace cloche::bench
