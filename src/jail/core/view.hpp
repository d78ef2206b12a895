// The mount view of the sandbox: an empty root, and in it exactly what the plan lists.
#pragma once

#include "jail/core/wire.hpp"

namespace cloche::jail {

// What the plan mounts, detached, by index of the mount; -1 where nothing is mounted.
struct Trees {
  int fd[wire::max_mounts];
  int inotify;  // watches the overlays (overlay.hpp); -1: there is none
};

// How a mount of the plan is restricted, as MOUNT_ATTR_*.
uint64_t attributes_of(const wire::Mount& mount);

// Run as root, before the plan is there: makes the user namespace that maps the owner of the sources, whose
// process takes longer to start than all of them to clone.
void prepare_owner_namespace();

// A detached clone of one source, checked, with its attributes and, run as root, its owner mapped.
int clone_tree(const wire::Plan& plan, const wire::Mount& mount, uint32_t index);

// The mounts of `first`, from outside.
struct FirstsMounts {
  int mounts = -1;    // its namespace; -1: they are our own
  int old_root = -1;  // where a new root lies on it already
};

// Clones the sources of the plan from that mount on, checks each against what the supervisor judged and sets
// its attributes. Run as root this happens outside, where root may reach every source and idmap it; otherwise
// inside the new mount namespace, the only place where an ordinary user may clone. `first`: see
// mount_overlays().
void clone_trees(const wire::Plan& plan, Trees& trees, uint32_t from = 0, const FirstsMounts& first = {});

// Mounts the file systems of the plan that are new, by the ids that they are to belong to.
void mount_fresh(const wire::Plan& plan, Trees& trees, uint32_t from = 0);

// The root of those mounts of `first`, before a new one lies on it.
int find_old_root(int mounts);

// Inside the new mount namespace: begins a view with all that this plan has. Returns its root, which lies on
// the old one.
int begin_view(const wire::Plan& plan, const Trees& trees);
// Adds what the plan has from that mount on, wherever the view is by then.
void complete_view(const wire::Plan& plan, const Trees& trees, int root, uint32_t from);
// Makes the view the root, and lets go of the old one with every mount of the host's.
void leave_old_root(int root);
// The last step: nothing is added to the root any more.
void seal_view(const wire::Plan& plan, int root);

// An empty directory that no process can write over this one of the host's; nothing where it has none.
void cover(const char* place);

// Puts the same entries into a fresh tmpfs on `place`, for another program to build a view from.
void fill_stage(const wire::Plan& plan, const Trees& trees, const char* place);

}  // namespace cloche::jail
