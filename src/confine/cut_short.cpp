#include "confine/cut_short.hpp"

#include <signal.h>

#include <cerrno>

namespace cloche {
namespace {

constexpr int mark = ECANCELED;  // no system call of ours answers with it

}  // namespace

Error cut_short_error(std::string what) { return {Fault::system, std::move(what), mark, "run it again"}; }

bool was_cut_short(const wire::Report& failed) {
  return failed.number == 0 && failed.step != wire::Step::start_box;
}

bool was_cut_short(const Error& error) { return error.fault == Fault::system && error.number == mark; }

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
