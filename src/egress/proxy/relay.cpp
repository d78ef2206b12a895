#include "egress/proxy/relay.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace cloche::egress {
namespace {

constexpr size_t most_a_turn = size_t{4} << 20;  // then the other connections have theirs
constexpr size_t large_pipe = size_t{1} << 20;
constexpr size_t small_pipe = size_t{32} << 10;
constexpr size_t most_large = 16;
constexpr size_t most_free = 16;

bool would_wait() { return errno == EAGAIN || errno == EINTR; }

}  // namespace

RelayPipe PipePool::borrow() {
  if (!free_.empty()) {
    RelayPipe pipe = std::move(free_.back());
    free_.pop_back();
    return pipe;
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return {};
  // Larger where the user's share of pipe memory allows it; the usual size works as well.
  const bool large = large_<most_large&& ::fcntl(ends[1], F_SETPIPE_SZ, static_cast<int>(large_pipe))> 0;
  if (large) ++large_;
  return {OwnedFd(ends[0]), OwnedFd(ends[1]), large ? large_pipe : small_pipe};
}

void PipePool::give_back(RelayPipe pipe) {
  if (!pipe.read) return;
  if (free_.size() < most_free) {
    free_.push_back(std::move(pipe));
  } else {
    forget(pipe);
  }
}

void PipePool::forget(const RelayPipe& pipe) {
  if (pipe.room == large_pipe) --large_;
}

void Relay::count(ssize_t sent, uint64_t& counted) {
  sent_ += static_cast<uint64_t>(sent);
  counted += static_cast<uint64_t>(sent);
}

Moved Relay::send_held(int target, uint64_t& counted) {
  while (holds()) {
    const ssize_t sent =
        ::send(target, held_.data() + held_begin_, held_.size() - held_begin_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) return would_wait() ? Moved::waits : Moved::broken;
    held_begin_ += static_cast<size_t>(sent);
    count(sent, counted);
  }
  give_back_memory(held_);
  held_begin_ = 0;
  return Moved::more;
}

Moved Relay::fill(int source, size_t most, size_t& taken) {
  const ssize_t got = ::splice(source, nullptr, pipe_.write.get(), nullptr, std::min(most, pipe_.room),
                               SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
  if (got < 0) return would_wait() ? Moved::waits : Moved::cut;
  if (got == 0) {
    source_ended_ = true;
    return Moved::ended;
  }
  in_pipe_ += static_cast<size_t>(got);
  taken += static_cast<size_t>(got);
  return Moved::more;
}

Moved Relay::drain(int target, uint64_t& counted) {
  while (in_pipe_ > 0) {
    const ssize_t sent =
        ::splice(pipe_.read.get(), nullptr, target, nullptr, in_pipe_, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
    if (sent < 0) return would_wait() ? Moved::waits : Moved::broken;
    if (sent == 0) return Moved::broken;
    in_pipe_ -= static_cast<size_t>(sent);
    count(sent, counted);
  }
  return Moved::more;
}

// Nothing may be taken any more: whether there is something.
Moved Relay::look_for_more(int source) {
  char byte = 0;
  const ssize_t got = ::recv(source, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (got < 0) return would_wait() ? Moved::waits : Moved::cut;
  source_ended_ = got == 0;
  return source_ended_ ? Moved::ended : Moved::spent;
}

Moved Relay::splice(int source, int target, PipePool& pipes, uint64_t& left, uint64_t& counted) {
  if (const Moved held = send_held(target, counted); held != Moved::more) return held;
  if (!pipe_.read) pipe_ = pipes.borrow();
  if (!pipe_.read) return Moved::broken;
  Moved moved = Moved::more;
  for (size_t taken = 0; moved == Moved::more && taken < most_a_turn;) {
    moved = drain(target, counted);
    if (moved != Moved::more) break;
    const size_t before = taken;
    const auto most = static_cast<size_t>(std::min<uint64_t>(left, most_a_turn - taken));
    if (source_ended_) {
      moved = Moved::ended;
    } else {
      moved = most == 0 ? look_for_more(source) : fill(source, most, taken);
    }
    left -= taken - before;
  }
  if (in_pipe_ == 0 && moved != Moved::broken) pipes.give_back(std::move(pipe_)), pipe_ = {};
  return moved;
}

void Relay::drop(PipePool& pipes) {
  // A pipe with the bytes of one connection in it is no other's.
  if (in_pipe_ == 0) {
    pipes.give_back(std::move(pipe_));
  } else {
    pipes.forget(pipe_);
  }
  pipe_ = {};
}

}  // namespace cloche::egress
