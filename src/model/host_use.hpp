// What a call sent to and got from the hosts that it was allowed to reach, and the short form of a long list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cloche {

struct HostUse {
  std::string name;
  uint16_t port = 0;
  uint64_t connections = 0;
  uint64_t bytes_out = 0;
  uint64_t bytes_in = 0;
  uint64_t more_hosts = 0;  // not zero: no host, but the sum of so many that have no entry of their own
};

// Those that most was sent to, and one closing entry with the sum of the others. A list that is short enough
// stays as it is. Pure.
std::vector<HostUse> busiest(std::vector<HostUse> all, size_t most);

}  // namespace cloche
