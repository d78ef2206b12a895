// What one start of a command holds: its cgroup, its id outside, the scratch place of a process without a
// box, and the processes themselves. All of it ends with the object.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "confine/launch.hpp"
#include "confine/native/jail_process.hpp"
#include "confine/native/outside_id.hpp"
#include "confine/startable.hpp"
#include "egress/gate.hpp"
#include "gateway/configuration/installation.hpp"
#include "model/facts.hpp"
#include "store/host/skeleton.hpp"
#include "store/layers/call_layers.hpp"

namespace cloche {

// What of a plan is known before it is made, and a start begins with.
struct BoxResources {
  Backend backend = Backend::native;
  Network network = Network::own;
};

// Where a view has what the tool itself runs or reads, such as a script.
inline constexpr std::string_view calls_own_files = "/run/cloche";

// How many of the first mounts of a jail's plan have nothing of a call's or of the operator's: the system,
// and memory of the sandbox's own. `state`: Cloche's state directory, where the ready-made parts lie.
size_t count_still_mounts(const std::vector<wire::MountText>& mounts, const std::string& state);

class LaunchResources {
 public:
  static Result<LaunchResources> take(const CallerFact& caller, const Limits& limits,
                                      const Installation& installation, BoxResources box = {});
  // The same, and the still part of such a plan's view is being built when it returns. With a watch, what is
  // ready-made of it is compared with the host again only once that has seen a change; then it is for plans
  // of that shape alone (launch_pool.hpp).
  static Result<LaunchResources> prepare(const ConfinementPlan& like, const CallerFact& caller,
                                         const HostProbe& probe, const Installation& installation,
                                         const std::shared_ptr<SkeletonWatch>& watch = {});

  // How the plan is started on the backend of these resources. An error names the layers that it cannot keep.
  Result<LaunchSpec> render(const Startable& what, const HostProbe& probe, const Installation& installation);

  // Where the writes to the layered trees of that plan go.
  void use(const CallLayers& layers);

  // Who answers for the plan's network.
  EgressStart egress_start(const ConfinementPlan& plan, const Installation& installation) const;

  LaunchResources(LaunchResources&&) = default;
  LaunchResources& operator=(LaunchResources&&) = delete;
  LaunchResources(const LaunchResources&) = delete;
  LaunchResources& operator=(const LaunchResources&) = delete;
  ~LaunchResources();

  // Whether a plan with this box and these limits can be started on it.
  bool fits(BoxResources box, const Limits& limits) const {
    return box.backend == backend_ && box.network == network_ && limits == limits_;
  }
  bool is_prepared() const { return !still_.empty(); }
  // Of a prepared one: what a pool knows it by.
  const std::string& shape() const { return shape_; }
  void set_shape(std::string shape) { shape_ = std::move(shape); }
  // Whether what is prepared, if anything is, is what this begins with.
  bool begins(const LaunchSpec& spec) const;
  const CallerFact& caller() const { return caller_; }
  const Cgroup* cgroup() const { return cgroup_ ? &*cgroup_ : nullptr; }
  JailProcess& jail() { return *jail_; }

 private:
  // A directory of the call's own, locked as long as it lives.
  struct Scratch {
    std::string path = {};
    OwnedFd lock = {};
  };

  enum class For { plan, still_plan };
  LaunchResources() = default;
  static Result<LaunchResources> take(const CallerFact& caller, const Limits& limits,
                                      const Installation& installation, BoxResources box, For what);
  Result<void> take_id(const Installation& installation);
  void make_cgroup(const Limits& limits);
  void lean_on_skeleton(const ConfinementPlan& plan, const std::string& state);
  static Result<Scratch> make_scratch(const std::string& parent);
  Result<LaunchSpec> render_on_backend(const ConfinementPlan& plan, const HostProbe& probe,
                                       const Installation& installation);
  Result<LaunchSpec> render_unboxed(const ConfinementPlan& plan, const HostProbe& probe,
                                    const Installation& installation);
  Result<LaunchSpec> render_boxed(const ConfinementPlan& plan, const HostProbe& probe,
                                  const Installation& installation);

  Backend backend_ = Backend::native;
  Network network_ = Network::own;
  Limits limits_ = {};
  CallerFact caller_ = {};
  CallResources resources_;
  std::optional<Cgroup> cgroup_;
  OutsideId id_;
  Skeleton skeletons_[2];
  Scratch scratch_;
  std::vector<wire::MountText> still_ = {};  // what the jail has built
  std::shared_ptr<const SkeletonWatch> watch_ = {};
  std::string shape_ = {};
  std::optional<JailProcess> jail_;
};

// The program of a backend, from the system's own directories and never from the caller's PATH; empty: not
// installed.
std::string program_of(Backend backend);

}  // namespace cloche
