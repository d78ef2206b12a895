// The head of one HTTP/1 request: whom it is for, and where it ends. What two servers could read in two ways
// is refused, since the one behind the gate may read it in the other.
#pragma once

#include <cstdint>
#include <string_view>

#include "policy/hosts/host_name.hpp"

namespace cloche {

// Whom a connection is for: by the address that was dialled, never by what is sent over it.
struct Destination {
  HostName name;
  uint16_t port = 80;
};

struct RequestHead {
  enum class Body { none, counted, chunked };

  std::string_view method = {};  // in the text that was read
  Body body = Body::none;
  uint64_t body_bytes = 0;        // of a counted one
  std::string_view refused = {};  // empty: it is a request to the destination
};

// The first line alone, without its end. What cannot become a request is refused as soon as that has come:
// who speaks HTTP/0.9 sends no more, and waits.
std::string_view problem_of_request_line(std::string_view line, const Destination& destination);

// `head` is whole: it ends with the empty line, and holds no control characters but the ends of lines and
// tabs.
RequestHead read_request_head(std::string_view head, const Destination& destination);

}  // namespace cloche
