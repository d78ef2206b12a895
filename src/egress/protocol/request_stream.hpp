// Walks over everything that is sent on one connection for plain HTTP, so that every request on it is judged
// and not only the first: the end of each body is where the next head begins.
#pragma once

#include <cstddef>
#include <string_view>

#include "egress/protocol/http_head.hpp"

namespace cloche {

class RequestStream {
 public:
  // What a caller must be able to hold: a head is passed on whole or not at all.
  static constexpr size_t max_head_bytes = 16 * 1024;

  struct Step {
    size_t forward = 0;             // this many bytes of the front may be passed on
    std::string_view refused = {};  // and then the connection ends; empty: more is welcome
  };

  explicit RequestStream(const Destination& destination) : destination_(destination) {}

  // `held` is what has come and was not passed on. What is not forwarded now is shown again, with more behind
  // it; while nothing has come behind it there is nothing new to say.
  Step feed(std::string_view held);

  uint64_t requests() const { return requests_; }
  // Whether the connection may end here: not within a request.
  bool is_between_requests() const { return at_ == At::head && scanned_ == 0; }

 private:
  enum class At { head, counted_body, chunk_size, chunk_data, chunk_end, last_end };

  // Each takes what it can off the front and says how much; none: it needs more, or `refused_` says why not.
  size_t take(std::string_view held);
  size_t take_head(std::string_view held);
  size_t take_data(std::string_view held, At next);
  size_t take_chunk_size(std::string_view held);
  size_t take_line_end(std::string_view held, At next);
  size_t end_of_head(std::string_view held);
  void begin_body(const RequestHead& head);

  Destination destination_;
  At at_ = At::head;
  size_t scanned_ = 0;     // of a head that is not whole yet
  size_t line_begin_ = 0;  // of the line in it that is being scanned
  uint64_t left_ = 0;      // of a counted body or a chunk
  uint64_t requests_ = 0;
  std::string_view refused_ = {};
};

}  // namespace cloche
