// What goes to the client: one thread writes, and senders never wait for it.
//
// Theory of operation. send() and the end of a call put whole messages into a queue, which keeps all of them;
// before a request is taken or a call is started, has_room() is asked, so that a client that does not read
// causes no new messages, and the queue stays within its limit plus what the running calls still send.
// Progress is not queued: each call has one place for it, in which the newest output replaces the oldest, and
// the writer sends what is there when nothing more important waits and the client takes it. For a call that
// is silent it says every few seconds that it goes on, because clients give up on one that they hear nothing
// of. The writer polls the client's descriptor and one of ours, so that it can be told to give up.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/result.hpp"
#include "base/sys/fd.hpp"

namespace cloche::mcp {

struct OutboxLimits {
  size_t queued_bytes = size_t{4} << 20;     // beyond it there is no room
  size_t progress_bytes = size_t{16} << 10;  // of output in one notification; the oldest is left out
  uint64_t progress_every_ms = 50;           // of one call
  uint64_t silence_ms = 10'000;              // after which it is said that the call goes on
};

// The progress of one call. Only the outbox looks into it.
struct Progress {
  std::string token = {};       // as JSON
  std::string text = {};        // not sent yet
  uint64_t count = 0;           // grows with every byte, and every time that there was none
  uint64_t left_out_bytes = 0;  // of what came since the last one
  uint64_t next_ms = 0;         // not before
  uint64_t silent_until_ms = 0;
  uint64_t begun_ms = 0;
  bool waits = false;  // is in the list of those that have something to say
};

class Outbox {
 public:
  // `woken` is called, by the writer, when there is room again and when the client is gone.
  static Result<std::unique_ptr<Outbox>> open(int fd, std::function<void()> woken, OutboxLimits limits = {});
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;
  ~Outbox();

  void send(std::string message);
  // From now until it is finished, or its call has dropped it, the client hears of it now and then.
  void watch(const std::shared_ptr<Progress>& progress);
  void add_output(const std::shared_ptr<Progress>& progress, std::string_view bytes);
  // The last that is said of a call, after all of its progress; an empty message: nothing.
  void finish(const std::shared_ptr<Progress>& progress, std::string message);

  bool has_room() const;
  // Returns when there is room, or when there will never be a need for it.
  void wait_for_room() const;
  bool is_broken() const;  // the client has gone

  // Writes what is queued for at most this long, and ends the writer.
  void close(uint64_t most_ms);

 private:
  Outbox(int fd, OwnedFd give_up, std::function<void()> woken, OutboxLimits limits);

  void run();
  std::string next_bytes(std::unique_lock<std::mutex>& held);
  std::string due_progress(uint64_t now_ms, uint64_t& next_ms);
  std::string due_silence(uint64_t now_ms, uint64_t& next_ms);
  static std::string take_progress(Progress& progress);
  bool write(std::string_view bytes) const;
  void note_written(size_t bytes, bool delivered);

  const int fd_;
  const bool is_socket_;
  const OwnedFd give_up_;  // an eventfd
  const std::function<void()> woken_;
  const OutboxLimits limits_;
  mutable std::mutex lock_;
  std::condition_variable something_;     // for the writer
  mutable std::condition_variable room_;  // for those who wait for it
  std::deque<std::string> messages_;
  size_t queued_bytes_ = 0;  // with what is being written
  std::vector<std::shared_ptr<Progress>> waiting_;
  std::vector<std::weak_ptr<Progress>> watched_;
  bool closing_ = false;
  bool done_ = false;
  bool broken_ = false;
  std::condition_variable finished_;
  std::thread writer_;
};

// The notification that says what a call has printed since the last one. `count` is more than in that one.
std::string progress_message(const std::string& token, uint64_t count, std::string_view text,
                             uint64_t left_out_bytes);

}  // namespace cloche::mcp
