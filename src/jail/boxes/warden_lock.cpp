#include "jail/boxes/warden_lock.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <span>

#include "jail/boxes/warden_filter.hpp"
#include "jail/core/filter.hpp"
#include "jail/core/kernel.hpp"
#include "jail/core/lock.hpp"
#include "jail/core/report.hpp"

namespace cloche::jail {
namespace {

const Filter& variant_for(const wire::Plan& plan) {
  const bool watched = plan.has(wire::watched_memory);
  const bool tracing = plan.has(wire::debugging);
  if (plan.has(wire::host_network)) {
    if (tracing) return watched ? watched_networked_debugging_filter : networked_debugging_filter;
    return watched ? watched_networked_filter : networked_filter;
  }
  if (tracing) return watched ? watched_alone_debugging_filter : alone_debugging_filter;
  return watched ? watched_alone_filter : alone_filter;
}

std::span<const sock_filter> code_of(const Filter& filter) { return {filter.code.data(), filter.size}; }

}  // namespace

bool set_commands_limits(const wire::Plan& plan) {
  for (const wire::Limit& limit : plan.limits) {
    if (limit.resource == commands_own_limit && !set_limit(limit)) return false;
  }
  return true;
}

bool leave_wardens_domain(uint32_t landlock_abi) {
  kernel::RulesetAttributes attributes{};
  // Every layer forbids to move files between directories unless it says otherwise; the layer of the plan's
  // own rules is the one that judges that. ABI 1 forbids it always; the right stands for none there.
  attributes.files = landlock_abi < 2 ? LANDLOCK_ACCESS_FS_MAKE_BLOCK : LANDLOCK_ACCESS_FS_REFER;
  const bool scoped = landlock_abi >= 6;
  if (scoped) attributes.scope = kernel::landlock::scope_signals;
  const int ruleset =
      kernel::landlock_create_ruleset(&attributes, scoped ? sizeof attributes : sizeof attributes.files);
  landlock_path_beneath_attr everywhere{};
  everywhere.allowed_access = attributes.files;
  everywhere.parent_fd = ::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  const bool left = ruleset >= 0 && everywhere.parent_fd >= 0 &&
                    kernel::landlock_add_path(ruleset, &everywhere) == 0 &&
                    kernel::landlock_restrict_self(ruleset) == 0;
  if (everywhere.parent_fd >= 0) ::close(everywhere.parent_fd);
  if (ruleset >= 0) ::close(ruleset);
  return left;
}

bool filter_calls_asking(const wire::Plan& plan, int& listener) {
  // Before the other: that one is the last word on what may be added.
  if (plan.has(wire::host_network) && install_filter(code_of(network_sockets_filter), 0) != 0) return false;
  // What this Landlock does not look at yet.
  if (plan.landlock_abi < 3 && install_filter(code_of(truncation_filter), 0) != 0) return false;
  const bool scoped = plan.landlock_abi >= 6;
  if (!scoped && install_filter(code_of(owned_signals_filter), 0) != 0) return false;
  static Filter variant;
  variant = scoped ? variant_for(plan) : asking_about_signals(variant_for(plan));
  const std::span<const sock_filter> code = code_of(variant);
  // Once a question was taken, no signal makes the command ask it again. Linux has had that as long as ABI 2.
  const unsigned asked_once = plan.landlock_abi >= 2 ? kernel::seccomp_wait_killable_once_received : 0;
  listener = install_filter(code, SECCOMP_FILTER_FLAG_NEW_LISTENER | asked_once);
  return listener >= 0 || (errno == EBUSY && install_filter(code, 0) == 0);
}

void filter_warden() {
  static constexpr auto filter = compile_warden_filter();
  must(install_filter(filter, 0), wire::Step::seccomp);
}

}  // namespace cloche::jail
