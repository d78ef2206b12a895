// How a plan comes to those who carry it out: from the supervisor to the keeper, and from the keeper to the
// process it made.
#pragma once

#include "jail/core/wire.hpp"

namespace cloche::jail {

// The sealed plan of wire::plan_fd. What it points to lives as long as the process.
wire::Plan read_plan();
// Of a prepared jail the first of two: it has nothing of a call's. And the second, which begins with it.
wire::Plan read_still_plan();
wire::Plan read_plan_behind(const wire::Plan& still);

// What the keeper says when the plan is there. The descriptors are in the table that both still share.
struct Word {
  uint32_t cgroups = 0;  // of version 1: how many descriptors of `tasks` follow
  int cgroup[wire::max_groups] = {};
  int inotify = -1;  // see Trees
};

// The supervisor's word that the plan is there, with the ways into its cgroups; without it there is nothing
// to do.
bool wait_for_plan(Word& word);
// Of a prepared jail, the second time: the descriptor that came is the call's plan.
void take_plan_of_call(Word& word);

// Version 1: "0" to `tasks` means the writing thread, and moving oneself is the one way that takes no lock of
// the whole machine (cgroup.procs waits for an RCU grace period, milliseconds). What is created later is born
// in the group.
void join_cgroups(const Word& word);

// What `first` has of the keeper.
struct Keeper {
  int pidfd;
  int word;  // the end of the pipe to read
};

// The parent death signal is only armed for deaths to come; one that was missed shows on the pidfd.
void die_with(const Keeper& keeper);

// One user and one group exist inside. `who` is "self" or a process id.
void map_ids(const wire::Plan& plan, const char* who);

// Under pressure the kernel takes the sandbox before anything of the host's.
void offer_to_oom_killer();

}  // namespace cloche::jail
