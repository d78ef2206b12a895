// The stateless era, 2026-07-28: every request says in params._meta which version it speaks and what its
// client can do, and nothing is concluded from an earlier one. Where the client's user must be asked, the
// result says so, and the client calls again.
#pragma once

#include <string>
#include <string_view>

#include "doors/mcp/requests.hpp"

namespace cloche::mcp::stateless {

inline constexpr std::string_view version = "2026-07-28";
// The key under which an answer to our one question comes back.
inline constexpr std::string_view approval_key = "approval";

// Whether this is a message of that era: it says its version, or has a method that no other has.
bool speaks(const Incoming& incoming);

Reading read_request(const Incoming& incoming);
std::string write_response(const std::string& id, const Response& response);
// That nothing of what a client can listen for ever happens here: the first message of its subscription.
std::string write_acknowledgement(const std::string& id);

}  // namespace cloche::mcp::stateless
