#include "gateway/launch/launch_resources.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/sys/directory.hpp"
#include "base/sys/path.hpp"
#include "base/sys/sys.hpp"
#include "confine/boxes/box_stage.hpp"
#include "confine/boxes/host_mounts.hpp"
#include "confine/boxes/oci.hpp"
#include "confine/boxes/subprocess.hpp"
#include "confine/kernel_rules.hpp"
#include "gateway/checks/scratch_workspace.hpp"
#include "gateway/launch/caller.hpp"
#include "policy/plan/layered_trees.hpp"
#include "policy/plan/system_view.hpp"
#include "store/workspace/safe_walk.hpp"

namespace cloche {
namespace {

Error with_another_state(Error error) {
  const bool full = error.number == ENOSPC || error.number == EDQUOT;
  error.fix = full ? "make room there, or set XDG_STATE_HOME to a directory that has some"
                   : "make that writable, or set XDG_STATE_HOME to a directory that is";
  return error;
}

std::string cgroup_name(unsigned outside_id) { return "cloche-" + std::to_string(outside_id); }

// Of the texts that a view has in place of the host's, those that tell a program who it is.
constexpr const char* texts_of_host[] = {"/etc/passwd", "/etc/group", "/etc/hosts", "/etc/hostname"};

std::vector<std::string> plain_files(std::span<const char* const> paths) {
  std::vector<std::string> found;
  for (const char* path : paths) {
    struct stat seen {};
    if (::lstat(path, &seen) == 0 && S_ISREG(seen.st_mode)) found.emplace_back(path);
  }
  return found;
}

// Threads of this user, which the kernel holds against RLIMIT_NPROC as well.
uint64_t threads_of(unsigned uid) {
  uint64_t threads = 0;
  const auto proc = sys::open("/proc", O_RDONLY | O_DIRECTORY);
  if (!proc.ok()) return 0;
  for_each_name(proc.value().get(), [&](const dirent& entry) {
    const int table = proc.value().get();
    struct stat seen {};
    const std::string name = entry.d_name;
    if (name[0] < '1' || name[0] > '9' || ::fstatat(table, name.c_str(), &seen, 0) != 0 || seen.st_uid != uid)
      return true;
    if (::fstatat(table, (name + "/task").c_str(), &seen, 0) == 0) threads += seen.st_nlink - 2;
    return true;
  });
  return threads;
}

// A group counts what the box is made of along with the command: bubblewrap's process that waits, a runtime's
// threads, the sentry's and those that run the command's for it. A start that meets the limit there ends
// without a reason. So the group has room for them and holds the box; the command's own are counted where
// no other process is, by RLIMIT_NPROC in a user namespace of theirs or in the sentry.
Limits counted_by_group(Backend backend, Limits limits) {
  switch (backend) {
    case Backend::bwrap: limits.processes += 8; break;
    case Backend::crun:
    case Backend::runc: limits.processes += runtime_threads; break;
    case Backend::runsc: limits.processes = limits.processes * 8 + 1024; break;
    case Backend::native:
    case Backend::subprocess:
    case Backend::none: break;
  }
  return limits;
}

std::map<uint32_t, uint64_t> own_hard_limits() {
  std::map<uint32_t, uint64_t> highest;
  for (const auto& limit : limits_for(Limits{})) {
    rlimit own{};
    const auto resource = static_cast<__rlimit_resource>(limit.resource);
    if (::getrlimit(resource, &own) == 0) highest[limit.resource] = own.rlim_max;
  }
  return highest;
}

// Of this call alone, and not to be guessed: another process that took the name of a box first would keep the
// box from starting.
Result<std::string> fresh_box_name() {
  uint64_t random = 0;
  if (::getrandom(&random, sizeof random, 0) != sizeof random) return system_error("get a random number");
  return "cloche-" + std::to_string(random);
}

CallResources::Ready ready(const Skeleton& skeleton) {
  return {skeleton.root, skeleton.device, skeleton.inode};
}

// Left by a call that was killed with its keeper: no process holds its lock.
void sweep(const std::string& directory) {
  for (const auto& name : names_in(directory)) {
    const std::string path = directory + "/" + name;
    auto held = sys::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!held.ok() && held.error().number == EACCES) {
      // Its command was of the same user, and has closed it.
      ::chmod(path.c_str(), 0700);
      held = sys::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    }
    if (held.ok() && ::flock(held.value().get(), LOCK_EX | LOCK_NB) == 0) remove_tree(path);
  }
}

std::string scratch_parent(const std::string& state) { return state + "/scratch"; }

// Whichever level a call is on: the one that was killed may have been the last on its own.
void sweep_forgotten(const std::string& state) {
  if (state.empty()) return;
  const OwnedFd turn(::open(scratch_parent(state).c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat seen {};
  constexpr nlink_t links_of_empty = 2;  // where directories are counted; elsewhere it is read
  if (!turn || ::fstat(turn.get(), &seen) != 0 || seen.st_nlink == links_of_empty) return;
  // Another call holds it: what that one is just making is not locked yet, and it sweeps what is left over.
  if (::flock(turn.get(), LOCK_EX | LOCK_NB) == 0) sweep(scratch_parent(state));
}

Result<void> write_entry(const ScratchEntry& entry) {
  if (entry.directory) {
    if (::mkdir(entry.path.c_str(), 0700) != 0 && errno != EEXIST) return system_error("make " + entry.path);
    return {};
  }
  const OwnedFd file = TRY(sys::open(entry.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
  return sys::write_all(file.get(), entry.content);
}

}  // namespace

std::string program_of(Backend backend) {
  for (const char* directory :
       {"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}) {
    const std::string path = std::string(directory) + "/" + std::string(name_of(backend));
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

size_t count_still_mounts(const std::vector<wire::MountText>& mounts, const std::string& state) {
  const auto is_of_system = [&](const std::string& source) {
    const auto shows = [&](const ShownPath& row) { return is_beneath(row.path, source); };
    return std::ranges::any_of(system_paths, shows) || std::ranges::any_of(data_paths, shows) ||
           is_beneath("/etc", source) || is_beneath("/dev", source) ||
           (!state.empty() && is_beneath(state + "/skeletons", source));
  };
  const auto is_a_calls = [&](const wire::MountText& mount) {
    const bool is_tree = mount.kind == wire::MountKind::tree || mount.kind == wire::MountKind::root;
    return is_beneath(calls_own_files, "/" + mount.target) || mount.kind == wire::MountKind::overlay ||
           (mount.flags & wire::owned) != 0 || (is_tree && !is_of_system(mount.source));
  };
  return static_cast<size_t>(std::ranges::find_if(mounts, is_a_calls) - mounts.begin());
}

Result<LaunchResources> LaunchResources::take(const CallerFact& caller, const Limits& limits,
                                              const Installation& installation, BoxResources box) {
  return take(caller, limits, installation, box, For::plan);
}

Result<LaunchResources> LaunchResources::prepare(const ConfinementPlan& like, const CallerFact& caller,
                                                 const HostProbe& probe, const Installation& installation,
                                                 const std::shared_ptr<SkeletonWatch>& watch) {
  LaunchResources resources =
      TRY(take(caller, like.limits, installation, {Backend::native, like.network}, For::still_plan));
  resources.lean_on_skeleton(like, installation.state);
  if (watch) {
    for (const Skeleton& skeleton : resources.skeletons_) watch->add(skeleton);
    resources.watch_ = watch;
  }
  const wire::PlanText whole = cloche::render(like, probe, resources.resources_).jail;
  wire::PlanText still;
  still.flags = whole.flags & wire::still_flags;
  still.inside_uid = whole.inside_uid;
  still.inside_gid = whole.inside_gid;
  still.outside_uid = whole.outside_uid;
  still.outside_gid = whole.outside_gid;
  still.mounts = whole.mounts;
  still.mounts.resize(count_still_mounts(whole.mounts, installation.state));
  still.programs = still.argv = {"/"};  // no plan is without; nothing executes it
  if (still.mounts.empty()) return refusal("nothing of such a view can be prepared");
  TRY(resources.jail_->prepare(wire::encode(still), resources.cgroup()));
  resources.still_ = std::move(still.mounts);
  return resources;
}

Result<LaunchResources> LaunchResources::take(const CallerFact& caller, const Limits& limits,
                                              const Installation& installation, BoxResources box, For what) {
  LaunchResources resources;
  const Backend backend = box.backend;
  resources.backend_ = backend;
  resources.network_ = box.network;
  resources.limits_ = limits;
  resources.caller_ = caller;
  resources.resources_.privileged = caller.privileged;
  resources.resources_.outside_uid = caller.uid;
  resources.resources_.outside_gid = caller.gid;
  JailProcess::Start start{.program = installation.jail, .privileged = caller.privileged};
  start.boxed = backend != Backend::native;
  start.host_network = box.network == Network::of_host;
  start.prepared = what == For::still_plan;
  if (caller.privileged) {
    // Without a box the command keeps the caller's id, and its pipes are its own already: a claim is of use
    // there for what a killed call has left, and it goes without where none can be had.
    const bool lowered = backend != Backend::subprocess && backend != Backend::none;
    auto claimed = resources.take_id(installation);
    if (!claimed.ok() && backend != Backend::subprocess) return claimed.take_error();
    if (claimed.ok()) {
      for (const OwnedFd& lock : resources.id_.locks) start.kept.push_back(lock.get());
      if (resources.id_.name) start.kept.push_back(resources.id_.name.get());
    } else {  // taken by no call, and a plan of root's never names root
      resources.resources_.outside_uid = resources.resources_.outside_gid = installation.ids.first;
    }
    start.outside_uid = lowered ? resources.id_.id : caller.uid;
  }
  resources.cgroup_ =
      Cgroup::find(!resources.id_.locks.empty() ? cgroup_name(resources.id_.id) : fresh_cgroup_name());
  // A group of version 2 its members are born in; into one of version 1 they walk, and the jail can start
  // before it is there.
  const bool born = resources.cgroup_ && resources.cgroup_->by() == CountedBy::cgroup2;
  if (born) resources.make_cgroup(limits);
  start.cgroup = resources.cgroup();
  auto jail = JailProcess::start(start);
  if (!jail.ok()) {
    if (resources.cgroup_) resources.cgroup_->remove();  // there is no keeper to do it
    return jail.take_error();
  }
  resources.jail_.emplace(std::move(jail).value());
  if (!born) resources.make_cgroup(limits);
  // While the jail starts.
  sweep_forgotten(installation.state);
  clear_scratch(installation.state);
  resources.resources_.memory_by = resources.cgroup_ ? resources.cgroup_->by() : CountedBy::watched;
  return resources;
}

LaunchResources::~LaunchResources() {
  jail_.reset();  // with its keeper, who removes the cgroup
  // Unless it was killed; the kernel may still be at work on the rest.
  const auto is_left = [&] {
    return cgroup_ && !cgroup_->directories().empty() &&
           ::access(cgroup_->directories().front().c_str(), F_OK) == 0;
  };
  for (int tries = 0; tries < 50 && is_left(); ++tries) {
    cgroup_->remove();
    ::usleep(2000);
  }
  leave_nothing(id_);
  if (scratch_.lock) remove_tree(scratch_.path);
}

Result<void> LaunchResources::take_id(const Installation& installation) {
  const auto clean = [](unsigned id) {
    if (const auto group = Cgroup::find(cgroup_name(id))) group->remove();
  };
  id_ = TRY(claim_outside_id(installation.ids.first, installation.ids.count, clean,
                             claim_places(installation.state)));
  resources_.outside_uid = id_.id;
  resources_.outside_gid = id_.id;
  return {};
}

// Without the right to one the supervisor watches instead, and the outcome says so.
void LaunchResources::make_cgroup(const Limits& limits) {
  if (!cgroup_ || cgroup_->make(counted_by_group(backend_, limits)).ok()) return;
  cgroup_->remove();
  cgroup_.reset();
}

// The still part of the view; without it the jail builds it piece by piece.
void LaunchResources::lean_on_skeleton(const ConfinementPlan& plan, const std::string& state) {
  auto root = take_skeleton(plan, SkeletonPart::root, state);
  if (!root.ok()) return;
  auto etc = take_skeleton(plan, SkeletonPart::etc, state);
  if (!etc.ok()) return;
  skeletons_[0] = std::move(root).value();
  skeletons_[1] = std::move(etc).value();
  resources_.skeleton = {ready(skeletons_[0]), std::nullopt, skeletons_[0].has_devices};
  if (!skeletons_[1].root.empty()) resources_.skeleton->etc = ready(skeletons_[1]);
}

bool LaunchResources::begins(const LaunchSpec& spec) const {
  const auto& mounts = spec.jail.mounts;
  return mounts.size() >= still_.size() && std::equal(still_.begin(), still_.end(), mounts.begin());
}

void LaunchResources::use(const CallLayers& layers) {
  for (const TreeLayer& layer : layers.trees())
    resources_.layers[layer.target] = {layer.directory.path, layer.directory.device, layer.directory.inode};
}

Result<LaunchSpec> LaunchResources::render(const Startable& what, const HostProbe& probe,
                                           const Installation& installation) {
  const ConfinementPlan& plan = what.plan();
  resources_.directory = what.directory();
  for (const ViewEntry* tree : layered_trees(plan)) {
    // An overlay has a device of its own, and a root of its own, which is checked as the tree itself.
    if (tree->device == resources_.directory.device && tree->inode == resources_.directory.inode)
      resources_.directory = {};
    if (is_beneath(tree->target, plan.directory)) resources_.directory.device = 0;
  }
  LaunchSpec spec = TRY(render_on_backend(plan, probe, installation));
  for (const auto& [target, layer] : resources_.layers)
    spec.upper_directories[target] = layer.directory + "/" + wire::upper_name;
  spec.pooled = is_prepared();
  return spec;
}

Result<LaunchSpec> LaunchResources::render_on_backend(const ConfinementPlan& plan, const HostProbe& probe,
                                                      const Installation& installation) {
  switch (backend_) {
    case Backend::native:
      if (!watch_ || !watch_->is_unchanged()) lean_on_skeleton(plan, installation.state);
      return cloche::render(plan, probe, resources_);
    case Backend::subprocess:
    case Backend::none: return render_unboxed(plan, probe, installation);
    default: return render_boxed(plan, probe, installation);
  }
}

// Until it is locked another call that sweeps takes it for forgotten; then another one is made.
Result<LaunchResources::Scratch> LaunchResources::make_scratch(const std::string& parent) {
  constexpr int most_tries = 100;
  for (int tries = 0; tries < most_tries; ++tries) {
    const std::string path = parent + "/" + fresh_cgroup_name();
    if (::mkdir(path.c_str(), 0700) != 0) {
      if (errno == EEXIST) continue;
      return system_error("make " + path);
    }
    auto made = sys::open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!made.ok() && made.error().number == ENOENT) continue;
    OwnedFd lock = TRY(std::move(made));
    struct stat seen {};
    const bool ours = ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0 && ::fstat(lock.get(), &seen) == 0;
    if (ours && seen.st_nlink != 0) return Scratch{path, std::move(lock)};
  }
  return system_error("make a directory of the call's own in " + parent, EAGAIN);
}

Result<LaunchSpec> LaunchResources::render_unboxed(const ConfinementPlan& plan, const HostProbe& probe,
                                                   const Installation& installation) {
  if (backend_ == Backend::subprocess) {
    if (const auto missing = subprocess_missing(plan, probe); !missing.empty())
      return describe_missing(missing);
  }
  if (installation.state.empty())
    return refusal(
        "there is no place for a home and a /tmp of the call's own: " + installation.no_state,
        "set XDG_STATE_HOME to a directory that only you and root can change, all the way down to it");
  const std::string parent = scratch_parent(installation.state);
  if (!make_private_directories(parent)) return with_another_state(system_error("make " + parent));
  // One at a time: what another is just making is not locked yet, and would be swept away.
  const OwnedFd turn = TRY(sys::open(parent, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  if (::flock(turn.get(), LOCK_EX) != 0) return system_error("lock " + parent);
  auto scratch = make_scratch(parent);
  if (!scratch.ok()) return with_another_state(scratch.take_error());
  scratch_ = std::move(scratch).value();
  SubprocessParts parts;
  parts.jail = installation.jail;
  parts.scratch = scratch_.path;
  parts.as_on_host = plain_files(texts_of_host);
  if (resources_.memory_by == CountedBy::watched) parts.others = threads_of(caller_.uid);
  parts.callers_home = caller_.home;
  for (const auto& entry : scratch_entries(plan, parts)) TRY(write_entry(entry));
  return backend_ == Backend::none ? render_open(plan, resources_, parts)
                                   : render_subprocess(plan, probe, resources_, parts);
}

Result<LaunchSpec> LaunchResources::render_boxed(const ConfinementPlan& plan, const HostProbe& probe,
                                                 const Installation& installation) {
  const std::string name(name_of(backend_));
  const std::string program = program_of(backend_);
  if (program.empty()) {
    return Error{Cause::missing_layer,
                 name + " is not installed",
                 0,
                 "apt install " + std::string(package_of(backend_)),
                 LayerId::mount_view,
                 FailedStep::find_backend};
  }
  if (const auto missing = staged_missing(backend_, plan, probe); !missing.empty())
    return describe_missing(missing);
  TRY(check_mount_points(plan));
  std::optional<CallResources::Ready> etc;
  if (auto still = take_skeleton(plan, SkeletonPart::etc, installation.state);
      still.ok() && !still.value().root.empty()) {
    skeletons_[1] = std::move(still).value();
    etc = ready(skeletons_[1]);
  }
  std::string box_name = TRY(fresh_box_name());
  return render_staged(backend_, plan, probe, resources_,
                       {.jail = installation.jail,
                        .program = program,
                        .highest_limits = own_hard_limits(),
                        .name = std::move(box_name),
                        .mounts = look_at_source_mounts(plan),
                        .etc = std::move(etc)});
}

EgressStart LaunchResources::egress_start(const ConfinementPlan& plan,
                                          const Installation& installation) const {
  // Not root, and no other user's id: what it is started with is the sandbox's own, which sees nothing of it.
  return {.program = installation.egress,
          .privileged = resources_.privileged,
          .uid = resources_.outside_uid,
          .gid = resources_.outside_gid,
          .declared = plan.declared,
          .lowered_by = plan.lowered_by};
}

}  // namespace cloche
