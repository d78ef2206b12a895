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

bool leave_wardens_domain() {
  kernel::RulesetAttributes attributes{};
  // Every layer forbids to move files between directories unless it says otherwise; the layer of the plan's
  // own rules is the one that judges that.
  attributes.files = LANDLOCK_ACCESS_FS_REFER;
  attributes.scope = kernel::landlock::scope_signals;
  const int ruleset = kernel::landlock_create_ruleset(&attributes, sizeof attributes);
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
  const std::span<const sock_filter> code = code_of(variant_for(plan));
  // Once a question was taken, no signal makes the command ask it again.
  listener =
      install_filter(code, SECCOMP_FILTER_FLAG_NEW_LISTENER | kernel::seccomp_wait_killable_once_received);
  return listener >= 0 || (errno == EBUSY && install_filter(code, 0) == 0);
}

void filter_warden() {
  static constexpr auto filter = compile_warden_filter();
  must(install_filter(filter, 0), wire::Step::seccomp);
}

}  // namespace cloche::jail
