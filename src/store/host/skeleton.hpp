// The part of a view that never changes, stored on disk ready-made, in two parts: the root with its
// directories, links, mount points and (where Cloche may make them) device nodes, and the curated /etc. Bound
// read-only they replace some hundred small steps by two mounts. They are two because a root belongs to one
// workspace and /etc to all.
//
// A skeleton is named by a hash of what it must hold, so a plan can never meet one made for another. Its
// manifest lists every file and directory that was copied, by inode, size and times; one that no longer
// matches is built anew before the call, so a view never shows an older /etc than the host has. A call holds
// a shared lock on its skeletons until it has ended, and only a skeleton that no call holds is deleted.
#pragma once

#include <atomic>
#include <set>
#include <string>

#include "base/result.hpp"
#include "base/sys/fd.hpp"
#include "model/plan.hpp"

namespace cloche {

enum class SkeletonPart { root, etc };

struct Skeleton {
  std::string root;  // the directory to bind; empty: the plan has nothing for this part
  uint64_t device = 0;
  uint64_t inode = 0;
  bool has_devices = false;  // the plan's device nodes are in it
  OwnedFd lock;
};

// Built where it is missing. An Error (there is no state directory, or it cannot be written) means that the
// view must be built from its parts; it is not a reason to refuse.
Result<Skeleton> take_skeleton(const ConfinementPlan& plan, SkeletonPart part, const std::string& state);

// Where that part of such a plan is kept; empty: the plan has nothing for it, or there is no state directory.
// Looks at nothing.
std::string skeleton_home(const ConfinementPlan& plan, SkeletonPart part, const std::string& state);

// Says without a look at each file that none has changed of which skeletons have copies. It says so only
// where the kernel sees every change: on a file system of this host's own, where all of them are watched. A
// write through a mapping of the file it does not see before the file is closed or its times change.
class SkeletonWatch {
 public:
  SkeletonWatch();
  SkeletonWatch(const SkeletonWatch&) = delete;
  SkeletonWatch& operator=(const SkeletonWatch&) = delete;

  // By one thread; the others may ask meanwhile.
  void add(const Skeleton& skeleton);
  bool is_unchanged() const;
  // It sees all changes, and has seen one.
  bool has_seen_one() const;

 private:
  bool watch(const Skeleton& skeleton);

  OwnedFd inotify_;
  std::set<std::string> watched_ = {};
  std::atomic<bool> sees_all_;
};

// Deletes those that were begun and never finished, or replaced, and that no call holds.
void clear_skeletons(const std::string& state);

}  // namespace cloche
