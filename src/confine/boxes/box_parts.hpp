// What the renderers of boxes share: where the bytes of a view come from when another program mounts it, and
// what such a box must find on the host before it starts. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "confine/boxes/inner_command.hpp"
#include "model/plan.hpp"

namespace cloche {

// What differs from start to start and is no part of the judged plan. Keys are places in plan.view.
struct BoxParts {
  std::string jail;                          // cloche-jail on the host
  std::map<size_t, std::string> texts = {};  // the file of the host that has the bytes of each text
  std::map<size_t, std::string> trees = {};  // in place of a tree's own source
  bool privileged = false;                   // started by root, whose id the box can only map to itself
  InnerOptions inner = {};
};

// Where a box shows the jail, read-only: in a directory that is empty otherwise in each view, or at the root
// where the operator shows the host's own there.
std::string jail_inside(const ConfinementPlan& plan);
// And, where a box can be given no descriptor, the file for its reports.
std::string report_inside(const ConfinementPlan& plan);

bool may_write(Access access);
bool may_run(Access access);
bool requires_layer(const ConfinementPlan& plan, LayerId layer);

// What `sources` says of this place, or else `own`.
std::string source_at(const std::map<size_t, std::string>& sources, size_t at, const std::string& own);

// Whether it is among what every box makes by itself in a fresh /dev: the devices without state, pseudo
// terminals, and the links to a process's own descriptors.
bool is_made_in_dev(const ViewEntry& entry);
bool has_dev(const ConfinementPlan& plan);

std::vector<size_t> texts_in(const ConfinementPlan& plan);

// A mount point inside of a tree of the host's. A box would make it where it is missing, in the operator's
// own files, so the caller looks first before it starts one.
struct HostPlace {
  std::string path;    // on the host
  std::string target;  // in the view
  std::string source;  // of what is to be there; empty: nothing of the host's
  bool file = false;
};
std::vector<HostPlace> host_mount_points(const ConfinementPlan& plan);

// The innermost entry that the place of this one is made in; none: the root itself.
const ViewEntry* holder_of(const ConfinementPlan& plan, const ViewEntry& entry);

// The directories on the way to this entry that nothing of the host's or of a file system has: outermost
// first.
std::vector<std::string> parents_to_make(const ConfinementPlan& plan, const ViewEntry& entry);

// Whether the tree that this entry lies in shows it already: a link of the host's in a tree of the host's.
bool is_shown_by_its_tree(const ConfinementPlan& plan, const ViewEntry& entry);

}  // namespace cloche
