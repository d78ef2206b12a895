// Which addresses a name may stand for. A name is the caller's to declare, but what it resolves to is decided
// by the server that answers for it, so every address is judged before it is dialled, and the judged one is
// what is dialled.
#pragma once

#include <span>
#include <string_view>

#include "policy/hosts/ip_address.hpp"

namespace cloche {

// Why this address is never dialled, as "a private address"; empty: it may be. `own` are the addresses of
// this host's interfaces: public ones lead to what listens here, behind every firewall.
//
// Only the public unicast of both families passes. What a translator of the network makes of a public address
// of IPv6 under a prefix of its own (NAT64 other than 64:ff9b::/96) cannot be seen in it.
std::string_view why_not_dialled(const IpAddress& address, std::span<const IpAddress> own);

// The same for an address in a range that the operator lets its name lead into: private ones pass as well,
// and nothing else does that would not.
std::string_view why_not_in_range(const IpAddress& address);

}  // namespace cloche
