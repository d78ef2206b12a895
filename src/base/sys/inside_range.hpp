// The addresses that stand for names inside a sandbox's network: a range that the internet never uses
// (benchmarking of devices, RFC 2544) and one of local IPv6 addresses. Known to the jail, which routes them
// to loopback, and to the code that hands them out (model/network.hpp).
#pragma once

#include <cstdint>

namespace cloche {

inline constexpr uint32_t inside_range4 = 0xc6120000;  // 198.18.0.0
inline constexpr uint8_t inside_range4_bits = 15;
inline constexpr uint8_t inside_range6[12] = {0xfd, 'c', 'l', 'o', 'c', 'h', 'e'};
inline constexpr uint8_t inside_range6_bits = 96;  // and the last 32 are those of the IPv4 address

}  // namespace cloche
