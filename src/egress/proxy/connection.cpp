#include "egress/proxy/connection.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "egress/protocol/client_hello.hpp"

namespace cloche::egress {
namespace {

constexpr uint16_t tls_port = 443;
constexpr uint16_t http_port = 80;
constexpr uint64_t greeting_ms = 10'000;        // for the client to say whom it wants
constexpr size_t most_head = size_t{20} << 10;  // a little more than any hello or head may have

}  // namespace

Connection::Connection(House& house, OwnedFd client, const HostName& host, bool localhost, HostCount& count,
                       Buffers buffers)
    : house_(house),
      client_(std::move(client)),
      host_(host),
      localhost_(localhost),
      count_(count),
      buffers_(buffers),
      began_ms_(house.loop.now_ms()),
      moved_ms_(began_ms_) {
  if (count_.port == http_port) requests_.emplace(Destination{host_, count_.port});
}

Connection::~Connection() { end(); }

void Connection::start() {
  if (bytes_left() == 0) return refuse(EgressReason::too_many_bytes);
  make_relayed(client_.get(), buffers_);
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
      if (head_.empty()) return end();  // a connection that was kept ready: there is nothing to refuse
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

// It is not told when the last byte was acknowledged: the clock asks again.
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

void Connection::fail(EgressReason reason, int number, std::string_view detail) {
  house_.speaker.failed(reason, {host_.text(), count_.port, detail, number});
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
