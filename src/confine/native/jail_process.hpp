// A started jail that waits for its plan: its namespaces come into being while the plan is still being made.
// Without a plan it can do nothing, and it ends when this object does.
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

namespace cloche {

// What a jail has said, with the descriptors that came along.
struct HeardReport {
  std::optional<wire::Report> report = {};  // none: every process that could say anything is gone
  std::vector<OwnedFd> fds = {};
  bool is_of_another_build = false;  // it speaks in reports of another size
};
// The next report on the control socket; nothing when none is there now.
std::optional<HeardReport> hear_report(int control);

class JailProcess {
 public:
  struct Start {
    std::string program;  // path of cloche-jail
    bool privileged = false;
    bool boxed = false;              // it will be told to start a box of another program, or none
    bool host_network = false;       // it makes no network of its own
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

  // The plan's bytes, sealed, and the word that they are there, with the ways into the cgroup of version 1.
  Result<void> go(const Startable& what, const std::string& plan, const Cgroup* cgroup);

  // Of a command that has waited (confine/warm/late_text.hpp): it has its text by now, and goes on at the end
  // of this pipe. When the jail ends without that, the pipe is there until nothing can read it.
  OwnedFd late_text;
  std::vector<HeardReport> heard = {};  // so far, for the supervisor to take
  // What the supervisor takes over.
  Spawned keeper;
  OwnedFd control;
  ino_t controls_other_end = 0;  // the inode of it, by which its holders can be found
  OwnedFd input;                 // our ends of the command's stdin, stdout and stderr
  OwnedFd output;
  OwnedFd errors;

 private:
  JailProcess() = default;
  Startup startup_;
  OwnedFd plan_;
};

}  // namespace cloche
