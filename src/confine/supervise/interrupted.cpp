#include "confine/supervise/interrupted.hpp"

#include <signal.h>

namespace cloche {

Error cut_short_error(Message what) { return {Cause::interrupted, std::move(what), 0, "run it again"}; }

bool was_cut_short(const wire::Report& failed) {
  return failed.number == 0 && failed.step != wire::Step::start_box;
}

bool was_cut_short(const Outcome& outcome) {
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
