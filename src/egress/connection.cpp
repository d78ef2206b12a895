#include "egress/connection.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "egress/address_guard.hpp"
#include "egress/client_hello.hpp"

namespace cloche::egress {
namespace {

constexpr uint16_t tls_port = 443;
constexpr uint16_t http_port = 80;
constexpr uint64_t greeting_ms = 10'000;        // for the client to say whom it wants
constexpr uint64_t dial_ms = 10'000;            // of each address
constexpr uint64_t next_address_ms = 500;       // until the next one is tried as well
constexpr size_t most_head = size_t{20} << 10;  // a little more than any hello or head may have

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

Connection::Connection(House& house, OwnedFd client, const HostName& host, bool localhost, HostCount& count,
                       uint32_t share)
    : house_(house),
      client_(std::move(client)),
      host_(host),
      localhost_(localhost),
      count_(count),
      share_(share),
      began_ms_(house.loop.now_ms()),
      moved_ms_(began_ms_) {
  if (count_.port == http_port) requests_.emplace(Destination{host_, count_.port});
}

Connection::~Connection() { end(); }

void Connection::start() {
  if (bytes_left() == 0) return refuse(EgressReason::too_many_bytes);
  make_relayed(client_.get(), share_);
  if (!house_.loop.watch(client_.get(), client_end_)) return end();
  if (count_.port == tls_port || count_.port == http_port) return judge();
  dial();
}

void Connection::ready(const End& end, uint32_t events) {
  const bool broke = (events & (EPOLLERR | EPOLLHUP)) != 0;
  switch (state_) {
    case State::judging: return judge();
    case State::looking:
      if (broke) break_off();  // the client does not want it any more
      return;
    case State::dialling:
      if (end.side == Side::client && broke) return break_off();
      if (end.side == Side::server && (broke || (events & EPOLLOUT) != 0)) look_at_attempts(end);
      return;
    case State::relaying: return relay();
    case State::over: return;
  }
}

// Everything that has come, up to what is judged at once.
Connection::Heard Connection::read_head() {
  std::array<char, size_t{16} << 10> room;
  while (head_.size() < most_head) {
    const size_t most = std::min(room.size(), most_head - head_.size());
    const ssize_t got = ::recv(client_.get(), room.data(), most, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) break;
    if (got < 0) return Heard::broken;
    if (got == 0) return Heard::all;
    head_.append(room.data(), static_cast<size_t>(got));
  }
  return Heard::so_far;
}

void Connection::judge() {
  const size_t before = head_.size();
  const Heard heard = read_head();
  if (heard == Heard::broken) return end();
  if (head_.size() > before) requests_ ? judge_request() : judge_hello();
  // A client may say that it has ended right behind its request, and still wants the answer.
  if (heard == Heard::all && state_ == State::judging) end();
}

void Connection::judge_hello() {
  const Hello hello = hello_.read({reinterpret_cast<const uint8_t*>(head_.data()), head_.size()});
  switch (hello.state) {
    case Hello::State::need_more: return;
    case Hello::State::refused: return refuse(EgressReason::bad_hello, hello.reason);
    case Hello::State::named: break;
  }
  if (*hello.name != host_) return refuse(EgressReason::other_server_name, hello.name->text());
  if (take_bytes(head_.size())) dial();
}

void Connection::judge_request() {
  if (!judge_requests()) return;
  if (out_.holds()) dial();
}

// Puts what may be passed on with what is to be sent. False: it is refused.
bool Connection::judge_requests() {
  const RequestStream::Step step = requests_->feed(head_);
  if (!step.refused.empty()) {
    refuse(EgressReason::bad_request, step.refused);
    return false;
  }
  if (!take_bytes(step.forward)) return false;
  out_.hold(std::string_view(head_).substr(0, step.forward));
  head_.erase(0, step.forward);
  if (head_.empty()) give_back_memory(head_);
  return true;
}

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

void Connection::found(const std::vector<IpAddress>& addresses) {
  std::string refused;
  for (const auto& address : addresses) {
    const Whose whose = why_not_dialled(address, {}).empty() ? whose_is(address) : Whose::own;
    if (whose == Whose::others) addresses_.push_back(address);
    if (whose == Whose::own && refused.empty()) refused = text_of(address).view();
  }
  if (addresses_.empty() && refused.empty()) return refuse(EgressReason::too_many_files);
  if (addresses_.empty()) return refuse(EgressReason::address_of_name, refused);
  addresses_ = families_in_turn(addresses_);
  state_ = State::dialling;
  dial_next();
}

void Connection::dial_next() {
  while (!addresses_.empty()) {
    const IpAddress address = addresses_.front();
    addresses_.erase(addresses_.begin());
    if (begin_attempt(address)) return;
    last_error_ = errno;
  }
  if (!is_dialling()) fail(EgressReason::unreachable, last_error_);
}

bool Connection::begin_attempt(const IpAddress& address) {
  auto attempt = std::make_unique<Attempt>(*this, stream_to(address));
  const SocketPlace place = place_of(address, count_.port);
  attempt->began_ms = moved_ms_ = house_.loop.now_ms();
  if (!attempt->fd) return false;
  make_relayed(attempt->fd.get(), share_);
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

uint64_t Connection::bytes_left() const {
  return house_.settings.bytes - std::min(house_.settings.bytes, *count_.host_bytes);
}

bool Connection::take_bytes(size_t count) {
  if (count > bytes_left()) {
    refuse(EgressReason::too_many_bytes);
    return false;
  }
  *count_.host_bytes += count;
  return true;
}

Moved Connection::move_out() {
  if (requests_) return move_requests();
  uint64_t left = bytes_left();
  const uint64_t before = left;
  const Moved moved = out_.splice(client_.get(), server_.get(), house_.pipes, left, count_.bytes_out);
  *count_.host_bytes += before - left;
  return moved;
}

Moved Connection::move_in() {
  uint64_t left = bytes_left();
  const uint64_t before = left;
  const Moved moved = in_.splice(server_.get(), client_.get(), house_.pipes, left, count_.bytes_in);
  *count_.host_bytes += before - left;
  return moved;
}

Moved Connection::move_requests() {
  std::array<char, size_t{16} << 10> room;
  for (size_t taken = 0; taken < size_t{1} << 20;) {
    if (const Moved held = out_.send_held(server_.get(), count_.bytes_out); held != Moved::more) return held;
    const ssize_t got = ::recv(client_.get(), room.data(), room.size(), MSG_DONTWAIT);
    if (got < 0) return errno == EAGAIN || errno == EINTR ? Moved::waits : Moved::cut;
    if (got == 0) return Moved::ended;
    taken += static_cast<size_t>(got);
    head_.append(room.data(), static_cast<size_t>(got));
    if (!judge_requests()) return Moved::broken;
  }
  return Moved::more;
}

void Connection::relay() {
  const uint64_t before = count_.bytes_in + count_.bytes_out;
  const Moved out = out_ended_ ? Moved::waits : move_out();
  if (over()) return;  // a request was refused
  const Moved in = in_ended_ ? Moved::waits : move_in();
  const uint64_t moved = count_.bytes_in + count_.bytes_out - before;
  if (moved > 0) moved_ms_ = house_.loop.now_ms();
  if (out == Moved::spent || in == Moved::spent) return refuse(EgressReason::too_many_bytes);
  if (out == Moved::broken || in == Moved::cut) return break_off();  // the server is gone
  // A client that is gone may have said much before, and that is passed on.
  client_broke_ = client_broke_ || out == Moved::cut || (in == Moved::broken && !out_ended_);
  if (out == Moved::ended && !client_broke_) ::shutdown(server_.get(), SHUT_WR);
  if (in == Moved::ended) ::shutdown(client_.get(), SHUT_WR);
  out_ended_ = out_ended_ || out == Moved::ended || out == Moved::cut;
  in_ended_ = in_ended_ || in == Moved::ended || in == Moved::broken || client_broke_;
  if (out_ended_ && in_ended_) return end_when_delivered();
  if (out == Moved::more || in == Moved::more) house_.loop.again(client_end_);
}

void Connection::look_at_clock() {
  const uint64_t now = house_.loop.now_ms();
  if (!over() && now - began_ms_ > house_.settings.time_ms) return refuse(EgressReason::too_long_open);
  switch (state_) {
    case State::judging:
      if (now - began_ms_ <= greeting_ms) return;
      return refuse(requests_ ? EgressReason::bad_request : EgressReason::bad_hello,
                    "it was not said within ten seconds which host it is for");
    case State::dialling: return look_at_dialling();
    case State::relaying:
      if (now - moved_ms_ > house_.settings.idle_ms) return refuse(EgressReason::too_long_idle);
      if (out_ended_ && in_ended_) end_when_delivered();
      return;
    case State::looking:
    case State::over: return;
  }
}

// The end itself may still be under way: that is the kernel's to wait for.
bool Connection::is_delivered() const {
  const Delivery delivery = delivery_of(server_.get());
  return delivery.complete || delivery.acknowledged >= out_.sent();
}

// Nobody is told when the last byte was acknowledged: the clock asks again.
void Connection::end_when_delivered() {
  if (!is_delivered()) return;
  client_broke_ ? break_off() : end();
}

// Whether the server does not have everything that the client sent, or will have sent when its end is seen.
bool Connection::owes_server() const {
  switch (state_) {
    case State::judging: return true;
    case State::looking:
    case State::dialling: return !head_.empty() || out_.owes() || !has_ended(client_.get());
    case State::relaying: return !out_ended_ || !is_delivered();
    case State::over: return false;
  }
  return false;
}

bool Connection::is_delivering() {
  if (state_ == State::judging) judge();  // its last words may be the whole of a request
  if (owes_server()) return true;
  if (!over()) out_ended_ && !client_broke_ ? end() : break_off();
  return false;
}

void Connection::give_up() {
  if (!is_delivering()) return;
  if (state_ == State::relaying) {
    const uint64_t acknowledged = std::min(delivery_of(server_.get()).acknowledged, out_.sent());
    count_.bytes_out -= out_.sent() - acknowledged;
  }
  fail(EgressReason::cut_at_end);
}

void Connection::refuse(EgressReason reason, std::string_view detail) {
  house_.speaker.refused(reason, {host_.text(), count_.port, detail});
  break_off();
}

void Connection::fail(EgressReason reason, int number) {
  house_.speaker.failed(reason, {host_.text(), count_.port, {}, number});
  break_off();
}

void Connection::break_off() {
  end_abruptly(client_);
  end_abruptly(server_);
  end();
}

void Connection::end() {
  if (over()) return;
  if (state_ == State::looking) house_.lookups.forget(*this);
  state_ = State::over;
  house_.loop.forget(client_end_);
  for (const auto& attempt : attempts_) {
    house_.loop.forget(attempt->end);
    attempt->fd.reset();
  }
  end_orderly(client_);
  end_orderly(server_);
  out_.drop(house_.pipes);
  in_.drop(house_.pipes);
}

}  // namespace cloche::egress
