// What a process takes away from itself before it executes a command. The order matters and keeper.cpp keeps
// it: limits, capabilities, no_new_privs, Landlock, seccomp last, because the filter forbids the calls of the
// others.
#pragma once

#include <linux/filter.h>

#include <span>

#include "jail/core/wire.hpp"

namespace cloche::jail {

void drop_bounding_set();  // may come early: it changes nothing for the process itself
// The plan's working directory. Another one than the judged one, or one behind a link that stands there by
// now, refuses.
void enter_directory(const wire::Plan& plan);

inline constexpr uint32_t no_resource = ~0U;
void set_limits(const wire::Plan& plan, uint32_t left_out = no_resource);
bool set_limit(const wire::Limit& limit);  // false with errno
void drop_capabilities();
// The same where some or all may be missing already and the right to set the locked bits with them: what
// counts is that none is left.
void give_up_capabilities();
void forbid_new_privileges();
// `terminal` is the command's own, or -1: that one file can be opened by its names too, since its number was
// in no plan. `keep` takes the descriptor of each tree; without it they are closed.
using KeepTree = void (*)(int fd, wire::Access access);
void restrict_files(const wire::Plan& plan, int terminal, KeepTree keep = nullptr);
void filter_calls(const wire::Plan& plan);
int install_filter(std::span<const sock_filter> code, unsigned flags);

}  // namespace cloche::jail
