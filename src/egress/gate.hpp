// The gateway's half of a call's network: holds the listeners that came out of the sandbox, starts
// cloche-egress when the first packet or connection waits at one of them, and hears from it what was decided.
//
// A call that never uses its network costs no process. From the start on the process alone has the listeners:
// should it die, the kernel refuses at once every connection to them, and nothing hangs.
#pragma once

#include <signal.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "confine/supervise/spawn.hpp"
#include "confine/supervise/supervisor.hpp"
#include "egress/proxy/report.hpp"
#include "model/plan.hpp"

namespace cloche {

struct EgressStart {
  std::string program;      // cloche-egress
  bool privileged = false;  // it is started by root, and must not stay it
  unsigned uid = 0;
  unsigned gid = 0;
  std::string declared;  // what was, for the sentences: "--net: [pypi.org]"
  std::vector<LimitSource> lowered_by = {};
};

class EgressGate : public NetworkGate {
 public:
  // `published`: a listener of the host's for each published port of the plan.
  EgressGate(EgressStart start, const ConfinementPlan& plan, std::vector<OwnedFd> published = {});
  ~EgressGate() override;

  void open(std::vector<OwnedFd> listeners, bool has_ipv6) override;
  int events() const override;
  void turn() override;
  std::vector<std::string> take_unsaid() override;
  void finish(Outcome& outcome) override;

 private:
  Result<void> watch_listeners();
  Result<void> start();
  void hear();
  bool hear_one();
  void take(const EgressMessage& message);
  bool is_somebody_waiting() const;
  void take_use(const EgressMessage& message);
  void ended();
  siginfo_t end_process();
  void refuse(std::string what, std::string advice = {});
  void look_up_refused(std::string name);
  void repeated(const std::string& what, uint64_t times);

  EgressStart start_;
  const ConfinementPlan& plan_;
  bool ipv6_ = false;
  size_t answered_ = 0;             // of the listeners, those that a process inside can speak to
  std::vector<OwnedFd> listeners_;  // then the connectors of published ports
  std::vector<OwnedFd> published_;
  OwnedFd waiting_;  // readable when a connection waits
  OwnedFd control_;
  Spawned process_;
  bool finishing_ = false;
  std::vector<Denial> denials_;
  std::set<std::string> said_;          // what they say: each once
  size_t unsaid_ = 0;                   // from this denial on they were not taken to be said yet
  std::vector<std::string> looked_up_;  // of a call without a network
  uint64_t more_looked_up_ = 0;
  std::vector<std::string> failures_;
  std::map<std::pair<std::string, uint32_t>, HostUse> used_;  // by name and port: the latest totals
  // Beyond what a record has room for.
  struct More {
    uint64_t count = 0;
    bool at_least = false;
  };
  static void add_more(More& more, const EgressMessage& message);
  More denied_;
  More failed_;
};

}  // namespace cloche
