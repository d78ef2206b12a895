// How a supervised command ends: by our word, with its keeper or without it, and what is said of it then.
#include "confine/supervise/supervised_call.hpp"

#include <poll.h>
#include <signal.h>
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

constexpr uint64_t release_ms = 1500;  // for the keeper to say that the kernel has ended them

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

}  // namespace

void SupervisedCall::give_up_on_keeper() {
  gone_ = true;
  jail_.keeper.pidfd.reset();
  input_.give_up();
  output_.give_up();
  errors_.give_up();
}

// Before the overlays are waited for: what is mounted in such a file system may last as long as that is held.
void SupervisedCall::end_memory_files() {
  for (auto& target : watch_.end_memory_files()) full_.push_back(std::move(target));
}

// See OverlayWatch. Of a keeper that was killed nothing is known, and then they are not.
bool SupervisedCall::wait_for_release(size_t overlays) {
  const uint64_t deadline = sys::monotonic_ms() + release_ms;
  while (released_ < overlays) {
    const uint64_t now = sys::monotonic_ms();
    pollfd said{control_.get(), POLLIN, 0};
    if (!said_.usage || now >= deadline || ::poll(&said, 1, static_cast<int>(deadline - now)) < 0) break;
    const size_t before = heard_;
    hear();
    if (heard_ == before) break;  // it has ended
  }
  return released_ >= overlays;
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

// Or it has said that everything else has: it ends when our end of the socket is closed, and the jail's
// object waits for it.
void SupervisedCall::keeper_ended() {
  // What it said before it ended. Of `first`, which may live a moment longer, there is nothing more to hear.
  hear_all();
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
  end_memory_files();
  Outcome outcome = judge(said_, plan_);
  outcome.layers = spec_.layers;
  const size_t overlays = said_.started || said_.not_executed ? count_overlays(spec_.jail) : 0;
  if (overlays > 0) outcome.layers.push_back({LayerId::change_set, "overlayfs"});
  outcome.overlays_released = wait_for_release(count_overlays(spec_.jail));
  outcome.backend = spec_.backend;
  outcome.usage.wall_ms = sys::monotonic_ms() - start_ms_;
  outcome.usage.cpu_ms = std::max(outcome.usage.cpu_ms, watch_.cpu_ms());
  outcome.usage.max_rss_bytes = std::max(outcome.usage.max_rss_bytes, watch_.max_rss_bytes());
  outcome.usage.memory_peak_bytes = watch_.memory_peak_bytes();
  outcome.usage.memory_overshoot_bytes = watch_.memory_overshoot_bytes();
  const bool failed = outcome.end == End::exited && outcome.exit_code != 0;
  if (failed && spec_.backend != Backend::none)
    outcome.guess = guess_by_last_words((plan_.terminal ? output_ : errors_).last_taken(),
                                        guess_terms(plan_, overlays > 0));
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
  if (!full_.empty()) outcome.denials.push_back(denied_memory(plan_, full_));
  for (const StreamRelay* flow : {&output_, &errors_}) {
    if (flow->write_error() != 0 && flow->write_error() != EPIPE && outcome.reason.empty()) {
      outcome.reason = system_error("pass the command's output on", flow->write_error()).what;
      if (outcome.exit_code == 0) outcome.exit_code = 125;
    }
  }
  return outcome;
}

}  // namespace cloche
