// The supervisor: one command from its start to the end of everything it started.
//
// Theory of operation. supervise() gives the jail (jail/core/keeper.hpp) its plan and then sits in one
// poll loop, in the calling thread, over: the control socket (reports), the keeper's pidfd, the flows of
// stdin, stdout and stderr, the caller's signals, and the descriptor that says that the call is cancelled.
// Nothing in the loop blocks, so the deadline is met whatever a process holds open. To end a call it closes
// its sending direction of the control socket; the keeper then kills the first process of the sandbox, and
// the kernel kills the rest. The call is over when the keeper says `gone`: no process of the sandbox exists
// any more.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "confine/launch.hpp"
#include "confine/native/cgroup.hpp"
#include "confine/native/jail_process.hpp"
#include "confine/startable.hpp"
#include "model/outcome.hpp"

namespace cloche {

struct Streams {
  int input = -1;   // the caller's; -1: the command reads an empty input
  int output = -1;  // -1: kept in the outcome
  int errors = -1;
  int terminal = -1;                    // the caller's terminal, when the plan has one of ours
  bool raw = false;                     // pass every escape sequence to a terminal
  int signals = -1;                     // a signalfd with what should reach the command; -1: none
  size_t keep_most = size_t{16} << 20;  // of each kept stream
  // Of each what lies behind the first in_memory bytes goes to a file; -1: the outcome holds all of it.
  size_t in_memory = ~size_t{0};
  int output_spill = -1;
  int errors_spill = -1;
  int stop = -1;  // readable once the call is cancelled: then everything ends; -1: never
  // Of what is kept, each piece as it comes. In the loop: it must not wait.
  std::function<void(std::string_view)> heard = {};
  // Called once, as soon as the jail has its plan: for work that nothing waits for. It must be short.
  std::function<void()> meanwhile = {};
  bool says_refusals = false;     // to `errors`, at once; what cannot be said there waits for the end
  std::string lasting_note = {};  // for `errors`, a terminal, once the command has run for two seconds
};

// Who answers on the listeners of a call's network. egress/ implements it; the supervisor carries the
// listeners out of the sandbox, listens for the gate's events while the command runs, and asks at the end
// what happened.
class NetworkGate {
 public:
  NetworkGate() = default;
  NetworkGate(const NetworkGate&) = delete;
  NetworkGate& operator=(const NetworkGate&) = delete;
  virtual ~NetworkGate() = default;

  // The listeners of the plan, in its order. Those of IPv6 may lead nowhere.
  virtual void open(std::vector<OwnedFd> listeners, bool has_ipv6) = 0;
  // Readable when turn() has something to do; -1: never.
  virtual int events() const = 0;
  virtual void turn() = 0;
  // What was refused since this was last called, for the operator: a sentence each.
  virtual std::vector<std::string> take_unsaid() = 0;
  // The command is gone: ends every connection, and says what was reached and what was refused.
  virtual void finish(Outcome& outcome) = 0;
};

// `network` answers for a plan that has hosts; without one no process does.
// An Error when a step of the jail failed; everything else is an Outcome. `cgroup` is nullptr when memory is
// watched.
Result<Outcome> supervise(JailProcess& jail, const Startable& what, const LaunchSpec& spec,
                          const Cgroup* cgroup, const Streams& streams, NetworkGate* network = nullptr);

}  // namespace cloche
