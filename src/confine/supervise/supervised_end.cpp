// How a supervised command ends: by our word, with its keeper or without it, and what is said of it then.
#include "confine/supervise/supervised_call.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/sys/path.hpp"
#include "confine/boxes/socket_holders.hpp"
#include "confine/supervise/outcome_of_call.hpp"

namespace cloche {
namespace {

constexpr uint64_t release_ms = 1000;  // for the kernel to end the overlays of processes that are gone

size_t count_overlays(const wire::PlanText& plan) {
  return static_cast<size_t>(std::count_if(plan.mounts.begin(), plan.mounts.end(), [](const auto& mount) {
    return mount.kind == wire::MountKind::overlay;
  }));
}

GuessTerms guess_terms(const ConfinementPlan& plan, bool has_layer) {
  GuessTerms terms{.has_layer = has_layer, .may_trace = plan.debugging};
  if (plan.workspace.empty()) return terms;
  for (const auto& entry : plan.view) {
    if (entry.why == why_protected && entry.target.size() > plan.workspace.size() + 1 &&
        is_beneath(plan.workspace, entry.target))
      terms.kept_paths.push_back(entry.target.substr(plan.workspace.size() + 1));
  }
  return terms;
}

// Of the events that are there now.
size_t count_unmounts(int inotify) {
  alignas(inotify_event) char buffer[4096];
  size_t unmounts = 0;
  for (ssize_t got = ::read(inotify, buffer, sizeof buffer); got > 0;
       got = ::read(inotify, buffer, sizeof buffer)) {
    for (ssize_t at = 0; at < got;) {
      inotify_event event{};
      std::memcpy(&event, buffer + at, sizeof event);
      if ((event.mask & IN_UNMOUNT) != 0) ++unmounts;
      at += static_cast<ssize_t>(sizeof event + event.len);
    }
  }
  return unmounts;
}

// Whether the kernel has let go of the overlays that a command wrote through. That all processes of a call
// are gone and a mount was taken away proves nothing: a process elsewhere may hold a descriptor that was
// passed to it, and write by it. The kernel says IN_UNMOUNT of a watched directory when its file system ends,
// and then no such descriptor is left.
// `inotify` watches the root of each overlay. Waits at most so long; the end of the last process comes a
// moment before the end of its mounts.
bool are_released(int inotify, size_t overlays, uint64_t wait_ms) {
  const uint64_t deadline = sys::monotonic_ms() + wait_ms;
  size_t released = 0;
  for (;;) {
    released += count_unmounts(inotify);
    const uint64_t now = sys::monotonic_ms();
    if (released >= overlays) return true;
    if (inotify < 0 || now >= deadline) return false;
    pollfd event{inotify, POLLIN, 0};
    (void)::poll(&event, 1, static_cast<int>(deadline - now));
  }
}

}  // namespace

void SupervisedCall::give_up_on_keeper() {
  gone_ = true;
  input_.give_up();
  output_.give_up();
  errors_.give_up();
}

void SupervisedCall::hear_all() {
  for (size_t before = ~size_t{0}; control_ && !said_.gone && before != heard_;) {
    before = heard_;
    hear();
  }
}

// Of a keeper that was killed. Those who die with it do so at once; a process that has the socket after that
// does not know that he is alone.
void SupervisedCall::end_what_a_keeper_left() {
  // For a jail in a box whose builder died before it could know: it takes that as the word to end everything,
  // and lets only root see what it holds.
  ::shutdown(control_.get(), SHUT_WR);
  constexpr int most_tries = 200;
  constexpr int tries_by_themselves = 20;
  constexpr unsigned between_us = 5000;
  for (int tries = 0; tries < most_tries && !said_.gone; ++tries) {
    if (tries >= tries_by_themselves) end_holders(jail_.controls_other_end);
    ::usleep(between_us);
    hear_all();
  }
}

void SupervisedCall::keeper_ended() {
  // What it said before it ended. Of `first`, which may live a moment longer, there is nothing more to hear.
  hear_all();
  siginfo_t ended{};
  ::waitid(P_PIDFD, static_cast<id_t>(keeper_.pidfd.get()), &ended, WEXITED);
  if (!said_.usage && control_) end_what_a_keeper_left();
  if (!said_.usage && cgroup_ != nullptr) {
    // It was killed, and the first process with it; the kernel may still be at work on the rest.
    (void)watch_.check_cgroup();
    for (int tries = 0; tries < 200 && ::access(cgroup_->directories().front().c_str(), F_OK) == 0; ++tries) {
      cgroup_->remove();
      ::usleep(5000);
    }
    cgroup_->remove();
  }
  gone_ = true;
  input_.give_up();
  if (!was_never_built()) let_builder_speak();
  if (!said_.started) {  // there never was a command to wait for
    output_.give_up();
    errors_.end_source();
  }
}

void SupervisedCall::end_everything() {
  if (end_ms_ != 0 || !control_) return;
  end_ms_ = now_ms_;
  watch_.note_usage();
  (void)watch_.check_cgroup();  // while the numbers are there
  ::shutdown(control_.get(), SHUT_WR);
  flush_deadline_ms_ = end_ms_ + flush_ms;
}

void SupervisedCall::stop_for(LimitHit hit) {
  if (!said_.hit) said_.hit = std::move(hit);
  end_everything();
}

// What the command had the caller's terminal do is taken back, and answers to it are dropped.
void SupervisedCall::leave_terminal() {
  constexpr uint64_t answer_ms = 1000;  // a terminal that answers at all has done so
  output_.reset_terminal();
  errors_.reset_terminal();
  const uint64_t asked_ms = std::max(output_.asked_ms(), errors_.asked_ms());
  if (asked_ms != 0 && now_ms_ < asked_ms + answer_ms) raw_terminal_.drop_answers();
}

Result<Outcome> SupervisedCall::conclude() {
  leave_terminal();
  if (was_never_built()) {
    // One that was killed, or whose keeper was, says nothing about what this host can do.
    const bool by_itself = said_.usage && WIFEXITED(said_.usage->status);
    if (by_itself) return box_error(said_.failed, spec_.backend, said_by_builder_);
    return interrupted_error(said_.lost_a_part ? "a part of the box was killed before the command began"
                                               : "the box was ended from outside before the command began");
  }
  // A box that met a limit while it was built: that limit is the reason, and what the box says of it is not.
  const bool met_a_limit = said_.hit && said_.failed && said_.failed->step == wire::Step::start_box;
  if (said_.failed && !said_.cancelled && !met_a_limit && was_interrupted(*said_.failed))
    return interrupted_error("the sandbox was ended from outside before the command began");
  if (said_.failed && !said_.cancelled && !met_a_limit)
    return step_error(*said_.failed, spec_.jail, plan_.directory);
  if (!said_.hit && said_.started) said_.hit = watch_.sizes_at_end();
  // Before the overlays: what is mounted in such a file system may last as long as that is held.
  const auto full = watch_.end_memory_files();
  Outcome outcome = judge(said_, plan_);
  outcome.layers = spec_.layers;
  if (overlays_) outcome.layers.push_back({LayerId::change_set, "overlayfs"});
  outcome.overlays_released = are_released(overlays_.get(), count_overlays(spec_.jail), release_ms);
  outcome.backend = spec_.backend;
  outcome.usage.wall_ms = sys::monotonic_ms() - start_ms_;
  outcome.usage.cpu_ms = std::max(outcome.usage.cpu_ms, watch_.cpu_ms());
  outcome.usage.max_rss_bytes = std::max(outcome.usage.max_rss_bytes, watch_.max_rss_bytes());
  outcome.usage.memory_peak_bytes = watch_.memory_peak_bytes();
  outcome.usage.memory_overshoot_bytes = watch_.memory_overshoot_bytes();
  const bool failed = outcome.end == End::exited && outcome.exit_code != 0;
  if (failed && spec_.backend != Backend::none)
    outcome.guess = guess_by_last_words((plan_.terminal ? output_ : errors_).last_taken(),
                                        guess_terms(plan_, static_cast<bool>(overlays_)));
  outcome.output = output_.take_kept();
  outcome.errors = errors_.take_kept();
  outcome.output_bytes = output_.bytes();
  outcome.error_bytes = errors_.bytes();
  outcome.truncated =
      output_.truncated() || errors_.truncated() || (said_.hit && said_.hit->limit == LimitId::output);
  if (network_ != nullptr) network_->finish(outcome);
  if (const auto denied = watch_.processes_denied(); denied > 0) {
    outcome.denials.push_back(denied_processes(plan_, denied));
  }
  if (!full.empty()) outcome.denials.push_back(denied_memory(plan_, full));
  for (const StreamRelay* flow : {&output_, &errors_}) {
    if (flow->write_error() != 0 && flow->write_error() != EPIPE && outcome.reason.empty()) {
      outcome.reason = system_error("pass the command's output on", flow->write_error()).what;
      if (outcome.exit_code == 0) outcome.exit_code = 125;
    }
  }
  return outcome;
}

}  // namespace cloche
