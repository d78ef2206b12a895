// The era of the handshake, from 2024-11-05 to 2025-11-25: initialize agrees on a version and on what the
// client can do, and that holds for the connection.
#pragma once

#include <string>
#include <string_view>

#include "doors/mcp/requests.hpp"

namespace cloche::mcp::handshake {

inline constexpr std::string_view latest_version = "2025-11-25";
// The one revision in which a line could hold several messages.
inline constexpr std::string_view batch_version = "2025-03-26";
// The first in which a server could ask the client's user something.
inline constexpr std::string_view first_to_elicit = "2025-06-18";

// What is spoken with a client that would like this: the same, or our latest.
std::string_view agreed_version(std::string_view wanted);

struct Agreed {
  std::string version = {};  // empty: there was no handshake yet
  bool elicits = false;
  LogLevel log = LogLevel::warning;  // until the client says otherwise
};

Reading read_request(const Incoming& incoming, const Agreed& agreed);
std::string write_response(const std::string& id, const Response& response);

}  // namespace cloche::mcp::handshake
