// Who answers on the listeners of a call's network. egress/ implements it; the supervisor carries the
// listeners out of the sandbox, listens for the gate's events while the command runs, and asks at the end
// what happened.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/sys/fd.hpp"
#include "model/outcome.hpp"

namespace cloche {

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
  // The command is gone: ends every connection, and says what was reached and what was refused.
  virtual void finish(Outcome& outcome) = 0;
};

}  // namespace cloche
