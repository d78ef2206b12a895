#include "confine/supervise/interrupted.hpp"

#include <signal.h>

namespace cloche {

Error interrupted_error(Message what) { return {Cause::interrupted, std::move(what), 0, "run it again"}; }

bool was_interrupted(const wire::Report& failed) {
  return failed.number == 0 && failed.step != wire::Step::start_box;
}

bool was_interrupted(const Outcome& outcome) {
  if (outcome.end == End::failed) return true;
  if (outcome.end != End::signaled) return false;
  switch (outcome.signal) {  // a program that breaks by itself gets others
    case SIGHUP:
    case SIGINT:
    case SIGQUIT:
    case SIGKILL:
    case SIGTERM: return true;
    default: return false;
  }
}

}  // namespace cloche
