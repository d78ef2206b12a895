// Bytes from one socket to another. Spliced through a pipe, so that they are never copied into this process;
// a pipe is borrowed while there is something in it, so that a thousand idle connections hold none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/sys/fd.hpp"

namespace cloche::egress {

struct RelayPipe {
  OwnedFd read;
  OwnedFd write;
  size_t room = 0;  // how much it is given at most
};

class PipePool {
 public:
  // Nothing in it. The first are large; many at once share less memory. Without descriptors left: an empty
  // one.
  RelayPipe borrow();
  void give_back(RelayPipe pipe);
  void forget(const RelayPipe& pipe);  // it is not given back

 private:
  std::vector<RelayPipe> free_;
  size_t large_ = 0;  // that there are, borrowed or not
};

// Assigning nothing to a string keeps what it had, and a thousand connections would keep a thousand times
// that.
inline void give_back_memory(std::string& text) { std::string().swap(text); }

enum class Moved {
  waits,   // for the source to have more, or for the target to take more
  more,    // it has had its turn, and could go on
  ended,   // the source has ended, and everything was passed on
  spent,   // the source has more than may be taken from it
  cut,     // the source was cut off, and everything that came before was passed on
  broken,  // the target is gone
};

// One direction.
class Relay {
 public:
  // What is to be sent before anything that is still in the source.
  void hold(std::string_view bytes) { held_.append(bytes); }
  bool holds() const { return held_begin_ < held_.size(); }
  // Whether something was taken from the source that the target does not have yet.
  bool owes() const { return holds() || in_pipe_ > 0; }
  uint64_t sent() const { return sent_; }

  // At most `left` bytes are taken from the source, and it shrinks by them: what is on its way here counts as
  // well. `counted` grows by what has left towards the target.
  Moved splice(int source, int target, PipePool& pipes, uint64_t& left, uint64_t& counted);
  // Only what is held.
  Moved send_held(int target, uint64_t& counted);
  void drop(PipePool& pipes);

 private:
  void count(ssize_t sent, uint64_t& counted);
  Moved fill(int source, size_t most, size_t& taken);
  Moved look_for_more(int source);
  Moved drain(int target, uint64_t& counted);

  std::string held_;
  size_t held_begin_ = 0;
  RelayPipe pipe_;
  size_t in_pipe_ = 0;
  uint64_t sent_ = 0;
  bool source_ended_ = false;
};

}  // namespace cloche::egress
