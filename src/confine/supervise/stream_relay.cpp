#include "confine/supervise/stream_relay.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "base/sys/sys.hpp"
#include "confine/supervise/terminal.hpp"

namespace cloche {
namespace {

// A write of at most this size to a pipe that poll calls writable does not block, whatever flags the caller's
// own descriptor has; those flags are shared with others and not ours to change.
constexpr size_t never_blocks = 4096;

bool is_ready(int fd, short event, int wait_ms = 0) {
  pollfd wanted{fd, event, 0};
  return ::poll(&wanted, 1, wait_ms) > 0;
}

}  // namespace

StreamRelay StreamRelay::into_command(int callers, OwnedFd commands) {
  StreamRelay flow;
  ::fcntl(commands.get(), F_SETFL, ::fcntl(commands.get(), F_GETFL) | O_NONBLOCK);
  flow.from_ = callers;
  flow.to_ = commands.get();
  flow.owned_ = std::move(commands);
  flow.ended_ = false;
  if (callers < 0) flow.end_source();
  return flow;
}

StreamRelay StreamRelay::out_of_command(OwnedFd commands, int callers, std::optional<EscapeFilter> filter,
                                        const Keep& keep) {
  StreamRelay flow;
  ::fcntl(commands.get(), F_SETFL, ::fcntl(commands.get(), F_GETFL) | O_NONBLOCK);
  flow.from_ = commands.get();
  flow.from_is_ours_ = true;
  flow.to_ = callers;
  flow.owned_ = std::move(commands);
  flow.keep_ = keep;
  flow.ended_ = false;
  flow.filter_ = std::move(filter);
  return flow;
}

pollfd StreamRelay::wants() const {
  if (!pending().empty()) return {to_, POLLOUT, 0};
  if (ended_ || in_background_) return {-1, 0, 0};
  return {from_, POLLIN, 0};
}

void StreamRelay::move(uint64_t allowed) {
  if (pending().empty() && !ended_) take(allowed);
  if (!pending().empty()) deliver();
}

void StreamRelay::take(uint64_t allowed) {
  if (!from_is_ours_) {
    if (!is_ready(from_, POLLIN)) return;        // the caller's descriptor blocks, so there must be something
    in_background_ = belongs_to_another(from_);  // reading it would fail
    if (in_background_) return;
  }
  constexpr size_t room_bytes = 32768;
  const size_t most = std::min<uint64_t>(room_bytes, allowed);
  if (most == 0) {  // of no use but to learn of the end
    if (!more_waits() && is_ready(from_, POLLIN)) end_source();
    return;
  }
  const auto room = std::make_unique_for_overwrite<char[]>(most);  // a caller may have left us a small stack
  const ssize_t got = ::read(from_, room.get(), most);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got < 0 && errno == EIO && !from_is_ours_ && belongs_to_another(from_)) return;  // since just now
  if (got <= 0) return end_source();  // a terminal's master says EIO when the last slave is closed
  accept({room.get(), static_cast<size_t>(got)});
}

void StreamRelay::accept(std::string_view bytes) {
  bytes_ += bytes.size();
  if (to_ < 0) return keep(bytes);
  buffer_.clear();
  written_ = 0;
  if (filter_) {
    filter_->pass(bytes, buffer_);
    if (filter_->take_asked()) asked_ms_ = sys::monotonic_ms();
  } else {
    buffer_.assign(bytes);
  }
}

std::string StreamRelay::take_aside(size_t most) {
  std::string aside(ended_ ? 0 : most, '\0');
  if (aside.empty()) return aside;
  const ssize_t got = ::read(from_, aside.data(), aside.size());
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) end_source();
  aside.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return aside;
}

void StreamRelay::pass_on(std::string_view bytes) {
  if (bytes.empty()) return;
  accept(bytes);
  deliver();
}

void StreamRelay::keep(std::string_view bytes) {
  const size_t kept_before = kept_.size() + spilled_;
  const size_t fits = std::min(bytes.size(), keep_.most - std::min(keep_.most, kept_before));
  const size_t room = keep_.in_memory - std::min(keep_.in_memory, kept_.size());
  const size_t in_memory = keep_.spill < 0 ? fits : std::min(fits, room);
  kept_.append(bytes.substr(0, in_memory));
  const bool whole = in_memory == fits || spill(bytes.substr(in_memory, fits - in_memory));
  truncated_ = truncated_ || fits < bytes.size() || !whole;
  buffer_.assign(bytes.substr(0, fits));
  written_ = buffer_.size();  // no reader is left
}

// False: not all of it could be written; what comes after a gap is left out as well.
bool StreamRelay::spill(std::string_view bytes) {
  while (!bytes.empty() && write_error_ == 0) {
    const ssize_t put = ::write(keep_.spill, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) {
      write_error_ = put < 0 ? errno : ENOSPC;
      break;
    }
    spilled_ += static_cast<size_t>(put);
    bytes.remove_prefix(static_cast<size_t>(put));
  }
  return bytes.empty();
}

bool StreamRelay::more_waits() const {
  int bytes = 0;
  return !ended_ && from_ >= 0 && ::ioctl(from_, FIONREAD, &bytes) == 0 && bytes > 0;
}

void StreamRelay::deliver() {
  while (!pending().empty()) {
    if (from_is_ours_ && !is_ready(to_, POLLOUT)) return;
    const auto chunk = pending().substr(0, never_blocks);
    const ssize_t put = ::write(to_, chunk.data(), chunk.size());
    if (put < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (put < 0) {
      write_error_ = errno;
      return give_up();
    }
    written_ += static_cast<size_t>(put);
  }
  if (ended_) end_source();  // the command's stdin is closed only when everything was delivered
}

// The command sees the end of its input, or a broken pipe when its reader is gone.
void StreamRelay::end_source() {
  ended_ = true;
  if (pending().empty()) owned_.reset();
}

// Not on a terminal that its user has stopped with Ctrl-S for longer than this.
void StreamRelay::reset_terminal() {
  constexpr int patience_ms = 200;
  const std::string resets = filter_ ? filter_->resets() : "";
  if (!resets.empty() && is_ready(to_, POLLOUT, patience_ms)) (void)sys::write_all(to_, resets);
}

void StreamRelay::give_up() {
  buffer_.clear();
  written_ = 0;
  end_source();
}

}  // namespace cloche
