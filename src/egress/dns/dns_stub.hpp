// The resolver that a sandbox sees: reads what it asks and writes what it is told. It looks nothing up, since
// which names have an address, and which, is the caller's to say; nothing that is asked here goes any
// further.
#pragma once

#include "egress/dns/dns_message.hpp"
#include "policy/hosts/ip_address.hpp"

namespace cloche::dns {

// What goes over UDP is smaller; over TCP a longer one is refused.
inline constexpr size_t max_query_bytes = 1024;

// What to do with a query. Everything but `look_up` is answered without looking at the name.
enum class QueryKind {
  nothing,          // too short for an answer, or an answer itself: silence
  look_up,          // one name, for an address or a service
  malformed,        // FORMERR
  other_operation,  // NOTIMP: anything but a query
  other_record,     // REFUSED: any other type or class. They carry text, and are no way to reach a host
};

struct Query {
  QueryKind asked = QueryKind::nothing;
  uint16_t id = 0;
  uint16_t flags = 0;
  bool has_edns = false;
  WireName name = {};  // as it was written: some clients look for their own capitals in the answer
  uint16_t type = 0;
  uint16_t type_class = 0;
  std::optional<HostName> host = {};  // nothing: no such host can exist
};

Query read_query(Bytes message);

// What a look-up is told.
enum class Reply { address, no_data, no_such_name, refused, server_failure };

// `address` is of the family that was asked for; with another one, or for a service (HTTPS, SVCB), the reply
// is that there is none of this type, which makes clients take the plain address. Queries that are no look-up
// have their own answer, whatever the reply says. Never truncated. Empty: say nothing.
Message write_reply(const Query& query, Reply reply, const IpAddress& address = {});

}  // namespace cloche::dns
