// What the host itself knows of names: /etc/hosts and /etc/resolv.conf. Pure: whoever reads them hands in the
// text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "egress/ip_address.hpp"

namespace cloche::egress {

// What /etc/hosts and /etc/resolv.conf say; whatever is not understood is passed over.
struct KnownHost {
  std::string name;
  IpAddress address;
};
struct ResolverFiles {
  std::vector<KnownHost> hosts = {};
  std::vector<IpAddress> servers = {};
};
std::optional<IpAddress> read_address(std::string_view text);
ResolverFiles read_resolver_files(std::string_view hosts, std::string_view resolver);

}  // namespace cloche::egress
