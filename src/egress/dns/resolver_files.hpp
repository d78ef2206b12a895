// What the host itself knows of names: /etc/hosts and /etc/resolv.conf, and /proc/net/if_inet6 for the
// interfaces that the addresses of name servers name. Pure: the caller reads them and hands in the text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/hosts/ip_address.hpp"

namespace cloche::egress {

// What /etc/hosts and /etc/resolv.conf say; whatever is not understood is passed over.
struct KnownHost {
  std::string name;
  IpAddress address;
};
struct NameServer {
  IpAddress address;
  uint32_t zone = 0;  // the number of the interface that a link-local address is on

  bool operator==(const NameServer&) const = default;
};
struct ResolverFiles {
  std::vector<KnownHost> hosts = {};
  std::vector<NameServer> servers = {};  // empty: some are named, and none of them can be understood
};
// ADDRESS, or ADDRESS%ZONE where the zone is the name or the number of an interface.
std::optional<NameServer> read_name_server(std::string_view text, std::string_view interfaces);
ResolverFiles read_resolver_files(std::string_view hosts, std::string_view resolver,
                                  std::string_view interfaces);

}  // namespace cloche::egress
