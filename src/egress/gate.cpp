#include "egress/gate.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <span>
#include <utility>

#include "base/sys/sys.hpp"
#include "egress/proxy/settings.hpp"

namespace cloche {
namespace {

constexpr size_t most_denials = 64;
constexpr size_t most_looked_up = 8;
constexpr size_t most_hosts_known = size_t{16} << 10;  // more than all its names and ports are
constexpr size_t most_hosts_said = 1024;
constexpr uint64_t patience_ms = 5000;  // for its last words, on a machine that has much else to do

}  // namespace

EgressGate::EgressGate(EgressStart start, const ConfinementPlan& plan, std::vector<OwnedFd> published)
    : start_(std::move(start)),
      plan_(plan),
      answered_(shape_of(plan.hosts).listeners.size()),
      published_(std::move(published)) {}

EgressGate::~EgressGate() {
  if (process_.pidfd) (void)end_process();
}

// Nothing that the process says or does not say is proof of its end: one that was broken into closes its end
// of the line and stays. One that is exiting already keeps the status it has chosen.
siginfo_t EgressGate::end_process() {
  (void)::syscall(SYS_pidfd_send_signal, process_.pidfd.get(), SIGKILL, nullptr, 0);
  siginfo_t how{};
  ::waitid(P_PIDFD, static_cast<id_t>(process_.pidfd.get()), &how, WEXITED);
  process_.pidfd.reset();
  return how;
}

void EgressGate::open(std::vector<OwnedFd> listeners, bool has_ipv6) {
  listeners_ = std::move(listeners);
  ipv6_ = has_ipv6;
  if (auto watched = watch_listeners(); !watched.ok()) {
    listeners_.clear();
    published_.clear();
    refuse("egress: " + describe(watched.error()));
  }
}

Result<void> EgressGate::watch_listeners() {
  if (listeners_.size() == 1) return {};  // it is watched itself
  waiting_ = OwnedFd(::epoll_create1(EPOLL_CLOEXEC));
  if (!waiting_) return system_error("watch the network's listeners");
  const auto watch = [&](const OwnedFd& listener) {
    epoll_event event{};
    event.events = EPOLLIN;
    return ::epoll_ctl(waiting_.get(), EPOLL_CTL_ADD, listener.get(), &event) == 0;
  };
  const auto answered = std::span(listeners_).first(std::min(answered_, listeners_.size()));
  if (!std::ranges::all_of(answered, watch) || !std::ranges::all_of(published_, watch))
    return system_error("watch the network's listeners");
  return {};
}

int EgressGate::events() const {
  if (control_) return control_.get();
  return listeners_.size() == 1 ? listeners_.front().get() : waiting_.get();
}

void EgressGate::turn() {
  if (control_) return hear();
  auto started = start();
  // Either the process has them now, or no process answers: a connection is refused by the kernel.
  listeners_.clear();
  published_.clear();
  waiting_.reset();
  if (!started.ok()) refuse("egress: " + describe(started.error()));
}

Result<void> EgressGate::start() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return system_error("make the egress control socket");
  OwnedFd ours(ends[0]);
  const OwnedFd theirs(ends[1]);
  const OwnedFd nothing = TRY(sys::open("/dev/null", O_RDWR | O_CLOEXEC));
  const OwnedFd settings = TRY(sys::memory_file());
  TRY(sys::write_all(settings.get(), to_text(egress_settings(plan_, ipv6_))));
  TRY(sys::seal(settings.get()));
  std::vector<int> fds = {nothing.get(), nothing.get(), nothing.get(), theirs.get(), settings.get()};
  for (const auto& listener : listeners_) fds.push_back(listener.get());
  for (const auto& listener : published_) fds.push_back(listener.get());
  const size_t sockets = listeners_.size() + published_.size();
  std::vector<std::string> arguments = {"cloche-egress", std::to_string(sockets)};
  if (start_.privileged) {
    arguments.push_back(std::to_string(start_.uid));
    arguments.push_back(std::to_string(start_.gid));
  }
  process_ = TRY(spawn(network_gate(), start_.program, std::move(arguments), fds));
  control_ = std::move(ours);
  return {};
}

void EgressGate::hear() {
  for (int i = 0; i < 64 && control_; ++i) {
    if (!hear_one()) return;
  }
}

// False when nothing more has been said.
bool EgressGate::hear_one() {
  EgressMessage message;
  const ssize_t got = ::recv(control_.get(), &message, sizeof message, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (got == static_cast<ssize_t>(sizeof message)) {
    take(message);
    return true;
  }
  ended();
  return false;
}

void EgressGate::take(const EgressMessage& message) {
  switch (message.news) {
    case EgressNews::refused: {
      if (plan_.hosts.empty() && message.port == 0) return look_up_refused(name_of(message.name));
      if (message.reason == EgressReason::address_of_name)
        return refuse(describe(message, start_.declared), advice_about_address(message));
      const auto limit = limit_of(message.reason);
      return refuse(describe(message, start_.declared),
                    advice_about(message.reason, limit ? source_of(start_.lowered_by, *limit) : ""));
    }
    case EgressNews::failed:
      if (failures_.size() >= most_denials) {
        ++failed_.count;
      } else {
        failures_.push_back(describe(message, start_.declared));
      }
      return;
    case EgressNews::used: return take_use(message);
    case EgressNews::more_refused: return add_more(denied_, message);
    case EgressNews::more_failed: return add_more(failed_, message);
    case EgressNews::repeated: return repeated(describe(message, start_.declared), message.number);
  }
}

void EgressGate::add_more(More& more, const EgressMessage& message) {
  more.count += message.number;
  more.at_least = more.at_least || message.at_least != 0;
}

void EgressGate::take_use(const EgressMessage& message) {
  std::pair key(name_of(message.name), message.port);
  if (used_.size() >= most_hosts_known && !used_.contains(key)) return;
  HostUse use{key.first, static_cast<uint16_t>(message.port), message.connections, message.bytes_out,
              message.bytes_in};
  used_.insert_or_assign(std::move(key), std::move(use));
}

void EgressGate::ended() {
  control_.reset();
  const siginfo_t how = end_process();
  const bool well = how.si_code == CLD_EXITED && how.si_status == 0;
  if (finishing_ && well) return;
  const std::string cause = how.si_code == CLD_EXITED ? "with status " : "by signal ";
  denials_.push_back({.by = Enforcer::egress,
                      .what = "egress: the network gate of this call ended " + cause +
                              std::to_string(how.si_status) +
                              ": its connections were cut, and it has no network any more; run it again",
                      .transient = true});
}

void EgressGate::refuse(std::string what, std::string advice) {
  if (said_.contains(what)) return;
  if (denials_.size() >= most_denials) {
    ++denied_.count;
  } else {
    said_.insert(what);
    denials_.push_back({Enforcer::egress, std::move(what), std::move(advice)});
  }
}

// Without a network all of them are one sentence.
void EgressGate::look_up_refused(std::string name) {
  if (looked_up_.size() >= most_looked_up) {
    ++more_looked_up_;
  } else {
    looked_up_.push_back(std::move(name));
  }
}

void EgressGate::repeated(const std::string& what, uint64_t times) {
  for (auto& denial : denials_) {
    if (denial.what.text() == what) denial.times = times;
  }
}

std::vector<std::string> EgressGate::take_unsaid() {
  std::vector<std::string> sentences;
  for (; unsaid_ < denials_.size(); ++unsaid_) {
    denials_[unsaid_].said = true;
    sentences.push_back(operators_sentence(denials_[unsaid_]));
  }
  return sentences;
}

// Has connected, and ended before it was looked at: what was sent is to be delivered all the same. Questions
// to the resolver have no client that would hear the answer.
bool EgressGate::is_somebody_waiting() const {
  for (size_t i = 2; i < std::min(answered_, listeners_.size()); ++i) {
    pollfd event{listeners_[i].get(), POLLIN, 0};
    if (::poll(&event, 1, 0) == 1) return true;
  }
  return false;
}

void EgressGate::finish(Outcome& outcome) {
  if (is_somebody_waiting()) turn();
  listeners_.clear();
  published_.clear();
  waiting_.reset();
  if (control_) {
    finishing_ = true;
    ::shutdown(control_.get(), SHUT_WR);
    const uint64_t deadline = sys::monotonic_ms() + patience_ms;
    while (control_) {
      const uint64_t now = sys::monotonic_ms();
      if (now >= deadline) {
        ended();
        break;
      }
      pollfd event{control_.get(), POLLIN, 0};
      (void)::poll(&event, 1, static_cast<int>(deadline - now));
      hear();
    }
  }
  const auto shown = [](const More& more) {
    return std::string("egress: ") + (more.at_least ? "at least " : "") + std::to_string(more.count);
  };
  if (!looked_up_.empty()) {
    more_looked_up_ += std::exchange(denied_, {}).count;
    denials_.push_back(
        {Enforcer::egress, describe_looked_up(looked_up_, more_looked_up_), advice_about_names(looked_up_)});
  }
  if (denied_.count > 0)
    denials_.push_back({Enforcer::egress, shown(denied_) + " more refusals of the same call"});
  if (failed_.count > 0) failures_.push_back(shown(failed_) + " more connections could not be made");
  for (auto& denial : denials_) outcome.denials.push_back(std::move(denial));
  std::vector<HostUse> used;
  for (auto& [key, use] : used_) used.push_back(std::move(use));
  outcome.network = busiest(std::move(used), most_hosts_said);
  outcome.network_failures = std::move(failures_);
  denials_.clear();
}

}  // namespace cloche
