#include "egress/proxy/server.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace cloche::egress {
namespace {

constexpr int tick_ms = 50;           // how exact limits of time are
constexpr uint64_t totals_ms = 1000;  // so old is what is known of a gate that was killed
constexpr int most_accepts = 64;
constexpr uint64_t delivery_ms = 2000;  // for what a command sent last
constexpr int delivery_tick_ms = 2;     // it is not told when it has arrived

}  // namespace

Server::Server(const EgressSettings& settings, ResolverFiles files, Routes& routes)
    : settings_(settings),
      files_(std::move(files)),
      gateway_(egress_control_fd),
      lookups_(loop_, files_),
      names_(settings_),
      dns_(loop_, names_, settings_.ipv6, gateway_),
      house_{loop_, gateway_, pipes_, lookups_, routes, settings_},
      published_(loop_, pipes_, gateway_, settings_) {}

void Server::Control::ready(uint32_t) {
  char byte = 0;
  const ssize_t got = ::recv(egress_control_fd, &byte, 1, MSG_DONTWAIT);
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) closed = true;
}

// Takes what is for published ports from the end of the listeners.
bool Server::serve_published(std::vector<OwnedFd>& listeners) {
  const size_t doors = settings_.published.size();
  if (doors == 0) return true;
  const auto take_last = [&](size_t count) {
    const auto first = listeners.end() - static_cast<ptrdiff_t>(count);
    std::vector<OwnedFd> taken(std::make_move_iterator(first), std::make_move_iterator(listeners.end()));
    listeners.erase(first, listeners.end());
    return taken;
  };
  if (listeners.size() < doors + connectors_of_published) return false;
  auto outside = take_last(doors);
  return published_.serve(std::move(outside), take_last(connectors_of_published));
}

bool Server::run(std::vector<OwnedFd> listeners) {
  if (!loop_.works() || !serve_published(listeners) || listeners.empty() ||
      !loop_.watch(egress_control_fd, control_))
    return false;
  if (!dns_.serve(std::move(listeners[0]), listeners.size() > 1 ? std::move(listeners[1]) : OwnedFd()))
    return false;
  for (size_t i = 2; i < listeners.size(); ++i) {
    listeners_.push_back(std::make_unique<Listener>(*this, std::move(listeners[i])));
    if (!loop_.watch(listeners_.back()->fd.get(), *listeners_.back())) return false;
  }
  keep_spare();
  while (!control_.closed) {
    const bool idle = connections_.empty() && published_.is_idle() && totals_are_said_;
    loop_.turn(idle ? 60'000 : tick_ms);
    look_at_clock();
  }
  deliver_last_words();
  say_what_was_used();
  return true;
}

// The command has ended, and its kernel would have gone on sending what it wrote before: so does this one,
// for a while. No new connection can come to the listeners any more.
void Server::deliver_last_words() {
  for (const auto& listener : listeners_) {
    while (accept_one(*listener)) {
    }
  }
  const uint64_t deadline = loop_.now_ms() + delivery_ms;
  while (are_delivering() && loop_.now_ms() < deadline) {
    loop_.turn(delivery_tick_ms);
    look_at_clock();
  }
  for (const auto& connection : connections_) connection->give_up();
}

bool Server::are_delivering() {
  bool any = false;
  for (const auto& connection : connections_) any = connection->is_delivering() || any;
  return published_.are_delivering() || any;
}

void Server::accept_from(Listener& listener) {
  for (int i = 0; i < most_accepts; ++i) {
    if (!accept_one(listener)) return;
  }
  loop_.again(listener);
}

// False: no connection waits there, or none can be let in.
bool Server::accept_one(Listener& listener) {
  OwnedFd client(::accept4(listener.fd.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!client && errno == EINTR) return true;
  if (!client) return errno == EMFILE && turn_away(listener);
  take(std::move(client));
  return true;
}

// No descriptor is left. A client that waits at the listener would wait for ever, because it is not reported
// again: the spare one is for saying no.
bool Server::turn_away(Listener& listener) {
  spare_.reset();
  OwnedFd client(::accept4(listener.fd.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  Endpoint endpoint;
  const NamedHost* host = client && endpoint_of(client.get(), endpoint)
                              ? names_.named(reached_offset(endpoint.address))
                              : nullptr;
  if (host != nullptr) gateway_.refused(EgressReason::too_many_files, {host->name, endpoint.port});
  const bool turned = static_cast<bool>(client);
  end_abruptly(client);
  keep_spare();
  return turned;
}

void Server::keep_spare() { spare_ = OwnedFd(::fcntl(egress_control_fd, F_DUPFD_CLOEXEC, 0)); }

void Server::take(OwnedFd client) {
  Endpoint endpoint;
  if (!endpoint_of(client.get(), endpoint)) return end_abruptly(client);
  const uint32_t offset = reached_offset(endpoint.address);
  const NamedHost* host = offset == no_offset ? nullptr : names_.named(offset);
  // At the loopback where nothing was declared no program of the sandbox listens: that is no decision of
  // ours.
  const bool own =
      is_loopback(endpoint.address) && (host == nullptr || !names_.is_declared(*host, endpoint.port));
  if (host == nullptr || own) {
    if (offset != no_offset && !own)
      gateway_.refused(EgressReason::no_such_address, {dotted(offset), endpoint.port});
    return end_abruptly(client);
  }
  if (!names_.is_declared(*host, endpoint.port)) {
    gateway_.refused(EgressReason::port_not_declared, {host->name, endpoint.port});
    return end_abruptly(client);
  }
  if (connections_.size() >= settings_.connections) {
    gateway_.refused(EgressReason::too_many_connections, {host->name, endpoint.port});
    return end_abruptly(client);
  }
  const ReadName name = HostName::read(host->name);
  if (!name) return end_abruptly(client);
  connections_.push_back(std::make_unique<Connection>(
      house_, std::move(client), *name.name, host->offset == localhost_offset,
      count_for(host->name, endpoint.port), buffers_for(connections_.size() + 1)));
  connections_.back()->start();
  totals_are_said_ = false;
}

HostCount& Server::count_for(const std::string& name, uint16_t port) {
  uint64_t* host_bytes = nullptr;
  for (const auto& count : counts_) {
    if (count->name != name) continue;
    if (count->port == port) return *count;
    host_bytes = count->host_bytes;
  }
  if (host_bytes == nullptr) {
    totals_.push_back(std::make_unique<uint64_t>(0));
    host_bytes = totals_.back().get();
  }
  counts_.push_back(std::make_unique<HostCount>(HostCount{name, port, host_bytes}));
  return *counts_.back();
}

void Server::look_at_clock() {
  for (auto& connection : connections_) {
    if (connection->over()) loop_.bury(std::move(connection));
  }
  std::erase(connections_, nullptr);
  if (loop_.now_ms() - looked_ms_ < tick_ms) return;
  looked_ms_ = loop_.now_ms();
  lookups_.look_at_clock();
  published_.look_at_clock();
  for (auto& connection : connections_) connection->look_at_clock();
  dns_.look_at_clock();
  if (looked_ms_ - totals_ms_ < totals_ms) return;
  totals_ms_ = looked_ms_;
  totals_are_said_ = say_totals_so_far() && connections_.empty();
}

// Of those that have changed. False: the gateway has not heard the last ones yet.
bool Server::say_totals_so_far() {
  if (!gateway_.is_heard()) return false;
  for (const auto& count : counts_) {
    const uint64_t now = count->connections + count->bytes_out + count->bytes_in;
    if (now == count->said) continue;
    count->said = now;
    gateway_.used(*count);
  }
  return true;
}

void Server::say_what_was_used() {
  for (const auto& count : counts_) {
    if (count->connections == 0) continue;
    gateway_.used(*count);
    gateway_.finish();
  }
  gateway_.say_rest();
}

}  // namespace cloche::egress
