// Boxes in which an interpreter waits for its script (confine/warm/late_text.hpp), so that a call finds it
// started. Each serves one call and ends with it, as a box that was started for the call does: calls share no
// process, no memory, no random state and no file.
//
// Threads: any may take a box or want one. One thread of this object starts them, and ends those that waited
// for too long.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "confine/launch.hpp"
#include "confine/native/proof.hpp"
#include "confine/startable.hpp"
#include "confine/warm/early_imports.hpp"
#include "gateway/configuration/installation.hpp"
#include "gateway/launch/host_marks.hpp"
#include "gateway/launch/launch_resources.hpp"
#include "model/facts.hpp"
#include "model/plan.hpp"

namespace cloche {

struct WarmBox {
  LaunchResources resources;
  HostMarks marks = {};
  EarlyImports imports = {};
  HostProbe probe = {};
  LaunchSpec spec = {};
  std::string sent = {};  // the plan as the jail has it
  Proof proof = {};
  uint64_t started_ms = 0;
};

class WarmBoxes {
 public:
  // Each interpreter imports these modules before it waits.
  WarmBoxes(Installation installation, std::vector<std::string> modules);
  WarmBoxes(const WarmBoxes&) = delete;
  WarmBoxes& operator=(const WarmBoxes&) = delete;
  ~WarmBoxes();

  // Whether a call with this plan can be given one at all.
  static bool serves(const ConfinementPlan& plan);
  // Whether the interpreter of this plan can import modules before it waits.
  bool can_import(const ConfinementPlan& plan) const;
  // One that was started with exactly this plan but for the script, and has the script by now: supervise()
  // lets it go on. Nothing: start one as ever, for nothing of the script was executed.
  std::unique_ptr<WarmBox> take(const Startable& what);
  // One whose call has ended: every process of it is gone but its keeper, which is waited for when the answer
  // is out.
  void finish(std::unique_ptr<WarmBox> box);
  // Has one started for the next call with this plan, where none waits. Returns at once.
  void want(const ConfinementPlan& plan, const CallerFact& caller);

 private:
  struct Order {
    ConfinementPlan plan;
    CallerFact caller;
  };

  void work();
  Result<std::unique_ptr<WarmBox>> start(const Order& order) const;

  const Installation installation_;
  const std::vector<std::string> modules_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::unique_ptr<WarmBox> waiting_ = {};
  std::optional<Order> order_ = {};
  std::vector<std::unique_ptr<WarmBox>> unused_ = {};  // to be ended, which takes a moment
  bool ends_ = false;
  std::thread worker_;
};

}  // namespace cloche
