#include "load.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include "sections.hpp"

namespace cloche::bench {

Result<Load> Load::start() {
  Load load;
  load.policy_ = ::sched_getscheduler(0);
  const sched_param none{};
  if (::sched_getparam(0, &load.priority_) != 0 || ::sched_setscheduler(0, SCHED_OTHER, &none) != 0)
    return system_error("compete with other processes");
  const pid_t us = ::getpid();
  for (long core = ::sysconf(_SC_NPROCESSORS_ONLN); core > 0; --core) {
    const pid_t child = ::fork();
    if (child < 0) return system_error("start a busy process");
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      while (::getppid() == us) (void)spin(100'000'000);
      ::_exit(0);
    }
    load.busy_.push_back(child);
  }
  return load;
}

Load::Load(Load&& other) noexcept
    : busy_(std::exchange(other.busy_, {})), policy_(other.policy_), priority_(other.priority_) {
  other.policy_ = SCHED_OTHER;
}

Load::~Load() {
  for (const pid_t child : busy_) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  if (policy_ != SCHED_OTHER) ::sched_setscheduler(0, policy_, &priority_);
}

}  // namespace cloche::bench
