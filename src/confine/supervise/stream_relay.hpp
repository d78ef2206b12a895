// A flow carries bytes one way between a descriptor of the caller's and one of the command's, and never
// blocks: it moves what can be moved now and says what it waits for.
#pragma once

#include <poll.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/sys/fd.hpp"
#include "confine/supervise/escape_filter.hpp"

namespace cloche {

// How much of what a command prints is kept, and where.
struct Keep {
  size_t most = 0;
  size_t in_memory = ~size_t{0};  // the rest of it goes
  int spill = -1;                 // to this file; -1: there is none, and memory has to do
};

class StreamRelay {
 public:
  StreamRelay() = default;  // carries nothing, and is finished from the start

  // From the caller's descriptor into the command's pipe or terminal.
  static StreamRelay into_command(int callers, OwnedFd commands);
  // From the command to the caller's descriptor, or kept when that is -1. With a filter where the caller's
  // is a terminal.
  static StreamRelay out_of_command(OwnedFd commands, int callers, std::optional<EscapeFilter> filter,
                                    const Keep& keep);

  // The one thing this flow waits for; fd -1 when nothing.
  pollfd wants() const;
  // Moves what can be moved. `allowed` is how many more bytes may be taken from the source.
  void move(uint64_t allowed);

  // Takes what can be taken, up to `most` bytes, without passing it on; and passes on what was taken so.
  std::string take_aside(size_t most);
  void pass_on(std::string_view bytes);

  // Whether the caller's terminal belongs to another job just now; to be asked again after a while.
  bool in_background() const { return in_background_; }
  bool finished() const { return ended_ && pending().empty(); }
  void give_up();  // drops what was not delivered
  // Whether there is more to take than was taken.
  bool more_waits() const;
  void end_source();  // takes nothing more
  // At the end of all: takes back what the command had the caller's terminal do.
  void reset_terminal();
  uint64_t asked_ms() const { return asked_ms_; }    // when the terminal was last asked something; 0: never
  uint64_t bytes() const { return bytes_; }          // taken from the source
  const std::string& kept() const { return kept_; }  // in memory
  std::string take_kept() { return std::move(kept_); }
  bool truncated() const { return truncated_; }
  // Of what is passed on or kept.
  std::string_view last_taken() const { return buffer_; }
  int write_error() const { return write_error_; }
  int command_end() const { return owned_.get(); }

 private:
  std::string_view pending() const { return std::string_view(buffer_).substr(written_); }
  void take(uint64_t allowed);
  void accept(std::string_view bytes);
  void keep(std::string_view bytes);
  bool spill(std::string_view bytes);
  void deliver();

  OwnedFd owned_;  // the command's side
  int from_ = -1;
  int to_ = -1;  // -1: keep
  bool from_is_ours_ = false;
  std::string buffer_;
  size_t written_ = 0;
  std::string kept_;
  Keep keep_ = {};
  size_t spilled_ = 0;
  std::optional<EscapeFilter> filter_;
  uint64_t asked_ms_ = 0;
  uint64_t bytes_ = 0;
  bool ended_ = true;
  bool truncated_ = false;
  bool in_background_ = false;
  int write_error_ = 0;
};

}  // namespace cloche
