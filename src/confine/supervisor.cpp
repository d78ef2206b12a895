#include "confine/supervisor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/sys.hpp"
#include "confine/cut_short.hpp"
#include "confine/flow.hpp"
#include "confine/holders.hpp"
#include "confine/terminal.hpp"
#include "confine/verdict.hpp"
#include "confine/watch.hpp"
#include "jail/wire.hpp"

namespace cloche {
namespace {

constexpr uint64_t background_ms = 250;  // between two looks at a terminal that is somebody else's
constexpr uint64_t grace_ms = 1000;      // between a signal that was passed on and the end
constexpr uint64_t flush_ms = 1000;      // for the caller to take the rest of the output after a kill
constexpr uint64_t stuck_ms = 1000;      // for the keeper to say `gone` after it was told to end everything

wire::PlanText with_window_size(wire::PlanText plan, int terminal) {
  const WindowSize size = window_size_of(terminal);
  plan.rows = size.rows;
  plan.columns = size.columns;
  return plan;
}

std::vector<OwnedFd> descriptors_of(const msghdr& message) {
  std::vector<OwnedFd> fds;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return fds;
  fds.resize((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
  for (size_t i = 0; i < fds.size(); ++i) {
    int number = -1;
    std::memcpy(&number, CMSG_DATA(header) + i * sizeof number, sizeof number);
    fds[i] = OwnedFd(number);
  }
  return fds;
}

class Call {
 public:
  Call(JailProcess& jail, const ConfinementPlan& plan, const LaunchSpec& spec, const Cgroup* cgroup,
       const Streams& streams, NetworkGate* network)
      : jail_(jail),
        plan_(plan),
        spec_(spec),
        streams_(streams),
        network_(network),
        cgroup_(cgroup),
        start_ms_(sys::monotonic_ms()),
        now_ms_(start_ms_),
        deadline_ms_(start_ms_ + plan.limits.wall_ms),
        watch_(plan, cgroup, start_ms_),
        raw_terminal_(plan.terminal ? streams.terminal : -1) {}

  Result<Outcome> run() {
    // What fills a task's home once would otherwise fill it a little more by each call. The jail ends when it
    // gets no plan.
    if (auto full = watch_.sizes_at_start()) {
      said_.hit = std::move(full);
      return judge(said_, plan_);
    }
    TRY(start());
    while (!finished()) turn();
    return conclude();
  }

 private:
  Result<void> start();
  bool finished() const { return gone_ && (flows_finished() || now_ms_ >= flush_deadline_ms_); }
  bool flows_finished() const { return output_.finished() && errors_.finished(); }
  void turn();
  int wait_ms() const;
  void keep_time();
  void move_flows();
  void remember_builder(std::string_view said);
  void heed_keys(std::string_view typed);
  void hear();
  void take_report(const wire::Report& report, std::vector<OwnedFd> fds);
  void open_terminal(OwnedFd master);
  void take_signals();
  void pass_on(int number);
  void take_stop();
  Keep keep_of(int spill) const { return {streams_.keep_most, streams_.in_memory, spill}; }
  void show(const Flow& flow, uint64_t bytes_before) const;
  void keeper_ended();
  void hear_all();
  void end_what_a_keeper_left();
  void give_up_on_keeper();
  // On stderr, by what builds the box: all of it where it is kept, else the end of it.
  const std::string& what_was_said() const {
    return errors_.kept().empty() ? said_by_builder_ : errors_.kept();
  }
  // The box ended before the command was reached, and by itself.
  bool never_started() const {
    return !said_.hit && !said_.cancelled && (said_.failed || (!said_.started && !said_.not_executed));
  }
  void end_everything();
  void stop_for(LimitHit hit);
  Result<Outcome> conclude();

  JailProcess& jail_;
  const ConfinementPlan& plan_;
  const LaunchSpec& spec_;
  const Streams& streams_;
  NetworkGate* network_;
  const Cgroup* cgroup_;
  uint64_t start_ms_;
  uint64_t now_ms_;  // as of this turn
  uint64_t deadline_ms_;
  uint64_t end_ms_ = 0;  // when everything was told to end; 0: not yet
  uint64_t grace_deadline_ms_ = ~0ULL;
  uint64_t flush_deadline_ms_ = ~0ULL;
  Watch watch_;
  RawTerminal raw_terminal_;
  Insistence insistence_;

  Spawned keeper_;
  OwnedFd control_;
  Flow input_;
  Flow output_;
  Flow errors_;
  OwnedFd master_;
  bool gone_ = false;
  size_t heard_ = 0;             // reports so far
  std::string said_by_builder_;  // on stderr, before there was a command
  Reports said_;
};

Result<void> Call::start() {
  TRY(jail_.go(wire::encode(plan_.terminal ? with_window_size(spec_.jail, streams_.terminal) : spec_.jail),
               cgroup_));
  keeper_ = std::move(jail_.keeper);
  control_ = std::move(jail_.control);
  const auto filtered = [this](int fd) { return !streams_.raw && fd >= 0 && ::isatty(fd) == 1; };
  // The other flows of a terminal begin when the jail sends it; what builds a box may have to say something
  // before.
  if (!plan_.terminal || spec_.backend != Backend::native) {
    errors_ = Flow::out_of_command(std::move(jail_.errors), streams_.errors, filtered(streams_.errors),
                                   keep_of(streams_.errors_spill));
  }
  if (plan_.terminal) return {};
  input_ = Flow::into_command(streams_.input, std::move(jail_.input));
  output_ = Flow::out_of_command(std::move(jail_.output), streams_.output, filtered(streams_.output),
                                 keep_of(streams_.output_spill));
  return {};
}

void Call::turn() {
  std::array<pollfd, 8> events = {{{control_.get(), POLLIN, 0},
                                   {keeper_.pidfd.get(), POLLIN, 0},
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
  if (events[0].revents != 0) hear();
  if (events[2].revents != 0) take_signals();
  if (events[3].revents != 0) take_stop();
  if (events[7].revents != 0) network_->turn();
  move_flows();
  if (!gone_ && events[1].revents != 0) keeper_ended();
  keep_time();
}

int Call::wait_ms() const {
  const uint64_t now = now_ms_;
  uint64_t next = flush_deadline_ms_;
  if (!gone_) next = std::min({next, deadline_ms_, grace_deadline_ms_});
  if (!gone_ && said_.started) next = std::min(next, watch_.next_check_ms());
  if (!gone_ && end_ms_ != 0) next = now < end_ms_ + stuck_ms ? end_ms_ + stuck_ms : end_ms_ + 2 * stuck_ms;
  if (input_.in_background()) next = std::min(next, now + background_ms);
  return static_cast<int>(std::min<uint64_t>(next > now ? next - now : 0, 60'000));
}

void Call::keep_time() {
  const uint64_t now = now_ms_;
  if (gone_) {
    // The command is over; its output may still wait for a caller who reads slowly, but not for ever.
    flush_deadline_ms_ = std::min(flush_deadline_ms_, std::max(deadline_ms_, now + flush_ms));
    return;
  }
  if (end_ms_ != 0) {
    if (now >= end_ms_ + stuck_ms) ::kill(keeper_.pid, SIGKILL);  // not waited for yet: still its own number
    // The kernel itself may hold it (a queue of network namespaces). The caller gets his answer all the same;
    // nothing that is killed can execute anything any more.
    if (now >= end_ms_ + 2 * stuck_ms) give_up_on_keeper();
    return;
  }
  if (now >= deadline_ms_) return stop_for({LimitId::wall, {}});
  if (now >= grace_deadline_ms_) return end_everything();
  if (now >= watch_.next_check_ms() && said_.started && !said_.gone) {
    if (auto hit = watch_.check(now)) stop_for(*std::move(hit));
  }
}

void Call::move_flows() {
  const uint64_t total = output_.bytes() + errors_.bytes();
  const uint64_t left = plan_.limits.output_bytes > total ? plan_.limits.output_bytes - total : 0;
  const bool beyond = left == 0 && (output_.more_waits() || errors_.more_waits());
  if (beyond && !said_.hit) {
    // A command that has ended by itself is past its limit all the same; nobody would ever read the rest.
    if (end_ms_ == 0 && !gone_) end_everything();
    said_.hit = LimitHit{LimitId::output, {}};
  }
  const uint64_t typed_before = input_.bytes();
  input_.move(~0ULL);
  if (plan_.terminal && input_.bytes() != typed_before) heed_keys(input_.last_taken());
  const uint64_t output_before = output_.bytes();
  const uint64_t errors_before = errors_.bytes();
  output_.move(left);
  errors_.move(left > output_.bytes() + errors_.bytes() - total
                   ? left - (output_.bytes() + errors_.bytes() - total)
                   : 0);
  show(output_, output_before);
  show(errors_, errors_before);
  if (!said_.started && errors_.bytes() > errors_before) remember_builder(errors_.last_taken());
  if (left == 0) {  // nothing more is read: the rest is not passed on
    if (said_.hit && said_.hit->limit == LimitId::output) {
      output_.end_source();
      errors_.end_source();
    }
  }
}

// The end of it will do: what a tool says last is why it stopped.
void Call::remember_builder(std::string_view said) {
  constexpr size_t most = 4096;
  said_by_builder_ += said;
  if (said_by_builder_.size() > most) said_by_builder_.erase(0, said_by_builder_.size() - most);
}

void Call::heed_keys(std::string_view typed) {
  if (insistence_.insists(typed, now_ms_)) return end_everything();
  // No signal reaches a command in a speechless box, and an interrupt that does nothing helps nobody.
  const bool speechless = (spec_.jail.flags & wire::speechless) != 0;
  if (!speechless || end_ms_ != 0 || !interrupts(master_.get(), typed)) return;
  said_.signal_passed = SIGINT;
  end_everything();
}

void Call::show(const Flow& flow, uint64_t bytes_before) const {
  const bool is_kept = &flow == &output_ ? streams_.output < 0 : streams_.errors < 0;
  if (streams_.heard && is_kept && flow.bytes() > bytes_before && !flow.last_taken().empty())
    streams_.heard(flow.last_taken());
}

void Call::give_up_on_keeper() {
  gone_ = true;
  input_.give_up();
  output_.give_up();
  errors_.give_up();
}

void Call::hear() {
  wire::Report report;
  iovec data{&report, sizeof report};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int) * wire::max_doors)];
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = sizeof room;
  ssize_t got = 0;
  // The other end closed before it had read our own word: the kernel says so once, and then what was said to
  // us.
  do {
    got = ::recvmsg(control_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == ECONNRESET);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got != static_cast<ssize_t>(sizeof report)) {
    said_.gone = true;  // every holder of the other end is dead
    return;
  }
  ++heard_;
  take_report(report, descriptors_of(message));
}

void Call::take_report(const wire::Report& report, std::vector<OwnedFd> fds) {
  OwnedFd fd = fds.size() == 1 ? std::move(fds.front()) : OwnedFd();
  switch (report.kind) {
    case wire::ReportKind::terminal: return open_terminal(std::move(fd));
    case wire::ReportKind::doors:
      if (network_ != nullptr && fds.size() == spec_.jail.doors.size())
        network_->open(std::move(fds), report.index == 1);
      return;
    case wire::ReportKind::started:
      said_.started = true;
      if (spec_.by_descendants) {
        watch_.attach_to_descendants(keeper_.pid);
      } else if (fd) {
        watch_.attach(fd.get());
      }
      return;
    case wire::ReportKind::failed:
      if (!said_.failed) said_.failed = report;
      return;
    case wire::ReportKind::not_executed: said_.not_executed = report; return;
    case wire::ReportKind::ended: said_.ended = report; return;
    case wire::ReportKind::gone: {
      said_.usage = report;
      said_.gone = true;
      auto hit =
          watch_.judge_cgroup({report.memory_peak_bytes, report.memory_kills, report.processes_denied});
      if (hit && !said_.hit) said_.hit = std::move(hit);
      return;
    }
  }
}

void Call::open_terminal(OwnedFd master) {
  OwnedFd for_input(::fcntl(master.get(), F_DUPFD_CLOEXEC, 0));
  master_ = OwnedFd(::fcntl(master.get(), F_DUPFD_CLOEXEC, 0));
  input_ = Flow::into_command(streams_.terminal, std::move(for_input));
  output_ =
      Flow::out_of_command(std::move(master), streams_.output, !streams_.raw, keep_of(streams_.output_spill));
  // A jail in a box of somebody else's was not told the size, and waits for it.
  if ((spec_.jail.flags & wire::terminal) != 0) return;
  copy_window_size(streams_.terminal, master_.get());
  pass_on(SIGWINCH);
}

void Call::pass_on(int number) {
  const char byte = static_cast<char>(number);
  (void)::send(control_.get(), &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void Call::take_signals() {
  signalfd_siginfo info{};
  if (::read(streams_.signals, &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return;
  const int number = static_cast<int>(info.ssi_signo);
  if (number == SIGWINCH) {
    if (master_) copy_window_size(streams_.terminal, master_.get());
    return;
  }
  if (!control_) return;
  pass_on(number);
  said_.signal_passed = number;
  grace_deadline_ms_ = std::min(grace_deadline_ms_, now_ms_ + grace_ms);
}

void Call::take_stop() {
  said_.cancelled = !said_.ended;  // what has ended by itself is not called back
  end_everything();
}

void Call::hear_all() {
  for (size_t before = ~size_t{0}; control_ && !said_.gone && before != heard_;) {
    before = heard_;
    hear();
  }
}

// Of a keeper that was killed. Those who die with it do so at once; whoever has the socket after that does
// not know that he is alone.
void Call::end_what_a_keeper_left() {
  // For a jail in a box whose builder died before it could know: it takes that as the word to end everything,
  // and lets nobody but root see what it holds.
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

void Call::keeper_ended() {
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
  if (!said_.started) {  // there never was a command to wait for
    output_.give_up();
    errors_.give_up();
  }
}

void Call::end_everything() {
  if (end_ms_ != 0 || !control_) return;
  end_ms_ = now_ms_;
  watch_.note_usage();
  (void)watch_.check_cgroup();  // while the numbers are there
  ::shutdown(control_.get(), SHUT_WR);
  flush_deadline_ms_ = end_ms_ + flush_ms;
}

void Call::stop_for(LimitHit hit) {
  if (!said_.hit) said_.hit = std::move(hit);
  end_everything();
}

Result<Outcome> Call::conclude() {
  const bool boxed = spec_.backend != Backend::native;
  if (boxed && (!said_.failed || said_.failed->step == wire::Step::start_box) && never_started()) {
    // One that was killed, or whose keeper was, says nothing about what this host can do.
    const bool by_itself = said_.usage && WIFEXITED(said_.usage->status);
    if (by_itself) return box_error(said_.failed, spec_.backend, what_was_said());
    return cut_short_error("the box was ended from outside before the command began");
  }
  // A box that met a limit while it was built: that limit is the reason, and what the box says of it is not.
  const bool met_a_limit = said_.hit && said_.failed && said_.failed->step == wire::Step::start_box;
  if (said_.failed && !said_.cancelled && !met_a_limit && was_cut_short(*said_.failed))
    return cut_short_error("the sandbox was ended from outside before the command began");
  if (said_.failed && !said_.cancelled && !met_a_limit)
    return step_error(*said_.failed, spec_.jail, plan_.directory);
  if (!said_.hit && said_.started) said_.hit = watch_.sizes_at_end();
  Outcome outcome = judge(said_, plan_);
  outcome.layers = spec_.layers;
  outcome.backend = name_of(spec_.backend);
  outcome.usage.wall_ms = sys::monotonic_ms() - start_ms_;
  outcome.usage.cpu_ms = std::max(outcome.usage.cpu_ms, watch_.cpu_ms());
  outcome.usage.max_rss_bytes = std::max(outcome.usage.max_rss_bytes, watch_.max_rss_bytes());
  outcome.usage.memory_peak_bytes = watch_.memory_peak_bytes();
  outcome.usage.memory_overshoot_bytes = watch_.memory_overshoot_bytes();
  outcome.output = output_.take_kept();
  outcome.errors = errors_.take_kept();
  outcome.output_bytes = output_.bytes();
  outcome.error_bytes = errors_.bytes();
  outcome.truncated =
      output_.truncated() || errors_.truncated() || (said_.hit && said_.hit->limit == LimitId::output);
  if (network_ != nullptr) network_->finish(outcome);
  if (const auto denied = watch_.processes_denied(); denied > 0) {
    outcome.denials.push_back({"limit", describe_denied_processes(plan_, denied)});
  }
  for (const Flow* flow : {&output_, &errors_}) {
    if (flow->write_error() != 0 && flow->write_error() != EPIPE && outcome.reason.empty()) {
      outcome.reason = system_error("pass the command's output on", flow->write_error()).what;
      if (outcome.exit_code == 0) outcome.exit_code = 125;
    }
  }
  return outcome;
}

}  // namespace

Result<Outcome> supervise(JailProcess& jail, const ConfinementPlan& plan, const LaunchSpec& spec,
                          const Cgroup* cgroup, const Streams& streams, NetworkGate* network) {
  return Call(jail, plan, spec, cgroup, streams, network).run();
}

}  // namespace cloche
