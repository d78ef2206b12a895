#include "model/host_use.hpp"

#include <algorithm>
#include <tuple>

namespace cloche {
namespace {

bool comes_first(const HostUse& a, const HostUse& b) {
  if ((a.more_hosts == 0) != (b.more_hosts == 0)) return a.more_hosts == 0;
  return std::tie(b.bytes_out, b.bytes_in, a.name, a.port) <
         std::tie(a.bytes_out, a.bytes_in, b.name, b.port);
}

}  // namespace

std::vector<HostUse> busiest(std::vector<HostUse> all, size_t most) {
  const auto hosts =
      std::count_if(all.begin(), all.end(), [](const auto& use) { return use.more_hosts == 0; });
  if (static_cast<size_t>(hosts) <= most) return all;
  std::sort(all.begin(), all.end(), comes_first);
  HostUse rest;
  for (size_t i = most; i < all.size(); ++i) {
    rest.more_hosts += std::max<uint64_t>(all[i].more_hosts, 1);
    rest.connections += all[i].connections;
    rest.bytes_out += all[i].bytes_out;
    rest.bytes_in += all[i].bytes_in;
  }
  all.resize(most);
  all.push_back(std::move(rest));
  return all;
}

}  // namespace cloche
