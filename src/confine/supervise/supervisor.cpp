#include "confine/supervise/supervisor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/sys/sys.hpp"
#include "base/text/visible_text.hpp"
#include "confine/supervise/supervised_call.hpp"
#include "jail/core/wire.hpp"

namespace cloche {
namespace {

constexpr uint64_t background_ms = 250;  // between two looks at a terminal that is another job's
constexpr uint64_t grace_ms = 1000;      // between a signal that was passed on and the end
constexpr size_t most_of_a_line = 4000;  // what a pipe that is ready takes without a wait
constexpr uint64_t stuck_ms = 1000;      // for the keeper to say `gone` after it was told to end everything

wire::PlanText with_window_size(wire::PlanText plan, int terminal) {
  const WindowSize size = window_size_of(terminal);
  plan.rows = size.rows;
  plan.columns = size.columns;
  return plan;
}

}  // namespace

std::optional<EscapeFilter> SupervisedCall::filter_for(int callers) const {
  if (streams_.raw || callers < 0 || ::isatty(callers) != 1) return std::nullopt;
  return EscapeFilter(plan_.terminal ? Answers::reach_command : Answers::reach_others);
}

Result<void> SupervisedCall::start() {
  if (jail_.late_text) {
    jail_.late_text.reset();
  } else {
    TRY(jail_.go(what_,
                 wire::encode(plan_.terminal ? with_window_size(spec_.jail, streams_.terminal) : spec_.jail),
                 cgroup_));
  }
  if (streams_.meanwhile) streams_.meanwhile();
  control_ = std::move(jail_.control);
  for (JailReport& heard : jail_.early) {
    // To let go of the directory takes a moment, and the call does not wait for it.
    if (heard.report.kind != wire::ReportKind::late_text) take_report(heard.report, std::move(heard.fds));
  }
  if (is_speechless()) watch_.attach_to_descendants(jail_.keeper.pid);
  // The other flows of a terminal begin when the jail sends it; what builds a box may have to say something
  // before.
  if (!plan_.terminal || spec_.backend != Backend::native) {
    errors_ = StreamRelay::out_of_command(std::move(jail_.errors), streams_.errors,
                                          filter_for(streams_.errors), keep_of(streams_.errors_spill));
  }
  if (plan_.terminal) return {};
  input_ = StreamRelay::into_command(streams_.input, std::move(jail_.input));
  output_ = StreamRelay::out_of_command(std::move(jail_.output), streams_.output, filter_for(streams_.output),
                                        keep_of(streams_.output_spill));
  return {};
}

void SupervisedCall::turn() {
  std::array<pollfd, 8> events = {{{control_.get(), POLLIN, 0},
                                   {jail_.keeper.pidfd.get(), POLLIN, 0},
                                   {streams_.signals, POLLIN, 0},
                                   {end_ms_ == 0 && !gone_ ? streams_.stop : -1, POLLIN, 0},
                                   input_.wants(),
                                   output_.wants(),
                                   errors_.wants(),
                                   {network_ != nullptr ? network_->events() : -1, POLLIN, 0}}};
  if (said_.gone || gone_) events[0].fd = -1;
  if (gone_) events[1].fd = -1;
  if (::poll(events.data(), events.size(), wait_ms()) < 0 && errno != EINTR) end_everything();
  now_ms_ = sys::monotonic_ms();
  if (raw_terminal_.waits()) raw_terminal_.enter();
  if (events[0].revents != 0) hear();
  if (events[2].revents != 0) take_signals();
  if (events[3].revents != 0) take_stop();
  if (events[7].revents != 0) {
    network_->turn();
    say_refusals();
  }
  if (said_.started) let_builder_speak();
  move_flows();
  if (!gone_ && (said_.usage || events[1].revents != 0)) keeper_ended();
  keep_time();
}

int SupervisedCall::wait_ms() const {
  const uint64_t now = now_ms_;
  uint64_t next = flush_deadline_ms_;
  if (!gone_) next = std::min({next, deadline_ms_, grace_deadline_ms_, note_at_ms_});
  if (!gone_ && is_watched()) next = std::min(next, watch_.next_check_ms());
  if (!gone_ && end_ms_ != 0) next = now < end_ms_ + stuck_ms ? end_ms_ + stuck_ms : end_ms_ + 2 * stuck_ms;
  if (input_.in_background() || raw_terminal_.waits()) next = std::min(next, now + background_ms);
  return static_cast<int>(std::min<uint64_t>(next > now ? next - now : 0, 60'000));
}

void SupervisedCall::keep_time() {
  const uint64_t now = now_ms_;
  if (gone_) {
    // The command is over; its output may still wait for a caller who reads slowly, but not for ever.
    flush_deadline_ms_ = std::min(flush_deadline_ms_, std::max(deadline_ms_, now + flush_ms));
    return;
  }
  if (end_ms_ != 0) {
    if (now >= end_ms_ + stuck_ms)
      ::kill(jail_.keeper.pid, SIGKILL);  // not waited for yet: still its own number
    // The kernel itself may hold it (a queue of network namespaces). The caller gets his answer all the same;
    // nothing that is killed can execute anything any more.
    if (now >= end_ms_ + 2 * stuck_ms) give_up_on_keeper();
    return;
  }
  if (now >= deadline_ms_) return stop_for({LimitId::wall, {}});
  if (now >= grace_deadline_ms_) return end_everything();
  if (now >= note_at_ms_) note_that_it_lasts();
  if (now < watch_.next_check_ms() || !is_watched() || said_.gone) return;
  if (auto hit = watch_.check(now)) return stop_for(*std::move(hit));
  if (watch_.has_lost_a_part(now)) {
    said_.lost_a_part = true;
    end_everything();
  }
}

// Not where a person has stopped the terminal with Ctrl-S, nor over a command that reads single keys: that
// draws the screen itself, and a line of ours would spoil it.
bool SupervisedCall::can_speak() const {
  pollfd errors{streams_.errors, POLLOUT, 0};
  const bool would_wait = ::poll(&errors, 1, 0) != 1;
  return !would_wait && !(master_ && reads_keys(master_.get()));
}

void SupervisedCall::speak(std::string_view line) const {
  // The caller's terminal is raw while the command has one of ours.
  const std::string line_end = plan_.terminal ? "\r\n" : "\n";
  const std::string_view before = output_.last_taken();
  const bool within_line = plan_.terminal && !before.empty() && before.back() != '\n';
  (void)sys::write_all(streams_.errors, (within_line ? line_end : "") + std::string(line) + line_end);
}

void SupervisedCall::note_that_it_lasts() {
  constexpr uint64_t later_ms = 1000;
  const bool can = can_speak();
  note_at_ms_ = can ? ~0ULL : now_ms_ + later_ms;
  if (can) speak(streams_.lasting_note);
}

void SupervisedCall::say_refusals() {
  if (!streams_.says_refusals || streams_.errors < 0 || !can_speak()) return;
  for (const auto& sentence : network_->take_unsaid()) speak("cloche: " + shown(sentence, most_of_a_line));
}

void SupervisedCall::move_flows() {
  const uint64_t total = output_.bytes() + errors_.bytes();
  const uint64_t left = plan_.limits.output_bytes > total ? plan_.limits.output_bytes - total : 0;
  const bool beyond = left == 0 && (output_.more_waits() || errors_.more_waits());
  if (beyond && !said_.hit) {
    // A command that has ended by itself is past its limit all the same; the rest would never be read.
    if (end_ms_ == 0 && !gone_) end_everything();
    said_.hit = LimitHit{LimitId::output, {}};
  }
  const uint64_t typed_before = input_.bytes();
  input_.move(~0ULL);
  if (plan_.terminal && input_.bytes() != typed_before) heed_keys(input_.last_taken());
  const uint64_t output_before = output_.bytes();
  const uint64_t errors_before = errors_.bytes();
  output_.move(left);
  const uint64_t taken = output_.bytes() + errors_.bytes() - total;
  if (is_builders_turn()) {
    hold_builder_back();
  } else {
    errors_.move(left > taken ? left - taken : 0);
  }
  show(output_, output_before);
  show(errors_, errors_before);
  if (left == 0) {  // nothing more is read: the rest is not passed on
    if (said_.hit && said_.hit->limit == LimitId::output) {
      output_.end_source();
      errors_.end_source();
    }
  }
}

void SupervisedCall::hold_builder_back() {
  constexpr size_t most = size_t{64} << 10;
  said_by_builder_ += errors_.take_aside(most - said_by_builder_.size());
  if (said_by_builder_.size() == most) let_builder_speak();  // that is no error any more, and wants a reader
}

void SupervisedCall::let_builder_speak() {
  if (builder_speaks_) return;
  builder_speaks_ = true;
  const uint64_t before = errors_.bytes();
  errors_.pass_on(said_by_builder_);
  show(errors_, before);
}

void SupervisedCall::heed_keys(std::string_view typed) {
  if (insistence_.insists(typed, now_ms_)) return end_everything();
  if (raw_terminal_.suspends(typed) && spec_.backend == Backend::native) {
    if (command_has_stopped_) return suspend(Stop::group);
    suspend_key_.typed(now_ms_);
  }
  // No signal reaches a command in a speechless box, and an interrupt that does nothing is of no use.
  if (!is_speechless() || end_ms_ != 0 || !interrupts(master_.get(), typed)) return;
  said_.signal_passed = SIGINT;
  end_everything();
}

void SupervisedCall::show(const StreamRelay& flow, uint64_t bytes_before) const {
  const bool is_kept = &flow == &output_ ? streams_.output < 0 : streams_.errors < 0;
  if (streams_.heard && is_kept && flow.bytes() > bytes_before && !flow.last_taken().empty())
    streams_.heard(flow.last_taken());
}

void SupervisedCall::hear() {
  JailReport heard;
  const Hearing hearing = receive_report(control_.get(), heard);
  if (hearing == Hearing::nothing) return;
  if (hearing == Hearing::other_format && !said_.failed)
    said_.failed = wire::Report{.step = wire::Step::read_plan, .number = EBADMSG};
  if (hearing != Hearing::report) {
    said_.gone = true;
    return;
  }
  ++heard_;
  take_report(heard.report, std::move(heard.fds));
}

void SupervisedCall::take_report(const wire::Report& report, std::vector<OwnedFd> fds) {
  if (report.kind == wire::ReportKind::listeners) {
    if (network_ != nullptr && fds.size() == spec_.jail.listeners.size())
      network_->open(std::move(fds), report.index == 1);
    return;
  }
  OwnedFd fd = fds.size() == 1 ? std::move(fds.front()) : OwnedFd();
  switch (report.kind) {
    case wire::ReportKind::terminal: return open_terminal(std::move(fd));
    case wire::ReportKind::listeners:
    case wire::ReportKind::ready:
    case wire::ReportKind::accepted:
    case wire::ReportKind::late_text: return;  // heard before there was a supervisor
    case wire::ReportKind::started:
      said_.started = true;
      if (spec_.by_descendants) {
        if (!is_speechless()) watch_.attach_to_descendants(jail_.keeper.pid);
      } else if (fd) {
        watch_.attach(fd.get());
      }
      return;
    case wire::ReportKind::failed:
      if (!said_.failed) said_.failed = report;
      return;
    case wire::ReportKind::not_executed: said_.not_executed = report; return;
    case wire::ReportKind::stopped: return command_stopped();
    case wire::ReportKind::ended:
      said_.ended = report;
      return end_memory_files();  // while the kernel takes the sandbox down
    case wire::ReportKind::released: released_ = report.overlays; return;
    case wire::ReportKind::gone: {
      said_.usage = report;
      said_.gone = true;
      released_ = report.overlays;
      auto hit =
          watch_.judge_cgroup({report.memory_peak_bytes, report.memory_kills, report.processes_denied});
      if (hit && !said_.hit) said_.hit = std::move(hit);
      return;
    }
  }
}

void SupervisedCall::open_terminal(OwnedFd master) {
  OwnedFd for_input(::fcntl(master.get(), F_DUPFD_CLOEXEC, 0));
  master_ = OwnedFd(::fcntl(master.get(), F_DUPFD_CLOEXEC, 0));
  input_ = StreamRelay::into_command(streams_.terminal, std::move(for_input));
  output_ = StreamRelay::out_of_command(std::move(master), streams_.output, filter_for(streams_.output),
                                        keep_of(streams_.output_spill));
  // A jail in a box of another program was not told the size, and waits for it.
  if ((spec_.jail.flags & wire::terminal) != 0) return;
  copy_window_size(streams_.terminal, master_.get());
  pass_on(SIGWINCH);
}

void SupervisedCall::pass_on(int number) {
  const char byte = static_cast<char>(number);
  (void)::send(control_.get(), &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void SupervisedCall::take_signals() {
  signalfd_siginfo info{};
  if (::read(streams_.signals, &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return;
  const int number = static_cast<int>(info.ssi_signo);
  if (number == SIGWINCH) {
    if (master_) copy_window_size(streams_.terminal, master_.get());
    return;
  }
  if (number == SIGTSTP) {
    // The jails in boxes have no word for it, and what they run would go on: there it has no effect.
    if (spec_.backend == Backend::native) suspend(Stop::this_process);
    return;
  }
  if (!control_) return;
  pass_on(number);
  said_.signal_passed = number;
  grace_deadline_ms_ = std::min(grace_deadline_ms_, now_ms_ + grace_ms);
}

void SupervisedCall::take_stop() {
  said_.cancelled = !said_.ended;  // what has ended by itself is not called back
  end_everything();
}

Result<Outcome> supervise(JailProcess& jail, const Startable& what, const LaunchSpec& spec,
                          const Cgroup* cgroup, const Streams& streams, NetworkGate* network) {
  return SupervisedCall(jail, what, spec, cgroup, streams, network).run();
}

}  // namespace cloche
