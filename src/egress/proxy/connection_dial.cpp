// The way of a connection from its name to the server that answers.
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "egress/proxy/address_guard.hpp"
#include "egress/proxy/connection.hpp"

namespace cloche::egress {
namespace {

constexpr uint64_t dial_ms = 10'000;       // of each address
constexpr uint64_t next_address_ms = 500;  // until the next one is tried as well

// The first of each family, then the second: a host whose one family leads nowhere has the other soon.
std::vector<IpAddress> families_in_turn(const std::vector<IpAddress>& addresses) {
  std::vector<IpAddress> first;
  std::vector<IpAddress> second;
  for (const auto& address : addresses)
    (address.family == addresses[0].family ? first : second).push_back(address);
  std::vector<IpAddress> all;
  for (size_t i = 0; i < addresses.size(); ++i) {
    if (i < first.size()) all.push_back(first[i]);
    if (i < second.size()) all.push_back(second[i]);
  }
  return all;
}

}  // namespace

// What became of the addresses that are not dialled: the first of each kind.
struct Connection::NotDialled {
  EgressReason reason = EgressReason::address_of_name;
  std::string refused = {};  // the detail of `reason`
  std::string no_route = {};
  bool no_room = false;

  void refuse(EgressReason why, std::string detail) {
    if (!refused.empty()) return;
    reason = why;
    refused = std::move(detail);
  }
};

void Connection::dial() {
  state_ = State::looking;
  moved_ms_ = house_.loop.now_ms();
  if (localhost_) {
    state_ = State::dialling;
    addresses_ = {IpAddress::v4(std::array<uint8_t, 4>{127, 0, 0, 1}),
                  IpAddress::v6(std::array<uint8_t, 16>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1})};
    return dial_next();
  }
  house_.lookups.find(host_, *this);
}

void Connection::not_found(EgressReason why) { fail(why); }

bool Connection::is_let_lead_to(const IpAddress& address) const {
  if (why_not_dialled(address, {}).empty()) return true;
  const auto& ranges = house_.settings.ranges;
  return why_not_in_range(address).empty() &&
         std::any_of(ranges.begin(), ranges.end(), [&](const HostRange& one) {
           return is_about(one.host, host_.text(), count_.port) && one.range.contains(address);
         });
}

void Connection::judge_address(const IpAddress& address, NotDialled& others) {
  const std::string text(text_of(address).view());
  if (!is_let_lead_to(address)) return others.refuse(EgressReason::address_of_name, text);
  const Way way = house_.routes.way_to(address, count_.port);
  if (way == Way::out) return addresses_.push_back(address);
  if (const auto why = why_refused(way); !why.empty())
    return others.refuse(EgressReason::address_by_route, text + std::string(why));
  if (way == Way::no_room) others.no_room = true;
  if (way == Way::none && others.no_route.empty()) others.no_route = text;
}

void Connection::found(const std::vector<IpAddress>& addresses) {
  NotDialled others;
  for (const auto& address : addresses) judge_address(address, others);
  if (addresses_.empty()) return found_none(others);
  addresses_ = families_in_turn(addresses_);
  state_ = State::dialling;
  dial_next();
}

void Connection::found_none(const NotDialled& why) {
  if (!why.refused.empty()) return refuse(why.reason, why.refused);
  if (why.no_room) return refuse(EgressReason::too_many_files);
  fail(EgressReason::no_route, 0, why.no_route);
}

void Connection::dial_next() {
  while (!addresses_.empty()) {
    const IpAddress address = addresses_.front();
    addresses_.erase(addresses_.begin());
    if (begin_attempt(address)) return;
    last_error_ = errno;
  }
  if (is_dialling()) return;
  is_no_room(last_error_) ? refuse(EgressReason::too_many_files)
                          : fail(EgressReason::unreachable, last_error_);
}

bool Connection::begin_attempt(const IpAddress& address) {
  auto attempt = std::make_unique<Attempt>(*this, stream_to(address));
  const SocketPlace place = place_of(address, count_.port);
  attempt->began_ms = moved_ms_ = house_.loop.now_ms();
  if (!attempt->fd) return false;
  make_relayed(attempt->fd.get(), buffers_);
  if (::connect(attempt->fd.get(), place.address(), place.size) != 0 && errno != EINPROGRESS) return false;
  if (!house_.loop.watch(attempt->fd.get(), attempt->end)) return false;
  attempts_.push_back(std::move(attempt));
  return true;
}

bool Connection::is_dialling() const {
  return std::any_of(attempts_.begin(), attempts_.end(), [](const auto& one) { return bool{one->fd}; });
}

void Connection::look_at_attempts(const End& end) {
  const auto at =
      std::find_if(attempts_.begin(), attempts_.end(), [&](const auto& one) { return &one->end == &end; });
  if (at != attempts_.end() && (*at)->fd) dialled(**at);
}

void Connection::look_at_dialling() {
  const uint64_t now = house_.loop.now_ms();
  for (const auto& attempt : attempts_) {
    if (!attempt->fd || now - attempt->began_ms <= dial_ms) continue;
    attempt->fd.reset();
    last_error_ = ETIMEDOUT;
  }
  if (now - moved_ms_ > next_address_ms || !is_dialling()) dial_next();
}

void Connection::dialled(Attempt& attempt) {
  int problem = 0;
  socklen_t size = sizeof problem;
  if (::getsockopt(attempt.fd.get(), SOL_SOCKET, SO_ERROR, &problem, &size) != 0) problem = errno;
  if (problem != 0) {
    last_error_ = problem;
    attempt.fd.reset();
    return dial_next();
  }
  server_ = std::move(attempt.fd);
  for (const auto& other : attempts_) end_abruptly(other->fd);
  ++count_.connections;
  state_ = State::relaying;
  if (!requests_) {
    out_.hold(head_);
    give_back_memory(head_);
  }
  relay();
}

}  // namespace cloche::egress
