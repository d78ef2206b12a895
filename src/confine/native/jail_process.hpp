// A started jail that waits for its plan: its namespaces come into being while the plan is still being made.
// Without a plan it can do nothing, and it ends when this object does. A prepared one (jail/core/keeper.hpp)
// has built the still part of a view besides.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "confine/native/cgroup.hpp"
#include "confine/startable.hpp"
#include "confine/supervise/spawn.hpp"
#include "jail/core/wire.hpp"

namespace cloche {

// One message of the jail, with what it carries.
struct JailReport {
  wire::Report report = {};
  std::vector<OwnedFd> fds = {};
};
// `closed`: every holder of the other end is dead. `other_format`: the jail is of another build.
enum class Hearing { report, nothing, closed, other_format };
Hearing receive_report(int control, JailReport& into);

class JailProcess {
 public:
  struct Start {
    std::string program;  // path of cloche-jail
    bool privileged = false;
    bool boxed = false;              // it will be told to start a box of another program, or none
    bool host_network = false;       // it makes no network of its own
    bool prepared = false;           // prepare() follows
    unsigned outside_uid = 0;        // of the command, when privileged
    const Cgroup* cgroup = nullptr;  // of version 2 it must be made, of version 1 it may be made later
    std::vector<int> kept = {};      // descriptors that live as long as the call
  };

  static Result<JailProcess> start(const Start& start);

  JailProcess(JailProcess&&) = default;
  JailProcess& operator=(JailProcess&&) = delete;
  JailProcess(const JailProcess&) = delete;
  JailProcess& operator=(const JailProcess&) = delete;
  ~JailProcess();

  // What of a view it builds at once: a plan without anything of a call's, which starts nothing.
  Result<void> prepare(const std::string& still_plan, const Cgroup* cgroup);
  enum class Readiness { not_yet, ready, broken };
  // Of a prepared one; waits at most so long.
  Readiness readiness(int wait_ms = 0);

  // The plan's bytes, sealed, and the word that they are there, with the ways into the cgroup of version 1.
  // A prepared one is waited for until it accepts them. Where it does not, it is killed, and it is certain
  // that nothing was started.
  Result<void> go(const Startable& what, const std::string& plan, const Cgroup* cgroup);
  // What came so far, for the supervisor to take.
  std::vector<JailReport> early = {};
  // Of one that has not accepted its plan.
  bool never_began() const { return never_began_; }

  // Of a command that has waited (confine/warm/late_text.hpp): it has its text by now, and goes on at the end
  // of this pipe. When the jail ends without that, the pipe is there until nothing can read it.
  OwnedFd late_text;
  // What the supervisor takes over.
  Spawned keeper;
  OwnedFd control;
  ino_t controls_other_end = 0;  // the inode of it, by which its holders can be found
  OwnedFd input;                 // our ends of the command's stdin, stdout and stderr
  OwnedFd output;
  OwnedFd errors;

 private:
  JailProcess() = default;
  Result<void> hand_over(const std::string& plan);
  Result<void> say_plan_is_there(const std::vector<int>& fds);
  Result<void> wait_for_acceptance();

  Startup startup_;
  OwnedFd plan_;
  bool prepared_ = false;
  bool ready_ = false;
  bool never_began_ = false;
};

}  // namespace cloche
