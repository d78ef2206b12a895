#include "doors/mcp/outbox.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>

#include "base/json/json_writer.hpp"
#include "base/sys/sys.hpp"
#include "base/text/utf8.hpp"
#include "doors/mcp/rpc.hpp"
#include "tools/answer/process_output.hpp"

namespace cloche::mcp {
namespace {

constexpr uint64_t never = ~0ULL;
constexpr size_t batch_bytes = 64 << 10;  // messages that are written together

bool is_socket(int fd) {
  struct stat seen {};
  return ::fstat(fd, &seen) == 0 && S_ISSOCK(seen.st_mode);
}

}  // namespace

std::string progress_message(const std::string& token, uint64_t count, std::string_view text,
                             uint64_t left_out_bytes) {
  std::string shown = neutralised(text);
  if (left_out_bytes > 0) shown = "[... " + std::to_string(left_out_bytes) + " bytes ...]\n" + shown;
  JsonWriter out;
  out.begin_object().key("progressToken").raw(token).member("progress", count).member("message", shown);
  return write_notification("notifications/progress", out.end_object().text());
}

Result<std::unique_ptr<Outbox>> Outbox::open(int fd, std::function<void()> woken, OutboxLimits limits) {
  OwnedFd give_up(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!give_up) return system_error("make an event");
  return std::unique_ptr<Outbox>(new Outbox(fd, std::move(give_up), std::move(woken), limits));
}

Outbox::Outbox(int fd, OwnedFd give_up, std::function<void()> woken, OutboxLimits limits)
    : fd_(fd),
      is_socket_(is_socket(fd)),
      give_up_(std::move(give_up)),
      woken_(std::move(woken)),
      limits_(limits),
      writer_([this] { run(); }) {}

Outbox::~Outbox() { close(0); }

void Outbox::send(std::string message) { finish(nullptr, std::move(message)); }

void Outbox::watch(const std::shared_ptr<Progress>& progress) {
  const std::lock_guard held(lock_);
  progress->begun_ms = sys::monotonic_ms();
  progress->silent_until_ms = progress->begun_ms + limits_.silence_ms;
  watched_.push_back(progress);
  something_.notify_one();
}

void Outbox::finish(const std::shared_ptr<Progress>& progress, std::string message) {
  const std::lock_guard held(lock_);
  if (progress)
    std::erase_if(watched_, [&](const std::weak_ptr<Progress>& one) { return one.lock() == progress; });
  if (progress && progress->waits) {
    progress->waits = false;
    std::erase(waiting_, progress);
    // Where the client is behind already, its result says it all.
    if (queued_bytes_ <= limits_.queued_bytes && !message.empty() && !broken_) {
      messages_.push_back(take_progress(*progress) + "\n");
      queued_bytes_ += messages_.back().size();
    }
  }
  if (message.empty() || broken_ || done_) return;
  messages_.push_back(std::move(message) + "\n");
  queued_bytes_ += messages_.back().size();
  something_.notify_one();
}

void Outbox::add_output(const std::shared_ptr<Progress>& progress, std::string_view bytes) {
  const std::lock_guard held(lock_);
  progress->count += bytes.size();
  progress->text += bytes;
  if (progress->text.size() > limits_.progress_bytes) {
    const size_t beyond = progress->text.size() - limits_.progress_bytes;
    progress->text.erase(0, beyond);
    progress->left_out_bytes += beyond;
  }
  if (progress->waits || broken_) return;
  progress->waits = true;
  waiting_.push_back(progress);
  something_.notify_one();
}

bool Outbox::has_room() const {
  const std::lock_guard held(lock_);
  return queued_bytes_ <= limits_.queued_bytes;
}

void Outbox::wait_for_room() const {
  std::unique_lock held(lock_);
  room_.wait(held, [&] { return queued_bytes_ <= limits_.queued_bytes || broken_ || closing_; });
}

bool Outbox::is_broken() const {
  const std::lock_guard held(lock_);
  return broken_;
}

void Outbox::close(uint64_t most_ms) {
  if (!writer_.joinable()) return;
  {
    std::unique_lock held(lock_);
    closing_ = true;
    something_.notify_one();
    room_.notify_all();
    finished_.wait_for(held, std::chrono::milliseconds(most_ms), [&] { return done_; });
  }
  const uint64_t one = 1;
  (void)!::write(give_up_.get(), &one, sizeof one);
  writer_.join();
}

void Outbox::run() {
  std::unique_lock held(lock_);
  for (std::string bytes = next_bytes(held); !bytes.empty(); bytes = next_bytes(held)) {
    held.unlock();
    const bool delivered = write(bytes);
    held.lock();
    note_written(bytes.size(), delivered);
    if (!delivered) break;
  }
  done_ = true;
  finished_.notify_all();
}

void Outbox::note_written(size_t bytes, bool delivered) {
  const bool was_full = queued_bytes_ > limits_.queued_bytes;
  queued_bytes_ -= std::min(bytes, queued_bytes_);
  if (!delivered) {
    broken_ = true;
    messages_.clear();
    waiting_.clear();
    watched_.clear();
    queued_bytes_ = 0;
  }
  if (delivered && !(was_full && queued_bytes_ <= limits_.queued_bytes)) return;
  room_.notify_all();
  woken_();
}

// What is to be written next; empty: nothing ever again.
std::string Outbox::next_bytes(std::unique_lock<std::mutex>& held) {
  while (true) {
    std::string bytes;
    while (!messages_.empty() && (bytes.empty() || bytes.size() + messages_.front().size() <= batch_bytes)) {
      bytes += messages_.front();
      messages_.pop_front();
    }
    if (!bytes.empty()) return bytes;
    if (closing_) return {};
    const uint64_t now = sys::monotonic_ms();
    uint64_t next = never;
    bytes = due_progress(now, next) + due_silence(now, next);
    queued_bytes_ += bytes.size();
    if (!bytes.empty()) return bytes;
    if (next == never) {
      something_.wait(held);
    } else {
      something_.wait_for(held, std::chrono::milliseconds(next - now));
    }
  }
}

// What can be said now; `next_ms` is when there is more.
std::string Outbox::due_progress(uint64_t now_ms, uint64_t& next_ms) {
  std::string bytes;
  std::erase_if(waiting_, [&](const std::shared_ptr<Progress>& progress) {
    if (progress->next_ms > now_ms) {
      next_ms = std::min(next_ms, progress->next_ms);
      return false;
    }
    progress->waits = false;
    progress->next_ms = now_ms + limits_.progress_every_ms;
    progress->silent_until_ms = now_ms + limits_.silence_ms;
    bytes += take_progress(*progress) + "\n";
    return true;
  });
  return bytes;
}

// The same of calls that have nothing to say.
std::string Outbox::due_silence(uint64_t now_ms, uint64_t& next_ms) {
  std::string bytes;
  std::erase_if(watched_, [&](const std::weak_ptr<Progress>& one) {
    const auto progress = one.lock();
    if (!progress) return true;
    if (progress->silent_until_ms <= now_ms) {
      progress->silent_until_ms = now_ms + limits_.silence_ms;
      const std::string text =
          "still running after " + std::to_string((now_ms - progress->begun_ms) / 1000) + " s";
      bytes += progress_message(progress->token, ++progress->count, text, 0) + "\n";
    }
    next_ms = std::min(next_ms, progress->silent_until_ms);
    return false;
  });
  return bytes;
}

std::string Outbox::take_progress(Progress& progress) {
  // Half a character waits for its other half, unless it is all there is.
  const size_t tail = utf8::unfinished_tail(progress.text);
  const size_t length = progress.text.size() - (tail < progress.text.size() ? tail : 0);
  std::string message =
      progress_message(progress.token, progress.count, std::string_view(progress.text).substr(0, length),
                       progress.left_out_bytes);
  progress.text.erase(0, length);
  progress.left_out_bytes = 0;
  return message;
}

// Never longer than until it is told to give up, though the descriptor may block: of a pipe that is ready,
// PIPE_BUF bytes can be written at once, and a socket takes what it can.
bool Outbox::write(std::string_view rest) const {
  while (!rest.empty()) {
    pollfd events[] = {{fd_, POLLOUT, 0}, {give_up_.get(), POLLIN, 0}};
    if (::poll(events, 2, -1) < 0 && errno != EINTR) return false;
    if (events[1].revents != 0) return false;
    if (events[0].revents == 0) continue;
    const size_t most = std::min<size_t>(rest.size(), is_socket_ ? batch_bytes : PIPE_BUF);
    const ssize_t put = is_socket_ ? ::send(fd_, rest.data(), most, MSG_DONTWAIT | MSG_NOSIGNAL)
                                   : ::write(fd_, rest.data(), most);
    if (put < 0 && errno != EAGAIN && errno != EINTR) return false;
    if (put > 0) rest.remove_prefix(static_cast<size_t>(put));
  }
  return true;
}

}  // namespace cloche::mcp
